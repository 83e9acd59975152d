// expect: refused_args_format<10, rondo::args::Reason::number_or_star_missing
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

// The Graph Engine takes this for workspace 0.
constexpr auto format = "{i0*}{o0*}{wsx}{t}"_args;

int main() { return static_cast<int>(format.view().size()); }
