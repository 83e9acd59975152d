// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/runtime/host_build_graph.hpp>

#include <rondo/binding/ports.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/memory/arena.hpp>
#include <rondo/memory/lay_out.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/update/refresher_impl.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Setup {
  TaskGraph source;
  Input<float> x = source.input<float>("x", {2});
  Output<float> y = source.output<float>("y", {2});
  TaskId task = source.add<Scale>(x, y, 3.0F);
  FrozenGraph graph = freeze(source);
  memory::Layout<FrozenGraph, arch::A2A3> layout{graph};
  A2A3Sim platform{{}};
  memory::Arena<A2A3Sim> arena{platform, layout.arena_bytes(), Bytes{1024}};
  const args::Bases bases = detail::find_bases(graph.view(), layout.offsets(), {arena.base(), arena.base()});
  update::Refresher<A2A3Sim> refresher{platform, graph.view(), bases};
  using Runner = runtime::HostBuildGraph::Runner<A2A3Sim, FrozenGraph>;

  [[nodiscard]] DevicePtr<std::byte> device(TensorKey key) const {
    return arena.base().offset(Bytes{layout.offsets()[index(key.tensor())]});
  }
  std::vector<float> result() {
    std::vector<float> out(2);
    CHECK(platform.copy_out(out.data(), device(y.key), Bytes{8}).ok());
    return out;
  }
};

}  // namespace

TEST_CASE("A runner loads the graph once and replays it at each launch") {
  Setup s;
  Setup::Runner runner{s.platform, s.graph, s.refresher.table(), {}};
  for (const float value : {1.0F, 2.0F, -5.0F}) {
    const float in[] = {value, 10 * value};
    CHECK(s.platform.copy_in(s.device(s.x.key), in, Bytes{8}).ok());
    CHECK(runner.launch().ok());
    CHECK(s.result() == std::vector<float>{3 * value, 30 * value});
  }
  CHECK(runner.unload().ok());
}

TEST_CASE("What the platform throws while loading reaches the caller") {
  Setup s;
  Script script;
  script.load_throws = true;
  ScriptedPlatform platform{{&script}};
  using Runner = runtime::HostBuildGraph::Runner<ScriptedPlatform, FrozenGraph>;
  const Raised r = raised([&] { const Runner runner{platform, s.graph, s.refresher.table(), {}}; });
  CHECK(r.code == Errc::out_of_resources);
}

TEST_CASE("A runner neither copies nor moves: the program points into it") {
  CHECK_FALSE(std::is_copy_constructible_v<Setup::Runner>);
  CHECK_FALSE(std::is_move_constructible_v<Setup::Runner>);
}
