// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "folder.hpp"

#include <rondo/observe/replay.hpp>

#include <rondo/args/kernel_args.hpp>
#include <rondo/launch/round_values.hpp>
#include <rondo/observe/dump.hpp>
#include <rondo/platform/host/host.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <complex>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::observe;
using namespace rondo::test;

namespace {

using Outcome = TaskReplay::Outcome;
using Floats = std::vector<float>;
template <class Inner = Inline>
using DumpingSim = A2A3SimOn<Dumping<Inner>>;

/// As Scale, but wrong at one element.
struct WrongScale {
  static constexpr std::string_view name = Scale::name;
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y, float a) noexcept {
    Scale::run(x, y, a);
    y[5] += 1;
  }
};
/// As Scale, but it leaves out one element.
struct ShortScale {
  static constexpr std::string_view name = Scale::name;
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y, float a) noexcept {
    for (std::size_t i = 0; i + 1 < y.size(); ++i) y[i] = a * x[i];
  }
};
/// As Scale, but wrong at each element.
struct HigherScale {
  static constexpr std::string_view name = Scale::name;
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y, float a) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = a * x[i] + 1;
  }
};
/// Called as Scale is, with other parameters.
struct OtherScale {
  static constexpr std::string_view name = Scale::name;
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept { Scale::run(x, y, 1); }
};

/// The index of each element, as bytes.
template <class T>
struct Number {
  static constexpr std::string_view name = to_string(data_type_of<T>);
  static constexpr auto core = CoreType::vector;
  static void run(Out<T> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i)
      std::memset(static_cast<void*>(y.data() + i), static_cast<int>(i), sizeof(T));
  }
};

/// y = x + a scalar of the host + the step + the start of the random numbers.
struct AddValues {
  static constexpr std::string_view name = "add_values";
  static constexpr auto core = CoreType::vector;
  static void run(In<std::uint32_t> x, launch::HostScalar<std::uint16_t> scalar, launch::Step step,
                  launch::RandomStart random, Out<std::uint32_t> y) noexcept {
    const auto sum = static_cast<std::uint32_t>(scalar.value + step.number + random.offset + random.seed);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + sum;
  }
};
/// The place of a tensor.
struct Place {
  const std::uint32_t* begin;
  static Place make(std::uint64_t address, const Shape&) noexcept {
    return {reinterpret_cast<const std::uint32_t*>(address)};  // NOLINT: simulated memory
  }
};
/// y = x, which is found by a descriptor.
struct CopyByPlace {
  static constexpr std::string_view name = "copy_by_place";
  static constexpr auto core = CoreType::vector;
  static void run(launch::Descriptor<Place> x, In<std::uint32_t>, Out<std::uint32_t> y) noexcept {
    std::memcpy(y.data(), x.begin, y.size() * sizeof(std::uint32_t));
  }
};
struct WithValues : DefaultPolicies {
  using Values = launch::RoundValues<>;
};

/// t = 2x; u = 3t; y += u. The arena gives x's memory away as soon as t is there.
struct Chain {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {2, 8});
  Workspace<float> t = graph.workspace<float>("t", {2, 8});
  Workspace<float> u = graph.workspace<float>("u", {2, 8});
  InputOutput<float> y = graph.inout<float>("y", {2, 8});
  Floats hx, hy;

  Chain() {
    graph.add<Scale>(x, t, 2.0F);
    graph.add<Scale>(t, u, 3.0F);
    graph.add<Accumulate>(u, y);
    for (int i = 0; i < 16; ++i) {
      hx.push_back(static_cast<float>(i) - 7);
      hy.push_back(static_cast<float>(100 * i));
    }
  }
  /// What y is to be after a round.
  [[nodiscard]] Floats expected() const {
    Floats result = hy;
    for (std::size_t i = 0; i < 16; ++i) result[i] += 6 * hx[i];
    return result;
  }
};

Floats floats_of(const DumpedRound& dump, const DumpedContents& contents) {
  const auto bytes = observe::detail::contents_of(dump, contents);
  Floats floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

Floats times(Floats x, float a) {
  for (float& each : x) each *= a;
  return x;
}

}  // namespace

