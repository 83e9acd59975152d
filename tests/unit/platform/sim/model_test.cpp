// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/model.hpp>

#include <random.hpp>
#include <rondo/graph/static_graph.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <rondo/static_graph.hpp>
#include <unit/platform/sim/programs.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// y = x, stating 2 ns per element.
template <CoreType Core>
struct Copy {
  static constexpr std::string_view name = "copy";
  static constexpr auto core = Core;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
  }
  static double cost(In<float> x, Out<float>) { return 2.0 * static_cast<double>(x.size()); }
};

/// Ends a loop, stating 10 ns.
struct Finish {
  static constexpr std::string_view name = "finish";
  static constexpr auto core = CoreType::vector;
  static void run(Out<std::int32_t> done) noexcept { done[0] = 1; }
  static double cost(Out<std::int32_t>) { return 10; }
};

/// Costs by shape, scalar and block: rows * factor + 1000 * block.
struct Uneven {
  static constexpr std::string_view name = "uneven";
  static constexpr auto core = CoreType::vector;
  static void run(Block, In<float, 2>, InOut<float>, float) noexcept {}
  static double cost(Block b, In<float, 2> x, InOut<float>, float factor) noexcept {
    return static_cast<double>(x.extent(0)) * static_cast<double>(factor) + 1000.0 * b.index;
  }
};

struct Ridiculous {
  static constexpr std::string_view name = "ridiculous";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<float>, double) noexcept {}
  static double cost(InOut<float>, double ns) noexcept { return ns; }
};

/// What a round costs besides tasks is nothing, unless given.
constexpr arch::Costs nothing{.launch_ns = 0,
                              .dispatch_ns = 0,
                              .retire_ns = 0,
                              .start_block_ns = 0,
                              .notice_block_ns = 0,
                              .complete_ns = 0,
                              .copy_in_latency_ns = 0,
                              .copy_in_gbps = 1e30,
                              .copy_out_latency_ns = 0,
                              .copy_out_gbps = 1e30};

template <class P>
typename P::Options with(const arch::Costs& costs) {
  typename P::Options options{};
  options.engine.costs = costs;
  return options;
}

using Floats = std::vector<float>;

}  // namespace

TEST_CASE_TEMPLATE("The phases of a round are what its copies and tasks add up to", P, A2A3SimOn<Model>,
                   A5SimOn<Model>) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {1000});
  const auto s = graph.inout<float>("s", {500});
  const auto y = graph.output<float>("y", {1000});
  const auto t = graph.workspace<float>("t", {1000});
  graph.add<Copy<CoreType::cube>>(x, t);
  graph.add<Copy<CoreType::vector>>(t, y);
  (void)s;
  auto session = open<P>(graph, with<P>({.launch_ns = 10,
                                         .dispatch_ns = 20,
                                         .retire_ns = 30,
                                         .complete_ns = 40,
                                         .copy_in_latency_ns = 50,
                                         .copy_in_gbps = 4,
                                         .copy_out_latency_ns = 60,
                                         .copy_out_gbps = 2}));
  Model& model = session.platform().engine();
  CHECK(model.prediction().makespan_ns() == 0);  // no round yet
  CHECK(model.prediction().tasks.empty());
  Floats hx(1000), hy(1000), hs(500);
  for (int round = 0; round < 3; ++round) {
    REQUIRE(session.run_round(bind(x, hx), bind(s, hs), bind(y, hy)).ok());
    const auto p = model.prediction();
    CHECK(p.copy_in_ns == 50 + 4000.0 / 4 + 50 + 2000.0 / 4);
    CHECK(p.launch_ns == 10);
    CHECK(p.run_ns == 2 * (20 + 2000 + 30));
    CHECK(p.complete_ns == 40);
    CHECK(p.copy_out_ns == 60 + 2000.0 / 2 + 60 + 4000.0 / 2);
    CHECK(p.makespan_ns() == 1600 + 10 + 4100 + 40 + 3120);
    CHECK(p.stated == 2);
    CHECK(p.critical_path.size() == 2);
    CHECK(std::string{p.bound_by()} == "the critical path");
    CHECK(p.cube_busy_ns[0] == 2000);
    CHECK(p.cube_busy_ns.size() == arch::cores<typename P::Arch>(CoreType::cube));
    CHECK(p.vector_busy_ns.size() == arch::cores<typename P::Arch>(CoreType::vector));
    CHECK(p.schedulers == P::Arch::aicpu_schedulers);
  }
}

