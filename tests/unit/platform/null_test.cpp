// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>

#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

using namespace rondo;
using namespace rondo::test;

TEST_CASE("The null platform copies nothing and runs nothing, and every call succeeds") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  graph.add<Fragile>(x, y);
  auto session = open<NullPlatform>(graph);
  const std::vector<float> hx{-1, -1};  // the kernel would throw
  std::vector<float> hy{7, 8};
  CHECK(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy == std::vector<float>{7, 8});
  CHECK(session.rounds() == 1);
  CHECK(session.close().ok());
}

TEST_CASE("Bindings are checked on the null platform as on any other") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  graph.add<Scale>(x, y, 1.0F);
  auto session = open<NullPlatform>(graph);
  const std::vector<float> hx(3);
  std::vector<float> hy(2);
  CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::wrong_size);
  CHECK(session.run_round(bind(y, hy)).code() == Errc::unbound_tensor);
}

TEST_CASE("The null platform's addresses are aligned and not null, and it holds no state") {
  const NullPlatform platform{{}};
  const DevicePtr<std::byte> block = platform.allocate(Bytes{1 << 20}, Bytes{1024});
  CHECK(static_cast<bool>(block));
  CHECK(block.address() % 1024 == 0);
  CHECK(std::is_empty_v<NullPlatform>);
}