TEST_CASE_TEMPLATE("A dumped round gives what other rounds give, and writes what each task read and wrote", Inner,
                   Inline, Pool) {
  const Folder folder;
  Chain c;
  auto session = open<DumpingSim<Inner>>(c.graph);
  auto& engine = session.platform().engine();
  for (int round = 0; round < 3; ++round) {
    if (round == 1) engine.dump_next(folder.path());
    const Floats expected = c.expected();
    const Floats before = c.hy;
    REQUIRE(session.run_round(bind(c.x, c.hx), bind(c.y, c.hy)));
    CHECK(c.hy == expected);
    if (round != 1) continue;

    const DumpedRound dump = read_manifest(folder.path());
    CHECK(dump.round == 1);
    REQUIRE(dump.tensors.size() == 4);
    CHECK(dump.tensors[3].name == "y");
    CHECK(dump.tensors[3].direction == Direction::inout);
    CHECK(dump.tensors[3].shape == std::vector<std::int64_t>{2, 8});
    REQUIRE(dump.tasks.size() == 3);
    CHECK(dump.tasks[0].kernel == "scale");
    REQUIRE(dump.tasks[2].read.size() == 2);
    REQUIRE(dump.tasks[2].written.size() == 1);
    CHECK(floats_of(dump, dump.tasks[0].read[0]) == c.hx);
    CHECK(floats_of(dump, dump.tasks[0].written[0]) == times(c.hx, 2));
    CHECK(dump.tasks[1].read[0].file == dump.tasks[0].written[0].file);  // nothing is written twice
    CHECK(floats_of(dump, dump.tasks[1].written[0]) == times(c.hx, 6));
    CHECK(floats_of(dump, dump.tasks[2].read[1]) == before);
    CHECK(floats_of(dump, dump.tasks[2].written[0]) == expected);
  }
  CHECK(engine.dumps() == 1);
  CHECK(engine.dump_failure().empty());
}

TEST_CASE_TEMPLATE("What was dumped replays to the same on every simulated platform", P, A2A3Sim, A5Sim,
                   A5SimOn<Checked<Pool>>) {
  const Folder folder;
  Chain c;
  auto session = open<DumpingSim<>>(c.graph);
  session.platform().engine().dump_next(folder.path());
  REQUIRE(session.run_round(bind(c.x, c.hx), bind(c.y, c.hy)));
  for (const bool chain : {false, true}) {
    const ReplayReport report = replay<P>(folder.path(), kernels<Scale, Accumulate>(), {{0, 0}, chain, {}});
    CHECK(report.ok());
    CHECK(report.text() == "3 of 3 tasks give what the dump has\n");
  }
}

TEST_CASE("A kernel that went wrong is found by itself, and in a chain spoils those after it") {
  const Folder folder;
  Chain c;
  auto session = open<DumpingSim<>>(c.graph);
  session.platform().engine().dump_next(folder.path());
  REQUIRE(session.run_round(bind(c.x, c.hx), bind(c.y, c.hy)));

  const ReplayReport alone = replay<A2A3Sim>(folder.path(), kernels<WrongScale, Accumulate>());
  CHECK_FALSE(alone.ok());
  REQUIRE(alone.tasks.size() == 3);
  CHECK(alone.tasks[0].outcome == Outcome::different);
  CHECK(alone.tasks[2].outcome == Outcome::same);
  REQUIRE(alone.tasks[0].differences.size() == 1);
  CHECK(alone.tasks[0].differences[0].text() ==
        "t[0, 5] (element 5) is -3, the dump has -4; 1 of 16 elements differ, by 1 at most");
  CHECK(says(alone.text(), "task 1 (scale): u[0, 5] (element 5) is -11, the dump has -12",
             "1 of 3 tasks give what the dump has"));

  const ReplayReport chain = replay<A2A3Sim>(folder.path(), kernels<WrongScale, Accumulate>(), {{}, true, {}});
  REQUIRE(chain.tasks[2].differences.size() == 1);
  CHECK(chain.tasks[1].differences[0].got == "-8");  // 3 (-4 + 1) + 1
  CHECK(chain.tasks[2].differences[0].largest == 4);

  const ReplayReport one = replay<A2A3Sim>(folder.path(), kernels<WrongScale, Accumulate>(), {{}, false, {TaskId{2}}});
  CHECK(one.ok());
  CHECK(one.tasks.size() == 1);
  CHECK(replay<A2A3Sim>(folder.path(), kernels<WrongScale, Accumulate>(), {{0.5, 0}, false, {}}).ok());

  const ReplayReport shorter = replay<A2A3Sim>(folder.path(), kernels<ShortScale, Accumulate>());
  REQUIRE(shorter.tasks[0].differences.size() == 1);
  CHECK(shorter.tasks[0].differences[0].index == 15);
  CHECK(shorter.tasks[0].differences[0].got.ends_with("nan"));
}