TEST_CASE("Rounds taken step by step, prebound or dropped half-way are told apart from uploads and downloads") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {100});
  const auto y = graph.output<float>("y", {50});
  const auto w = graph.resident<float>("w", {1000});
  graph.add_raw("half", CoreType::vector, no_kernel, reads(x), reads(w), writes(y));
  arch::Costs costs = nothing;
  costs.copy_in_latency_ns = 1;
  costs.copy_out_latency_ns = 100;
  using P = A2A3SimOn<Model>;
  auto session = open<P>(graph, with<P>(costs));
  const auto in_and_out = [&] {
    const auto p = session.platform().engine().prediction();
    return std::pair{p.copy_in_ns, p.copy_out_ns};
  };
  const std::pair expected{1.0, 100.0};
  Floats hx(100), hy(50), hw(1000);
  REQUIRE(session.upload(w, hw).ok());
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(in_and_out() == expected);
  REQUIRE(session.upload(w, hw).ok());
  REQUIRE(session.download(w, hw).ok());
  CHECK(in_and_out() == expected);  // still the round's
  {
    auto dropped = session.begin_round(bind(x, hx), bind(y, hy));
  }
  REQUIRE(session.run_round(session.prebind(bind(x, hx), bind(y, hy))).ok());
  CHECK(in_and_out() == expected);
  REQUIRE(session.begin_round(bind(x, hx), bind(y, hy)).launch().finish().status().ok());
  CHECK(in_and_out() == expected);
  REQUIRE(session.run_round(bind(y, hy), bind(x, hx)).ok());
  CHECK(in_and_out() == expected);
  REQUIRE(session.close().ok());
  CHECK(session.platform().engine().prediction().tasks.empty());
}

TEST_CASE("A cost is asked for each block with its shapes and scalars") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {7, 3});
  const auto y = graph.inout<float>("y", {4});
  graph.add<Uneven>(Blocks{3}, x, y, 10.0F);
  auto session = open<A2A3SimOn<Model>>(graph, with<A2A3SimOn<Model>>(nothing));
  Floats hx(21), hy(4);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  const auto p = session.platform().engine().prediction();
  CHECK(p.run_ns == 70 + 2000);
  CHECK(p.vector_busy_ns[0] == 70);
  CHECK(p.vector_busy_ns[1] == 1070);
  CHECK(p.vector_busy_ns[2] == 2070);
  CHECK(p.vector_busy_ns[3] == 0);
}

TEST_CASE("Fewer cores than the chip's make a round of many tasks longer, in whole waves") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {50});
  for (int i = 0; i < 48; ++i)
    graph.add<Copy<CoreType::vector>>(x, graph.workspace<float>("t" + std::to_string(i), {50}));
  Floats hx(50);
  for (const std::uint32_t cores : {1U, 5U, 24U, 48U, 1000U}) {
    auto options = with<A2A3SimOn<Model>>(nothing);
    options.engine.vector_cores = cores;
    auto session = open<A2A3SimOn<Model>>(graph, options);
    REQUIRE(session.run_round(bind(x, hx)).ok());
    const std::uint32_t there = std::min(cores, 48U);
    CHECK(session.platform().engine().prediction().run_ns == 100 * ((48 + there - 1) / there));
    CHECK(session.platform().engine().prediction().vector_busy_ns.size() == there);
  }
}

TEST_CASE("A task that states no cost takes its bytes over its core's share of the memory, shared by its blocks") {
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {1200});
  graph.add_raw("silent", CoreType::cube, Blocks{2}, no_kernel, updates(x));
  arch::Costs costs = nothing;
  costs.memory_gbps = 240;
  costs.task_floor_ns = 11;
  auto session = open<A2A3SimOn<Model>>(graph, with<A2A3SimOn<Model>>(costs));
  Floats hx(1200);
  REQUIRE(session.run_round(bind(x, hx)).ok());
  const auto p = session.platform().engine().prediction();
  CHECK(p.run_ns == 11 + 4800.0 / 2 / 10);
  CHECK(p.estimated == 1);
  CHECK(p.stated == 0);
}

