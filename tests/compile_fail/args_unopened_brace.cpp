// expect: refused_args_format<3, rondo::args::Reason::unopened_brace
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

// One brace too many.
constexpr auto format = "{t}}"_args;

int main() { return static_cast<int>(format.view().size()); }
