// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "folder.hpp"

#include <rondo/observe/dump.hpp>

#include <rondo/args/kernel_args.hpp>
#include <rondo/graph/static_graph.hpp>
#include <rondo/observe/replay.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/open_static.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::observe;
using namespace rondo::test;

namespace {

using Outcome = TaskReplay::Outcome;
using Floats = std::vector<float>;
template <class Inner = Inline>
using DumpingSim = A2A3SimOn<Dumping<Inner>>;

/// Row b of y = w x[b] + the bias, each row a block; t is left as it comes.
struct Rows {
  static constexpr std::string_view name = "rows";
  static constexpr auto core = CoreType::cube;
  static void run(Block b, In<float, 2> x, In<std::int32_t> bias, InOut<float> w, Scratch<float> t, Out<float, 2> y,
                  float a, bool twice) noexcept {
    static float runs = 0;
    t[b.index] = ++runs;  // what a scratch holds is nobody's business
    for (std::size_t i = 0; i < y.extent(1); ++i) {
      y(b.index, i) = a * x(b.index, i) * (twice ? 2.0F : 1.0F) + static_cast<float>(bias[0]);
    }
    w[b.index] += 1;
  }
};

/// y = 5 x, with arguments in a layout of its own: the address of a description of x, which stands in the same block.
struct Formatted {
  static constexpr std::string_view name = "formatted";
  static constexpr auto core = CoreType::vector;
  static constexpr auto args = "{i_desc0}{o0*}"_args;
  static void run(In<float, 2> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 5 * x(i / x.extent(1), i % x.extent(1));
  }
};

struct AllSorts {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {4, 3});
  HostInput<std::int32_t> bias = graph.host_input<std::int32_t>("bias", {1});
  Resident<float> w = graph.resident<float>("w", {4});
  Workspace<float> t = graph.workspace<float>("t", {4});
  Output<float> y = graph.output<float>("a/strange name", {4, 3});
  TaskId rows = graph.add<Rows>(Blocks{4}, x, bias, w, t, y, 3.0F, true);
  Floats hx, hy = Floats(12);

  AllSorts() {
    for (int i = 0; i < 12; ++i) hx.push_back(static_cast<float>(i));
  }
};

Floats floats_of(const DumpedRound& dump, const DumpedContents& contents) {
  const auto bytes = observe::detail::contents_of(dump, contents);
  Floats floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

bool is_dump(const std::string& folder) { return std::filesystem::exists(folder + "/manifest.json"); }

}  // namespace

TEST_CASE("Blocks, host inputs, residents, scratch and scalars that changed are dumped and replayed") {
  const Folder folder;
  AllSorts g;
  auto session = open<DumpingSim<>>(g.graph);
  REQUIRE(session.upload(g.w, Floats{1, 2, 3, 4}));
  const std::int32_t bias = 7;
  REQUIRE(session.run_round(bind(g.x, g.hx), bind(g.bias, bias), bind(g.y, g.hy)));
  REQUIRE(session.set_scalar(g.rows, 0, 10.0F));
  session.platform().engine().dump_next(folder.path());
  REQUIRE(session.run_round(bind(g.x, g.hx), bind(g.bias, bias), bind(g.y, g.hy)));
  CHECK(g.hy[11] == 227);

  const DumpedRound dump = read_manifest(folder.path());
  REQUIRE(dump.tasks.size() == 1);
  const DumpedTask& task = dump.tasks[0];
  CHECK(task.blocks == 4);
  CHECK(task.core == CoreType::cube);
  const NpyArray args = read_npy(folder / task.args, DataType::int64);
  CHECK(args.shape == std::vector<std::int64_t>{4, task.block_bytes / 8});
  REQUIRE(task.read.size() == 3);
  REQUIRE(task.written.size() == 3);
  CHECK(observe::detail::contents_of(dump, task.read[1])[0] == std::byte{7});  // from inside the args table
  CHECK(floats_of(dump, task.read[2]) == Floats{2, 3, 4, 5});
  CHECK(floats_of(dump, task.written[0]) == Floats{3, 4, 5, 6});
  CHECK(task.written[2].file == "tensor4_a_strange_name.0.npy");
  CHECK(floats_of(dump, task.written[2]) == g.hy);

  const ReplayReport report = replay<A5SimOn<Pool>>(folder.path(), kernels<Rows>(), {{0, 0}, false, {}});
  CHECK(report.text() == "1 of 1 tasks give what the dump has\n");
}

TEST_CASE("A kernel that declares its args format is replayed") {
  const Folder folder;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2, 3});
  const auto y = graph.output<float>("y", {6});
  graph.add<Formatted>(x, y);
  auto session = open<DumpingSim<>>(graph);
  session.platform().engine().dump_next(folder.path());
  Floats hx{1, 2, 3, 4, 5, 6}, hy(6);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)));
  CHECK(hy[5] == 30);
  const ReplayReport report = replay<A2A3Sim>(folder.path(), kernels<Formatted>());
  CHECK(report.text() == "1 of 1 tasks give what the dump has\n");
}