TEST_CASE("Tensors of each type are dumped, read and replayed") {
  [&]<class... T>(std::tuple<T...>*) {
    static_assert(sizeof...(T) == data_type_count);
    TaskGraph graph;
    (graph.add<Number<T>>(graph.workspace<T>(to_string(data_type_of<T>), {2})), ...);
    const Folder folder;
    auto session = open<HostOn<Dumping<Inline>>>(graph);
    session.platform().engine().dump_next(folder.path());
    REQUIRE(session.run_round());
    CHECK(session.platform().engine().dump_failure().empty());
    const ReplayReport report = replay<rondo::Host>(folder.path(), kernels<Number<T>...>());
    CAPTURE(report.text());
    REQUIRE(report.tasks.size() == data_type_count);
    for (const TaskReplay& task : report.tasks) CHECK(task.outcome == Outcome::same);
    const DumpedRound dump = read_manifest(folder.path());
    const auto check = [&](std::size_t t, DataType type) {
      CHECK(dump.tensors[t].type == type);
      std::vector<std::byte> expected(size_of(type), std::byte{0});
      expected.resize(2 * size_of(type), std::byte{1});
      CHECK(observe::detail::contents_of(dump, dump.tasks[t].written.at(0)) == expected);
    };
    std::size_t t = 0;
    (check(t++, data_type_of<T>), ...);
  }(static_cast<std::tuple<float, Float16, BFloat16, double, std::complex<float>, std::complex<double>, bool,
                           std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                           std::int64_t, std::uint64_t, Fp8E4M3Fn, Fp8E8M0, Fp4E2M1x2>*>(nullptr));
}

TEST_CASE("Values that the session wrote are dumped as bytes and replayed; a task with a descriptor is refused") {
  const Folder folder;
  TaskGraph graph;
  const auto x = graph.input<std::uint32_t>("x", {4});
  const auto y = graph.output<std::uint32_t>("y", {4});
  const auto z = graph.output<std::uint32_t>("z", {4});
  const auto scalar = launch::scalar(graph, "scalar", std::uint16_t{500});
  const auto step = launch::step(graph, "step", 7);
  graph.add<AddValues>(x, scalar, step, launch::random(graph, "random", 1000, 64), y);
  graph.add<CopyByPlace>(launch::descriptor<Place>(graph, "place", x), x, z);
  auto session = open<DumpingSim<>, WithValues>(graph);
  std::vector<std::uint32_t> hx{1, 2, 3, 4}, hy(4), hz(4);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy), bind(z, hz)));
  REQUIRE(session.values().set(scalar, 300));
  session.platform().engine().dump_next(folder.path());
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy), bind(z, hz)));
  CHECK(session.platform().engine().dump_failure().empty());
  CHECK(hz == hx);

  const DumpedRound dump = read_manifest(folder.path());
  REQUIRE(dump.tasks.size() == 2);
  for (const DumpedTask& task : dump.tasks) {
    for (const DumpedContents& c : task.read) {  // the headers of all files are valid
      CHECK(read_npy(folder / c.file, dump.tensors[c.tensor].type).shape == dump.tensors[c.tensor].shape);
    }
  }
  CHECK(read_npy(folder / "tensor3_scalar.0.npy", DataType::uint8).bytes ==
        std::vector<std::byte>{std::byte{300 % 256}, std::byte{300 / 256}});
  CHECK(read_npy(folder / "tensor4_step.0.npy", DataType::uint8).shape == std::vector<std::int64_t>{8});
  CHECK(read_npy(folder / "tensor5_random.0.npy", DataType::uint8).shape == std::vector<std::int64_t>{16});

  const ReplayReport report = replay<A5Sim>(folder.path(), kernels<AddValues, CopyByPlace>());
  CHECK(report.tasks[0].outcome == Outcome::same);
  CHECK(report.tasks[1].outcome == Outcome::failed);
  CHECK(report.tasks[1].text ==
        "the task cannot be replayed, since its value 'place' is a descriptor, whose address was valid in the dumped "
        "round only");
}

