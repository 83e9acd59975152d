// expect: refused_args_format<5, rondo::args::Reason::leading_zero
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

// Each number has one text.
constexpr auto format = "{i0*}{i00}"_args;

int main() { return static_cast<int>(format.view().size()); }