TEST_CASE("Chosen rounds and chosen tasks are dumped, and no others") {
  const Folder folder;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  const auto z = graph.output<float>("z", {8});
  graph.add<Scale>(x, y, 2.0F);
  const TaskId second = graph.add<Scale>(y, z, 2.0F);
  DumpingSim<Pool>::Options options;
  options.engine.rounds = {0, 2};
  options.engine.folder = folder.path();
  options.engine.tasks = {second};
  auto session = open<DumpingSim<Pool>>(graph, options);
  Floats hx(8), hy(8), hz(8);
  for (int round = 0; round < 4; ++round) {
    hx.assign(8, static_cast<float>(round + 1));
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy), bind(z, hz)));
    CHECK(hz[7] == 4 * hx[7]);
  }
  CHECK(session.platform().engine().dumps() == 2);
  CHECK_FALSE(is_dump(folder / "round1"));
  CHECK_FALSE(is_dump(folder / "round3"));
  CHECK(read_manifest(folder / "round0").tasks.size() == 1);
  const DumpedRound dump = read_manifest(folder / "round2");
  REQUIRE(dump.tasks.size() == 1);
  CHECK(dump.tasks[0].id == index(second));
  CHECK(floats_of(dump, dump.tasks[0].read[0]) == Floats(8, 6));
  CHECK(replay<A2A3Sim>(dump.folder, kernels<Scale>()).ok());
}

TEST_CASE("A kernel that throws ends the dump, which holds what it read; the replay throws again") {
  const Folder folder;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  const auto z = graph.output<float>("z", {4});
  const auto v = graph.output<float>("v", {4});
  graph.add<Scale>(x, y, -1.0F);
  const TaskId fragile = graph.add<Fragile>(y, z);
  graph.add<Scale>(z, v, 1.0F);
  auto session = open<DumpingSim<>>(graph);
  session.platform().engine().dump_next(folder.path());
  Floats hx{1, 2, 3, 4}, hy(4), hz(4), hv(4);
  const Status status = session.run_round(bind(x, hx), bind(y, hy), bind(z, hz), bind(v, hv));
  CHECK(status.code() == Errc::kernel_failed);
  CHECK(session.poisoned());
  CHECK(says(session.explain(status).c_str(), "fragile", "a negative element"));

  const DumpedRound dump = read_manifest(folder.path());
  REQUIRE(dump.tasks.size() == 2);
  CHECK(dump.tasks[0].finished);
  CHECK_FALSE(dump.tasks[1].finished);
  CHECK(dump.tasks[1].id == index(fragile));
  CHECK(floats_of(dump, dump.tasks[1].read[0]) == Floats{-1, -2, -3, -4});
  const ReplayReport report = replay<A2A3Sim>(folder.path(), kernels<Scale, Fragile>());
  CHECK(report.tasks[0].outcome == Outcome::same);
  CHECK(report.tasks[1].outcome == Outcome::failed);
  CHECK(says(report.text(), "task 1 (fragile): ", "a negative element", "1 of 2"));

  KernelTable mended = kernels<Scale>();
  mended.add("fragile", &rondo::detail::kernel_entry<Scale>);  // any that does not throw
  CHECK(replay<A2A3Sim>(folder.path(), mended).tasks[1].outcome == Outcome::unknown);
}

TEST_CASE("A dump that cannot be written leaves the round as it is, and says why") {
  const Folder folder;
  AllSorts g;
  auto session = open<DumpingSim<>>(g.graph);
  auto& engine = session.platform().engine();
  std::ofstream{folder / "file"} << "in the way";
  CHECK(says(raised([&] { engine.dump_next(folder / "file/below"); }).text, "dump_next", "file/below"));

  REQUIRE(session.upload(g.w, Floats(4)));
  const std::int32_t bias = 0;
  engine.dump_next(folder / "dump");
  std::filesystem::create_directory(folder / "dump/task0_args.npy");
  REQUIRE(session.run_round(bind(g.x, g.hx), bind(g.bias, bias), bind(g.y, g.hy)));
  CHECK(g.hy[11] == 66);
  CHECK(engine.dumps() == 0);
  CHECK(says(engine.dump_failure().c_str(), "task0_args.npy", "cannot be written"));
  CHECK_FALSE(is_dump(folder / "dump"));

  std::filesystem::remove(folder / "dump/task0_args.npy");
  engine.dump_next(folder / "dump");
  REQUIRE(session.run_round(bind(g.x, g.hx), bind(g.bias, bias), bind(g.y, g.hy)));
  CHECK(engine.dump_failure().empty());
  CHECK(is_dump(folder / "dump"));

  // An earlier dump's manifest does not pass for that of one that failed.
  std::filesystem::remove(folder / "dump/task0_args.npy");
  std::filesystem::create_directory(folder / "dump/task0_args.npy");
  engine.dump_next(folder / "dump");
  REQUIRE(session.run_round(bind(g.x, g.hx), bind(g.bias, bias), bind(g.y, g.hy)));
  CHECK_FALSE(engine.dump_failure().empty());
  CHECK_FALSE(is_dump(folder / "dump"));
}

