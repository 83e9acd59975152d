// expect: a kernel and its Wide run with the same threads, shared_bytes, in_place and zeros; state them in both
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/task_graph.hpp>

using namespace rondo;

struct CopyMany {
  static constexpr std::string_view name = "copy_many";
  static constexpr auto core = CoreType::vector;
  static constexpr std::uint32_t threads = 1024;
  static void run(In<float> x, Out<float> y);
};
struct Copy {
  static constexpr std::string_view name = "copy";
  static constexpr auto core = CoreType::vector;
  static constexpr std::uint32_t threads = 128;
  using Wide = CopyMany;
  static void run(In<float> x, Out<float> y);
};

void use(TaskGraph& graph, Input<float> x, Output<float> y) { graph.add<Copy>(x, y); }