TEST_CASE("A workspace that only a view shows, that is kept, or that a task outside the dump reads, is compared") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto written = graph.workspace<float>("written", {16});
  std::vector<float> hx(16, 5.0F), hy(16), hz(8);
  const Folder folder;
  // Runs and replays one round; `bindings` are those of the outputs. The first task is wrong in the replay.
  const auto outcome = [&](std::vector<TaskId> tasks, const auto&... bindings) {
    auto session = open<DumpingSim<>>(graph);
    session.platform().engine().dump_next(folder.path(), std::move(tasks));
    REQUIRE(session.run_round(bind(x, hx), bindings...));
    CHECK(session.platform().engine().dump_failure().empty());
    const ReplayReport report = replay<A2A3Sim>(folder.path(), kernels<WrongScale, Accumulate>());
    REQUIRE_FALSE(report.tasks.empty());
    return report.tasks[0].outcome;
  };
  SUBCASE("an output is a view of it") {
    const auto y = graph.output<float>("y", {8});
    graph.add<Scale>(x, written, 2.0F);
    graph.make_view(y, written, 0);
    CHECK(outcome({}, bind(y, hz)) == Outcome::different);
    CHECK(hz[0] == 10);
  }
  SUBCASE("a task reads a view of it") {
    const auto view = graph.workspace<float>("view", {8});
    const auto y = graph.inout<float>("y", {8});
    graph.add<Scale>(x, written, 2.0F);
    graph.make_view(view, written, 0);
    graph.add<Accumulate>(view, y);
    CHECK(outcome({}, bind(y, hz)) == Outcome::different);
  }
  SUBCASE("it is kept") {
    graph.keep(written);
    graph.add<Scale>(x, written, 2.0F);
    CHECK(outcome({}) == Outcome::different);
  }
  SUBCASE("a task that is not dumped reads it") {
    const auto y = graph.inout<float>("y", {16});
    const TaskId first = graph.add<Scale>(x, written, 2.0F);
    graph.add<Accumulate>(written, y);
    CHECK(outcome({first}, bind(y, hy)) == Outcome::different);
  }
  SUBCASE("a descriptor describes it") {
    (void)launch::descriptor<Place>(graph, "place", written);
    graph.add<Scale>(x, written, 2.0F);
    auto session = open<DumpingSim<>, WithValues>(graph);
    session.platform().engine().dump_next(folder.path());
    REQUIRE(session.run_round(bind(x, hx)));
    CHECK_FALSE(replay<A2A3Sim>(folder.path(), kernels<WrongScale>()).ok());
  }
  SUBCASE("and others are not") {
    graph.add<Scale>(x, written, 2.0F);
    CHECK(outcome({}) == Outcome::same);
  }
}