TEST_CASE("Measuring replaces what no kernel states, ends after its rounds, and leaves what is stated alone") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {100});
  const auto y = graph.output<float>("y", {100});
  const auto t = graph.workspace<float>("t", {100});
  graph.add<Scale>(x, t, 2.0F);
  graph.add<Copy<CoreType::vector>>(t, y);
  auto options = with<A2A3SimOn<Model>>(nothing);
  options.engine.measuring_rounds = 2;
  options.engine.costs.task_floor_ns = 1e12;  // what was estimated shows
  options.engine.costs.host_factor = 3;
  auto session = open<A2A3SimOn<Model>>(graph, options);
  Floats hx(100, 1.0F), hy(100);
  double settled = 0;
  for (int round = 0; round < 5; ++round) {
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    CHECK(hy == Floats(100, 2.0F));
    const auto p = session.platform().engine().prediction();
    CHECK(p.measured == 1);
    CHECK(p.estimated == 0);
    CHECK(p.tasks[1].end - p.tasks[1].start == doctest::Approx(200));
    CHECK(p.run_ns < 1e12);
    if (round >= 2) CHECK(p.run_ns == settled);
    settled = p.run_ns;
  }
}

TEST_CASE("A cost that is negative or no number is refused, by the task's name") {
  for (const double cost : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    TaskGraph graph;
    graph.add<Ridiculous>(graph.inout<float>("x", {1}), cost);
    const Raised r = raised([&] { auto session = open<A2A3SimOn<Model>>(graph); });
    CHECK(r.code == Errc::invalid_argument);
    CHECK(says(r.text, "task 0 'ridiculous'", "cost()"));
  }
}

TEST_CASE("Costs of the chip that are no numbers, and bandwidths of 0, are refused when a session is opened") {
  using arch::Costs;
  TaskGraph graph;
  graph.add<Scale>(graph.input<float>("x", {1}), graph.output<float>("y", {1}), 2.0F);
  const auto refusal = [&](double Costs::* figure, double value) {
    A2A3SimOn<Model>::Options options;
    options.engine.costs.*figure = value;
    const Raised by_model = raised([&] { auto session = open<A2A3SimOn<Model>>(graph, options); });
    A2A3SimOn<Inline, platform::sim::TimedBus>::Options of_bus;
    of_bus.traffic.*figure = value;
    const Raised by_bus =
        raised([&] { auto session = open<A2A3SimOn<Inline, platform::sim::TimedBus>>(graph, of_bus); });
    CHECK(by_model.code == Errc::invalid_argument);
    CHECK(by_bus.code == Errc::invalid_argument);
    CHECK(by_bus.text == by_model.text);
    return by_model.text;
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const auto figure : {&Costs::memory_gbps, &Costs::copy_in_gbps, &Costs::copy_out_gbps}) {
    for (const double value : {0.0, nan}) CHECK(says(refusal(figure, value), "costs: a bandwidth is not above"));
  }
  for (const auto figure : {&Costs::copy_out_latency_ns, &Costs::dispatch_ns, &Costs::host_factor}) {
    for (const double value : {infinite, nan})
      CHECK(says(refusal(figure, value), "another figure is infinite or no number"));
  }
}

TEST_CASE("Tasks of loops are not measured and do not count as measured") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {100});
  const auto t = graph.workspace<float>("t", {100});
  const auto done = graph.workspace<std::int32_t>("done", {1});
  graph.add<Scale>(x, t, 2.0F);
  graph.repeat_until(done, 3, [&] {
    graph.add<Scale>(t, graph.workspace<float>("u", {100}), 2.0F);
    graph.add<Finish>(done);
  });
  auto options = with<A2A3SimOn<Model>>(nothing);
  options.engine.measuring_rounds = 1;
  auto session = open<A2A3SimOn<Model>>(graph, options);
  Floats hx(100);
  REQUIRE(session.run_round(bind(x, hx)).ok());
  const platform::sim::Prediction p = session.platform().engine().prediction();
  CHECK(p.stated == 1);
  CHECK(p.measured == 1);
  CHECK(p.estimated == p.tasks.size() - 2);
}

TEST_CASE("A report names the phases, what bounds the run, and the critical path's tasks") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {1000});
  auto last = graph.workspace<float>("t", {1000});
  graph.add<Copy<CoreType::cube>>(x, last);
  for (int i = 0; i < 30; ++i) {
    const auto next = graph.workspace<float>("t" + std::to_string(i), {1000});
    graph.add<Copy<CoreType::vector>>(last, next);
    last = next;
  }
  auto session = open<A5SimOn<Model>>(graph, with<A5SimOn<Model>>(nothing));
  Floats hx(1000);
  REQUIRE(session.run_round(bind(x, hx)).ok());
  const std::string text = session.platform().engine().prediction().report().c_str();
  CAPTURE(text);
  CHECK(says(text, "round on a5, predicted: 62.000 us", "bound by the critical path", "1 of 36 cube cores",
             "1 of 72 vector cores", "task 0 'copy' cube x 1: 0.000 to 2.000 us", "... 15 more",
             "task 30 'copy' vector", "31 stated, 0 measured on the host, 0 estimated"));
}

