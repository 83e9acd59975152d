// expect: refused_args_format<4
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/rondo.hpp>

struct Copy {
  static constexpr std::string_view name = "copy";
  static constexpr auto core = rondo::CoreType::vector;
  static constexpr auto args = rondo::operator""_args < "{i0}{i1}{o0}">();
  static void run(rondo::In<float>, rondo::Out<float>) {}
};

void add(rondo::TaskGraph& graph, rondo::Input<float> x, rondo::Output<float> y) { graph.add<Copy>(x, y); }
