// expect: refused_args_format<0, rondo::args::Reason::unknown_hidden_input_family
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

// No function delivers such inputs.
constexpr auto format = "{hi.unsupported}"_args;

int main() { return static_cast<int>(format.view().size()); }
