// expect: check_memory_kinds || in call to 'check_memory_kinds
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/host/host.hpp>
#include <rondo/rondo.hpp>
#include <rondo/session/open_static.hpp>

struct Copy {
  static constexpr std::string_view name = "copy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
};

constexpr auto build = [] {
  rondo::TaskGraph g;
  const auto x = g.input<float>("x", {4});
  const auto w = g.workspace<float>("w", {4});
  const auto y = g.output<float>("y", {4});
  g.add<Copy>(x, w);
  g.add<Copy>(w, y);
  g.in_memory(w, rondo::MemoryKind::peer);
  return g;
};

void open_it() { auto session = rondo::open<rondo::Host, rondo::static_graph<build>>(); }
