// expect: refused_args_format<3, rondo::args::Reason::number_missing
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

// The Graph Engine takes this for 2^64-1.
constexpr auto format = "{t}{#-1}"_args;

int main() { return static_cast<int>(format.view().size()); }
