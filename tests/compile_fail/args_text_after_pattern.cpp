// expect: refused_args_format<5, rondo::args::Reason::unexpected_text_after_pattern
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

// The Graph Engine takes this for a tiling pointer.
constexpr auto format = "{i0*}{tfoo}"_args;

int main() { return static_cast<int>(format.view().size()); }