TEST_CASE("What bounds a round is named: cores, schedulers or the path") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {50});
  for (int i = 0; i < 100; ++i)
    graph.add<Copy<CoreType::cube>>(x, graph.workspace<float>("t" + std::to_string(i), {50}));
  Floats hx(50);
  const auto bound = [&](double dispatch_ns) {
    arch::Costs costs = nothing;
    costs.dispatch_ns = dispatch_ns;
    auto session = open<A2A3SimOn<Model>>(graph, with<A2A3SimOn<Model>>(costs));
    REQUIRE(session.run_round(bind(x, hx)).ok());
    return std::string{session.platform().engine().prediction().bound_by()};
  };
  CHECK(bound(0) == "the cube cores");
  CHECK(bound(1000) == "the schedulers");
}

TEST_CASE(
    "Streams take independent tasks at the same time, as the onboard platforms deal them, and a chain one by one") {
  arch::Costs costs = nothing;
  costs.stream_wait_ns = 10;
  auto options = with<A2A3SimOn<Model>>(costs);
  options.engine.control = Model::Control::streams;
  const auto predict = [&](const TaskGraph& graph, const auto& x, std::uint32_t streams) {
    options.engine.streams = streams;
    auto session = open<A2A3SimOn<Model>>(graph, options);
    Floats hx(1000);
    REQUIRE(session.run_round(bind(x, hx)).ok());
    return std::pair{session.platform().engine().prediction(),
                     std::string{session.platform().engine().prediction().report().c_str()}};
  };
  TaskGraph independent;
  const auto x = independent.input<float>("x", {1000});
  for (int i = 0; i < 24; ++i) {
    independent.add<Copy<CoreType::cube>>(x, independent.workspace<float>("t" + std::to_string(i), {1000}));
  }
  const auto [one, of_one] = predict(independent, x, 1);
  CHECK(one.run_ns == 24 * 2000);
  CHECK(one.streams == 1);
  CHECK(one.schedulers == 0);
  CHECK(says(of_one, "bound by the streams", "1 streams, the busiest 100.0 % busy"));
  const auto [four, of_four] = predict(independent, x, 4);
  CHECK(four.streams == 4);
  CHECK(four.run_ns == 6 * 2000 + 10 + 2 * 10);  // a stream waits for the start, and streams are joined two by two
  const auto [chosen, of_chosen] = predict(independent, x, 0);
  CHECK(chosen.run_ns < four.run_ns);
  CHECK(chosen.run_ns >= 2000);

  TaskGraph chain;
  const auto y = chain.input<float>("y", {1000});
  auto last = chain.workspace<float>("t", {1000});
  chain.add<Copy<CoreType::vector>>(y, last);
  for (int i = 0; i < 9; ++i) {
    const auto next = chain.workspace<float>("t" + std::to_string(i), {1000});
    chain.add<Copy<CoreType::vector>>(last, next);
    last = next;
  }
  const auto [in_order, of_chain] = predict(chain, y, 0);
  CHECK(in_order.run_ns == 10 * 2000);
  CHECK(in_order.streams == 1);
  CHECK(in_order.critical_path_ns == in_order.run_ns);
}

TEST_CASE("A report has a whole line for a task with a long name") {
  TaskGraph graph;
  const std::string name(200, 'n');
  const auto x = graph.inout<float>("x", {1});
  graph.add_raw(name, CoreType::cube, Blocks{2}, no_kernel, updates(x));
  auto session = open<A2A3SimOn<Model>>(graph);
  Floats hx(1);
  REQUIRE(session.run_round(bind(x, hx)).ok());
  const std::string text = session.platform().engine().prediction().report().c_str();
  CHECK(says(text, "'" + name + "' cube x 2: ", " us\ntask costs: 0 stated, 0 measured on the host, 1 estimated"));
}

