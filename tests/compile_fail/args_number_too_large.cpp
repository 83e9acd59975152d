// expect: refused_args_format<8, rondo::args::Reason::number_above_2147483647
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

// Would be input 0 in 32 bits.
constexpr auto format = "{ws0}{t}{i4294967296}"_args;

int main() { return static_cast<int>(format.view().size()); }
