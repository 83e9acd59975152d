// expect: refused_args_format<0, rondo::args::Reason::unexpected_text_after_pattern
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

// The Graph Engine takes this for 12.
constexpr auto format = "{#12abc}"_args;

int main() { return static_cast<int>(format.view().size()); }
