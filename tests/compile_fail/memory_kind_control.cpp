// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/host/host.hpp>
#include <rondo/rondo.hpp>

struct Copy {
  static constexpr std::string_view name = "copy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};

void allocate() {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<Copy>(x, y);
  auto session = rondo::open<rondo::Host>(graph);
  auto array = session.allocate<rondo::MemoryKind::mapped_host>(x);
}