TEST_CASE("In a chain, tasks read by views and aliases what replayed tasks wrote") {
  const Folder folder;
  TaskGraph graph;
  Floats hx(32), hy(32), low(16);
  for (std::size_t i = 0; i < 32; ++i) hx[i] = static_cast<float>(i) + 1;
  const auto x = graph.input<float>("x", {32});
  const auto replayed = [&](std::vector<TaskId> dumped, std::vector<TaskId> tasks, const auto&... outputs) {
    auto session = open<DumpingSim<>>(graph);
    session.platform().engine().dump_next(folder.path(), std::move(dumped));
    REQUIRE(session.run_round(bind(x, hx), outputs...));
    CHECK(session.platform().engine().dump_failure().empty());
    const ReplayOptions options{{}, true, std::move(tasks)};
    ReplayReport report = replay<A5Sim>(folder.path(), kernels<HigherScale, Accumulate>(), options);
    CAPTURE(report.text());
    REQUIRE_FALSE(report.tasks.empty());
    REQUIRE(report.tasks.back().differences.size() == 1);
    return report.tasks.back().differences[0];
  };
  SUBCASE("a view of what was written") {
    const auto all = graph.workspace<float>("all", {32});
    const auto view = graph.workspace<float>("view", {16});
    const auto y = graph.output<float>("y", {16});
    graph.add<Scale>(x, all, 2.0F);
    graph.make_view(view, all, 16);
    graph.add<Scale>(view, y, 3.0F);
    const Difference found = replayed({}, {}, bind(y, low));
    CHECK(found.wrong == 16);
    CHECK(found.largest == 4);  // 3 * 1 + 1
  }
  SUBCASE("an input that an output reuses") {
    const auto doubled = graph.output<float>("doubled", {32});
    const auto y = graph.output<float>("y", {32});
    graph.alias(doubled, x);
    graph.add<Scale>(x, doubled, 2.0F);
    graph.add<Scale>(x, y, 3.0F);
    CHECK(replayed({}, {}, bind(doubled, hx), bind(y, hy)).largest == 4);
  }
  SUBCASE("but what a task wrote that was not replayed comes from the dump") {
    const auto all = graph.workspace<float>("all", {32});
    const auto y = graph.output<float>("y", {32});
    const TaskId first = graph.add<Scale>(x, all, 2.0F);
    graph.add<Accumulate>(x, all);
    const TaskId last = graph.add<Scale>(all, y, 3.0F);
    SUBCASE("since it was not asked for") {
      hx[2] = 0;  // the task does not change this element
      CHECK(replayed({}, {first, last}, bind(y, hy)).largest == 1);
    }
    SUBCASE("since it is not in the dump") { CHECK(replayed({first, last}, {}, bind(y, hy)).largest == 1); }
    CHECK(hy[1] == 18);  // 3 * (2 * 2 + 2)
  }
}

TEST_CASE("Dumps that do not say which tensors share memory are replayed as if none did") {
  const Folder folder;
  Chain c;
  auto session = open<DumpingSim<>>(c.graph);
  session.platform().engine().dump_next(folder.path());
  REQUIRE(session.run_round(bind(c.x, c.hx), bind(c.y, c.hy)));
  std::ifstream in(folder / "manifest.json");
  auto manifest = nlohmann::json::parse(in);
  for (auto& tensor : manifest.at("tensors")) {
    for (const char* key : {"memory", "offset", "descriptor", "needed"}) CHECK(tensor.erase(key) == 1);
  }
  std::ofstream{folder / "manifest.json"} << manifest;
  CHECK(replay<A2A3Sim>(folder.path(), kernels<Scale, Accumulate>(), {{}, true, {}}).ok());
  const ReplayReport chain = replay<A2A3Sim>(folder.path(), kernels<WrongScale, Accumulate>(), {{}, true, {}});
  REQUIRE(chain.tasks[2].differences.size() == 1);
  CHECK(chain.tasks[2].differences[0].largest == 4);

  const auto refusal = [&](std::uint32_t memory, std::uint64_t offset) {
    manifest["tensors"][1]["memory"] = memory;
    manifest["tensors"][1]["offset"] = offset;
    std::ofstream{folder / "manifest.json"} << manifest;
    return raised([&] { (void)read_manifest(folder.path()); }).text;
  };
  CHECK(refusal(0, 0) == "");
  CHECK(says(refusal(4, 0), "manifest.json", "lies in the memory of tensor 4; there are 4"));
  CHECK(says(refusal(0, 1), "tensor 't' lies outside of its memory, that of 'x'"));
  CHECK(says(refusal(0, ~std::uint64_t{0}), "tensor 't' lies outside of its memory, that of 'x'"));
}

