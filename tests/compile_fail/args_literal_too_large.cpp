// expect: refused_args_format<0, rondo::args::Reason::value_above_64_bits
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

// One above the largest value of 64 bits.
constexpr auto format = "{#18446744073709551616}"_args;

int main() { return static_cast<int>(format.view().size()); }
