// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/pipelined_session.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

using namespace rondo;

namespace {

struct Accumulate {
  static constexpr std::string_view name = "accumulate";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> sum) noexcept {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += x[i];
  }
};
/// Relies on `zeros`, and leaves it zero.
struct AddZeros {
  static constexpr std::string_view name = "add_zeros";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> zeros, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = x[i] + zeros[i];
      zeros[i] = 0;
    }
  }
};

}  // namespace

TEST_CASE("An output that is a view of a resident shows each round's own contents in every slot") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto sum = graph.resident<float>("sum", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<Accumulate>(x, sum);
  graph.make_view(y, sum);
  auto session = open_pipelined<A2A3Sim, 3>(graph);
  const std::vector<float> hx(8, 1.0F), zeros(8);
  REQUIRE(session.upload(sum, zeros).ok());
  std::vector<std::vector<float>> outputs(7, std::vector<float>(8));
  for (auto& hy : outputs) REQUIRE(session.submit_round(bind(x, hx), bind(y, hy)).submitted().ok());
  REQUIRE(session.wait_all().ok());
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    CHECK(outputs[r] == std::vector<float>(8, static_cast<float>(r + 1)));
  }
}

TEST_CASE("Workspace that is zeroed once is zero in every slot of a moved arena, also where an output shows it") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto zeros = graph.workspace<float>("zeros", {8});
  const auto y = graph.output<float>("y", {8});
  const auto shown = graph.output<float>("shown", {8});
  graph.zero(zeros, Zeroed::once);
  graph.add<AddZeros>(x, zeros, y);
  graph.make_view(shown, zeros);
  auto session = open_pipelined<A2A3Sim, 3>(graph);
  const Bytes size = session.arena_bytes();
  const auto memory = session.platform().allocate(size, Bytes{1024});
  const std::vector<float> sevens(size.value / sizeof(float), 7.0F);
  REQUIRE(session.platform().copy_in(memory, sevens.data(), size).ok());
  REQUIRE(session.move_arena(DeviceSpan<std::byte>{memory, size.value}).ok());
  const std::vector<float> hx(8, 1.0F);
  std::vector<float> hshown(8, 1.0F);
  std::vector<std::vector<float>> outputs(7, std::vector<float>(8));
  for (auto& hy : outputs) {
    REQUIRE(session.submit_round(bind(x, hx), bind(y, hy), bind(shown, hshown)).submitted().ok());
  }
  REQUIRE(session.wait_all().ok());
  for (const auto& hy : outputs) CHECK(hy == hx);
  CHECK(hshown == std::vector<float>(8));
  CHECK(session.close().ok());
  CHECK(session.platform().release(memory).ok());
}
