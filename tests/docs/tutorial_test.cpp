// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The program that docs/tutorial.md writes in five steps.

#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct MatVec {  // y = w·x
  static constexpr std::string_view name = "mat_vec";
  static constexpr auto core = rondo::CoreType::cube;
  static void run(rondo::In<float, 2> w, rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t r = 0; r < y.size(); ++r) {
      y[r] = 0;
      for (std::size_t c = 0; c < x.size(); ++c) y[r] += w(r, c) * x[c];
    }
  }
};
struct Relu {
  static constexpr std::string_view name = "relu";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] > 0 ? x[i] : 0;
  }
};

TEST_CASE("The tutorial's five steps run and give what they should") {
  std::vector<float> weights(64 * 32, 1.0F), hx(32, 1.0F), hy(64);
  for (std::size_t i = 32 * 32; i < weights.size(); ++i) weights[i] = -1.0F;

  // 1
  rondo::TaskGraph graph;
  const auto w = graph.resident<float>("w", {64, 32});  // stays on the device
  const auto x = graph.input<float>("x", {32});
  const auto h = graph.workspace<float>("h", {64});  // between tasks
  const auto y = graph.output<float>("y", {64});
  graph.add<MatVec>(w, x, h);
  graph.add<Relu>(h, y);  // after mat_vec, since it reads what that writes

  auto session = rondo::open<rondo::A2A3Sim>(graph);  // throws rondo::Error, which says what to do

  // 2
  const std::string refused = session.explain(session.run_round(bind(x, hx), bind(y, hy))).c_str();
  CHECK(refused.find("a task reads it, but nothing was uploaded to it yet; call session.upload first") !=
        std::string::npos);
  rondo::Status status = session.upload(w, weights);
  if (status.ok()) status = session.run_round(bind(x, hx), bind(y, hy));
  if (!status.ok()) std::puts(session.explain(status).c_str());
  CHECK(hy[0] == 32);
  CHECK(hy[63] == 0);

  // 3
  const auto binding = session.prebind(bind(x, hx), bind(y, hy));
  const auto before_round = [&](rondo::RoundIndex round) noexcept { hx[0] = static_cast<float>(index(round)); };
  status = session.run_rounds(1000, binding, before_round);
  CHECK(status.ok());
  CHECK(session.rounds() == 1001);
  CHECK(hy[0] == 31 + hx[0]);

  // 4
  auto checked = rondo::open<rondo::A2A3SimOn<rondo::Checked<rondo::Inline>>>(graph);
  REQUIRE(checked.upload(w, weights).ok());
  CHECK(checked.run_round(bind(x, hx), bind(y, hy)).ok());
  auto modelled = rondo::open<rondo::A2A3SimOn<rondo::Model>>(graph);
  REQUIRE(modelled.upload(w, weights).ok());
  CHECK(modelled.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(modelled.platform().engine().prediction().report().size() > 300);

  // 5
  std::vector<std::vector<float>> inputs(10, hx), outputs(10, hy);
  for (std::size_t r = 0; r < 10; ++r) inputs[r][0] = static_cast<float>(r);
  auto overlapping = rondo::open_pipelined<rondo::A5Sim, 3>(graph);
  status = overlapping.upload(w, weights);
  for (std::size_t r = 0; status.ok() && r < 10; ++r) {
    status = overlapping.submit_round(bind(x, inputs[r]), bind(y, outputs[r])).submitted();
  }
  if (status.ok()) status = overlapping.wait_all();
  CHECK(status.ok());
  for (std::size_t r = 0; r < 10; ++r) CHECK(outputs[r][5] == 31 + static_cast<float>(r));
}

}  // namespace