TEST_CASE("A replay that cannot be says why") {
  const Folder folder;
  Chain c;
  auto session = open<DumpingSim<>>(c.graph);
  session.platform().engine().dump_next(folder.path());
  REQUIRE(session.run_round(bind(c.x, c.hx), bind(c.y, c.hy)));

  CHECK(says(replay<A2A3Sim>(folder.path(), kernels<Scale>()).tasks[2].text, "no kernel called 'accumulate'"));
  const ReplayReport other = replay<A2A3Sim>(folder.path(), kernels<OtherScale, Accumulate>());
  CHECK(other.tasks[0].outcome == Outcome::failed);
  CHECK(says(other.text(), "task 0 (scale): the kernel takes 32 bytes", "the dump has 40"));
  CHECK(says(raised([&] { (void)kernels<Scale, WrongScale>(); }).text, "two kernels called 'scale'"));
  CHECK(says(raised([&] { (void)replay<A2A3Sim>(folder.path(), kernels<Scale>(), {{}, false, {TaskId{7}}}); }).text,
             "no task 7"));
  CHECK(
      says(raised([&] { (void)replay<A2A3Sim>(folder / "nowhere", kernels<Scale>()); }).text, "the folder is no dump"));

  const auto replayed = [&](std::string_view part, std::string_view instead) {
    const std::string path = folder / "manifest.json";
    std::ifstream in(path);
    const std::string whole{std::istreambuf_iterator<char>{in}, {}};
    std::string changed = whole;
    const std::size_t at = changed.find(part);
    REQUIRE(at != std::string::npos);
    std::ofstream{path} << changed.replace(at, part.size(), instead);
    std::string told;
    const Raised r = raised([&] { told = replay<A2A3Sim>(folder.path(), kernels<Scale, Accumulate>()).text(); });
    std::ofstream{path} << whole;
    return r.text + told;
  };
  CHECK(says(replayed("\"task0_args.npy\"", "\"../task0_args.npy\""),
             "'../task0_args.npy' is no file of the dump's folder"));
  CHECK(says(replayed("\"offset\": 32", "\"offset\": 99"), "a slot lies outside of its argument block"));

  {
    // A tensor for which there is no memory: the tasks that do not use it are replayed.
    const std::string path = folder / "manifest.json";
    std::ifstream in(path);
    const auto whole = nlohmann::json::parse(in);
    auto changed = whole;
    REQUIRE(changed["tensors"][1]["name"] == "t");
    changed["tensors"][1]["shape"] = {std::int64_t{1} << 61};
    std::ofstream{path} << changed;
    for (const bool chain : {false, true}) {
      ReplayReport short_of_memory;
      CHECK_NOTHROW(short_of_memory =
                        replay<A2A3Sim>(folder.path(), kernels<Scale, Accumulate>(), {.chain = chain, .tasks = {}}));
      REQUIRE(short_of_memory.tasks.size() == 3);
      CHECK(short_of_memory.tasks[0].outcome == Outcome::failed);
      CHECK(!short_of_memory.tasks[0].text.empty());
      CHECK(short_of_memory.tasks[2].outcome == Outcome::same);
    }
    std::ofstream{path} << whole;
  }

  std::filesystem::remove(folder / read_manifest(folder.path()).tasks[0].args);
  const ReplayReport without_args = replay<A2A3Sim>(folder.path(), kernels<Scale, Accumulate>());
  CHECK(without_args.tasks[0].outcome == Outcome::failed);
  CHECK(says(without_args.text(), "task0_args.npy: the tensor cannot be read", "2 of 3"));
  std::ofstream{folder / "manifest.json"} << R"({"format": "rondo-dump", "version": 1, "round": 0, "tensors": [],
    "tasks": [{"id": 0, "kernel": "scale", "core": "tensor"}]})";
  CHECK(says(raised([&] { (void)read_manifest(folder.path()); }).text, "manifest.json", "'tensor' is unknown"));
  const auto refused = [&](const char* manifest) {
    std::ofstream{folder / "manifest.json"} << manifest;
    const Raised r = raised([&] { (void)read_manifest(folder.path()); });
    CHECK(r.code == Errc::invalid_argument);
    return r.text;
  };
  CHECK(says(refused(R"({"format": "rondo-dump", "version": 99})"), "manifest.json", "no rondo-dump of version 1"));
  CHECK(says(refused(R"({"format": "rondo-dump", "version": 1})"), "manifest.json", "round"));
  CHECK(says(refused(R"({"format": "rondo-dump", "version": 1, "round": 0, "tensors": [], "tasks": [{"id": 0,
    "kernel": "scale", "core": "vector", "blocks": 1, "block_bytes": 12}]})"),
             "manifest.json", "the size of an argument block is no multiple of 8"));
}
