// expect: a kernel and its Wide are handed the same arguments; declare the same args format in both
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/kernel_args.hpp>
#include <rondo/graph/task_graph.hpp>

using namespace rondo;

struct CopyMany {
  static constexpr std::string_view name = "copy_many";
  static constexpr auto core = CoreType::vector;
  static constexpr auto args = "{o0*}{i0*}"_args;
  static void run(In<float> x, Out<float> y);
};
struct Copy {
  static constexpr std::string_view name = "copy";
  static constexpr auto core = CoreType::vector;
  static constexpr auto args = "{i0*}{o0*}"_args;
  using Wide = CopyMany;
  static void run(In<float> x, Out<float> y);
};

void use(TaskGraph& graph, Input<float> x, Output<float> y) { graph.add<Copy>(x, y); }
