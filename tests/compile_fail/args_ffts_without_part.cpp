// expect: refused_args_format<0, rondo::args::Reason::tail_or_non_tail_missing
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

// Which of the two is meant cannot be told.
constexpr auto format = "{t_ffts}"_args;

int main() { return static_cast<int>(format.view().size()); }
