// expect: refused_args_format<11, rondo::args::Reason::no_such_input
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/layout.hpp>
#include <rondo/args/literal.hpp>

using namespace rondo::literals;

constexpr rondo::args::Parameter inputs[] = {{}};
constexpr rondo::args::Signature signature{inputs};

// The format is right in itself, but the kernel has one input only.
constexpr auto& layout = rondo::args::static_layout<"{ffts_addr}{i7}"_args, signature>;

int main() { return static_cast<int>(layout.bytes); }