TEST_CASE("On streams, static graphs and graphs with loops take one stream, and what is zeroed takes no time") {
  auto options = with<A2A3SimOn<Model>>(nothing);
  options.engine.control = Model::Control::streams;
  options.engine.streams = 4;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {1000});
  const auto done = graph.workspace<std::int32_t>("done", {1});
  const auto sum = graph.workspace<float>("sum", {1000});
  graph.zero(sum);
  graph.add<Copy<CoreType::vector>>(x, sum);
  graph.repeat_until(done, 3, [&] {
    for (int i = 0; i < 4; ++i) {
      graph.add<Copy<CoreType::vector>>(x, graph.workspace<float>("t" + std::to_string(i), {1000}));
    }
    graph.add<Finish>(done);
  });
  auto session = open<A2A3SimOn<Model>>(graph, options);
  Floats hx(1000);
  REQUIRE(session.run_round(bind(x, hx)).ok());
  const platform::sim::Prediction prediction = session.platform().engine().prediction();
  CHECK(prediction.streams == 1);
  CHECK(prediction.run_ns > 2000 + 3 * (4 * 2000 + 10));  // and three decisions, of a microsecond each
  CHECK(prediction.run_ns < 2000 + 3 * (5 * 2000));
  for (const platform::sim::TaskTimes& task : prediction.tasks) CHECK(task.start >= 0);

  static constexpr auto build = [] {
    TaskGraph g;
    const auto in = g.input<float>("x", {1000});
    for (const char* name : {"a", "b", "c", "d"}) {
      g.add<Copy<CoreType::vector>>(in, g.output<float>(name, {1000}));
    }
    return g;
  };
  constexpr auto& known = static_graph<build>;
  auto of_known = open<A2A3SimOn<Model>, known>(options);
  Floats a(1000), b(1000), c(1000), d(1000);
  REQUIRE(of_known
              .run_round(bind(known.input<float>("x"), hx), bind(known.output<float>("a"), a),
                         bind(known.output<float>("b"), b), bind(known.output<float>("c"), c),
                         bind(known.output<float>("d"), d))
              .ok());
  CHECK(of_known.platform().engine().prediction().streams == 1);
  CHECK(of_known.platform().engine().prediction().run_ns == 4 * 2000);
}

TEST_CASE("A kernel that throws and a request to stop end a round as they do inline") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<Fragile>(x, y);
  for (const std::uint32_t measuring : {0U, 5U}) {
    A2A3SimOn<Model>::Options options;
    options.engine.measuring_rounds = measuring;
    auto session = open<A2A3SimOn<Model>>(graph, options);
    Floats hx{-1, 0, 0, 0}, hy(4);
    const Status status = session.run_round(bind(x, hx), bind(y, hy));
    CHECK(status == Status::of_task(Errc::kernel_failed, 0).poisoning());
    CHECK(says(session.explain(status).c_str(), "a negative element"));
    auto stopped = open<A2A3SimOn<Model>>(graph, options);
    stopped.request_stop();
    hx[0] = 1;
    CHECK(stopped.run_round(bind(x, hx), bind(y, hy)).code() == Errc::stopped);
  }
}

TEST_CASE("On random graphs the results are Inline's, bit for bit, and both chips predict the same twice") {
  auto random = rondo::test::make_random(41);
  for (int g = 0; g < 30; ++g) {
    const RandomWork work{random, random() % 40, 2 + random() % 10, 1 + random() % 9};
    Loaded<platform::sim::Inline> one{work.graph};
    auto program = one.engine.load(one.frozen, one.table);
    fill(one, work, 5);
    const auto compare = [&]<class A>(A) {
      Loaded<platform::sim::Inline> memory{work.graph};  // for its memory and table
      Model model{{}, arch::chip_of<A>};
      auto modelled = model.load(memory.frozen, memory.table);
      Model again{{}, arch::chip_of<A>};
      auto other = again.load(memory.frozen, memory.table);
      fill(one, work, 5);
      fill(memory, work, 5);
      for (int round = 0; round < 3; ++round) {
        REQUIRE(one.engine.launch(program).ok());
        REQUIRE(model.launch(modelled).ok());
        REQUIRE(model.wait().ok());
        for (const auto& t : work.tensors) {
          const std::size_t n = one.frozen.view().tensors[index(t.key.tensor())].count;
          for (std::size_t i = 0; i < n; ++i) REQUIRE(one.at(t)[i] == memory.at(t)[i]);
        }
      }
      REQUIRE(again.launch(other).ok());
      CHECK(model.prediction().makespan_ns() == again.prediction().makespan_ns());
      CHECK(model.prediction().report() == again.prediction().report());
    };
    compare(arch::A2A3{});
    compare(arch::A5{});
  }
}
