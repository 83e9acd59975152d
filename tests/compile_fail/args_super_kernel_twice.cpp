// expect: refused_args_format<0, rondo::args::Reason::super_kernel_inside_super_kernel
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

// Sub-nodes have no sub-nodes.
constexpr auto format = "{skn1skn2t}"_args;

int main() { return static_cast<int>(format.view().size()); }
