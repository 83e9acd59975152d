// expect: refused_args_format<3, rondo::args::Reason::unclosed_brace
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

// The last pattern has no end.
constexpr auto format = "{t}{i0"_args;

int main() { return static_cast<int>(format.view().size()); }