TEST_CASE("Rounds that bind device memory are dumped from there") {
  const Folder folder;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<Scale>(x, y, 2.0F);
  auto session = open<DumpingSim<>>(graph);
  alignas(64) float memory[8] = {1, 2, 3, 4, 5, 6, 7, 8};  // simulated device memory is host memory
  Floats hy(8);
  session.platform().engine().dump_next(folder.path());
  const DeviceSpan<float> device{DevicePtr<float>{reinterpret_cast<std::uintptr_t>(memory)}, 8};
  REQUIRE(session.run_round(bind(x, device), bind(y, hy)));
  const DumpedRound dump = read_manifest(folder.path());
  CHECK(floats_of(dump, dump.tasks[0].read[0]) == Floats(memory, memory + 8));
  CHECK(floats_of(dump, dump.tasks[0].written[0]) == hy);
  CHECK(hy[7] == 16);
}

namespace {
constexpr auto build = [] {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto t = graph.workspace<float>("t", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<Scale>(x, t, 2.0F);
  graph.add<Scale>(t, y, 2.0F);
  return graph;
};
constexpr auto& known = static_graph<build>;
}  // namespace

TEST_CASE("Graphs that the compiler knows are dumped, and checked where they are not") {
  const Folder folder;
  auto session = open<DumpingSim<Checked<Inline>>, known>();
  Floats hx(8, 1), hy(8);
  const auto x = known.input<float>("x");
  const auto y = known.output<float>("y");
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)));
  session.platform().engine().dump_next(folder.path());
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)));
  CHECK(hy == Floats(8, 4));
  CHECK(replay<A5Sim>(folder.path(), kernels<Scale>()).ok());
}

namespace {

/// y = x + 1; but it also changes what it only reads, where x begins below 0.
struct Trespasser {
  static constexpr std::string_view name = "trespasser";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 1;
    if (x[0] < 0) const_cast<float&>(x[1]) += 10;  // NOLINT: that is the fault
  }
};
struct AddUp {
  static constexpr std::string_view name = "add_up";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> y, InOut<float> total) noexcept {
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += y[i];
  }
};

}  // namespace

TEST_CASE("A round that a check finds fault with is dumped from its inputs, and its status stays the check's") {
  const Folder folder;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto total = graph.resident<float>("total", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<Trespasser>(x, y);
  graph.add<AddUp>(y, total);
  auto session = open<DumpingSim<Checked<Inline>>>(graph);
  auto& engine = session.platform().engine();
  REQUIRE(session.upload(total, Floats{100, 100, 100, 100}));
  Floats hx{1, 2, 3, 4}, hy(4);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  hx = {-1, 2, 3, 4};
  SUBCASE("once it was asked for, and no more often") {
    CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::check_failed);
    CHECK(engine.dumps() == 0);
    engine.dump_failures(folder / "failed");
    const Status status = session.run_round(bind(x, hx), bind(y, hy));
    CHECK(status.code() == Errc::check_failed);
    CHECK(says(session.explain(status).c_str(), "trespasser"));
    CHECK(engine.dump_failure().empty());
    CHECK(engine.dumps() == 1);
    CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::check_failed);
    CHECK(engine.dumps() == 1);

    const DumpedRound dump = read_manifest(folder / "failed/round2");
    REQUIRE(dump.tasks.size() == 2);
    CHECK(dump.round == 2);
    CHECK(floats_of(dump, dump.tasks[0].read[0]) == hx);
    CHECK(floats_of(dump, dump.tasks[0].written[0]) == Floats{0, 3, 4, 5});
    const ReplayReport report = replay<A2A3Sim>(folder / "failed/round2", kernels<Trespasser, AddUp>());
    CHECK(report.ok());
  }
  SUBCASE("and rounds that are right are not") {
    engine.dump_failures(folder / "failed");
    hx = {5, 6, 7, 8};
    CHECK(session.run_round(bind(x, hx), bind(y, hy)).ok());
    CHECK(hy == Floats{6, 7, 8, 9});
    CHECK(engine.dumps() == 0);
    CHECK_FALSE(is_dump(folder / "failed/round1"));
  }
}
