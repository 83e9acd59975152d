// expect: refused_args_format<3, rondo::args::Reason::unknown_pattern
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

// No such pattern.
constexpr auto format = "{t}{xxx}"_args;

int main() { return static_cast<int>(format.view().size()); }
