// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/observe/counters.hpp>
#include <rondo/observe/trace_json.hpp>
#include <rondo/orchestrated.hpp>

#include "../../../examples/02_digits/network.hpp"
#include "scale.hpp"

#include <rondo/observe/traced.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/runtime/tensormap_and_ringbuffer.hpp>
#include <rondo/session/in_flight.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/shaped_session.hpp>
#include <unit/observe/trace_schema.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

constexpr std::size_t batch = 16;
constexpr std::size_t tasks_in_training = 16;
constexpr std::size_t many = sanitized ? 20 : 100;  // rounds: what is written of them is read and searched

struct Traces : DefaultPolicies {
  using Observe = observe::Trace;
};

/// Rounds of the example that trains a network, over numbers of no meaning.
struct Rounds {
  digits::TrainingStep step{batch};
  digits::Weights weights = digits::random_weights(digits::Random{5});
  std::vector<float> pixels = std::vector<float>(batch * digits::pixels_per_digit);
  std::vector<std::int32_t> labels = std::vector<std::int32_t>(batch);
  float rate = 0.1F;
  float loss = 0;
  std::vector<float> losses;

  template <class Session>
  void upload(Session& session) {
    REQUIRE(session.upload(step.net.w1, weights.w1).ok());
    REQUIRE(session.upload(step.net.b1, weights.b1).ok());
    REQUIRE(session.upload(step.net.w2, weights.w2).ok());
    REQUIRE(session.upload(step.net.b2, weights.b2).ok());
  }
  template <class Session>
  void run(Session& session, std::size_t rounds) {
    for (std::size_t r = 0; r < rounds; ++r) {
      for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>((i * 7 + r) % 17) / 17.0F;
      for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>((i + r) % digits::classes);
      REQUIRE(session
                  .run_round(bind(step.pixels, pixels), bind(step.labels, labels), bind(step.rate, rate),
                             bind(step.loss, loss))
                  .ok());
      losses.push_back(loss);
    }
  }
};

/// Two threads from the first round on.
template <class P>
typename P::Options two_threads() {
  typename P::Options options{};
  options.engine.inner.threads = 2;
  options.engine.inner.scheduling = platform::sim::Scheduling::uniform;
  return options;
}

template <class... Session>
Json written(Session&... sessions) {
  std::ostringstream out;
  observe::write_trace(out, sessions...);
  return Json::parse(out.str());
}

std::size_t count(const Json& trace, const std::string& kind, const std::string& name = {}) {
  std::size_t n = 0;
  for (const Json& e : trace["traceEvents"]) n += e["ph"] == kind && (name.empty() || e["name"] == name) ? 1 : 0;
  return n;
}

/// Spans whose names begin so.
std::size_t count_rounds(const Json& trace) {
  std::size_t n = 0;
  for (const Json& e : trace["traceEvents"])
    n += e["ph"] == "B" && e["name"].get<std::string>().starts_with("round ") ? 1 : 0;
  return n;
}

std::size_t edges(const graph::GraphView& graph) { return graph.successors.size(); }

using OnInline = A2A3SimOn<observe::Traced<Inline>>;
using OnPool = A2A3SimOn<observe::Traced<Pool>>;

struct InFlight : Traces {};

}  // namespace

TEST_CASE("A trace of many rounds of a training is a whole file: spans nest, flows meet, time goes forward") {
  Rounds rounds;
  auto session = open<OnInline, Traces>(rounds.step.graph);
  rounds.upload(session);
  rounds.run(session, many);
  const Json trace = written(session);
  CHECK(fault_in(trace) == "");
  CHECK(trace["otherData"]["dropped_spans"] == 0);
  CHECK(count_rounds(trace) == many);
  for (const char* phase : {"bind", "copy in", "launch", "copy out", "wait"}) CHECK(count(trace, "B", phase) == many);
  CHECK(count(trace, "B", "matmul") == 2 * many);
  CHECK(count(trace, "B", "descend") == 4 * many);
  CHECK(count(trace, "s") == many * edges(session.graph().view()));
  CHECK(count(trace, "f") == many * edges(session.graph().view()));
  CHECK(count(trace, "C", "tasks") > 0);
  CHECK(count(trace, "C", "arena in use") > 0);
}

TEST_CASE("On two threads each has a track of its own, and the results are those without a trace") {
  Rounds plain;
  {
    auto session = open<A2A3Sim>(plain.step.graph);
    plain.upload(session);
    plain.run(session, many);
  }
  Rounds traced;
  auto session = open<OnPool, Traces>(traced.step.graph, two_threads<OnPool>());
  traced.upload(session);
  traced.run(session, many);
  CHECK(std::memcmp(plain.losses.data(), traced.losses.data(), sizeof(float) * plain.losses.size()) == 0);

  const Json trace = written(session);
  CHECK(fault_in(trace) == "");
  CHECK(count(trace, "s") == many * edges(session.graph().view()));
  std::map<std::int64_t, std::size_t> by_thread;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == "B" && e["args"].contains("task")) ++by_thread[e["tid"].get<std::int64_t>()];
  }
  std::size_t sum = 0;
  for (const auto& [thread, tasks] : by_thread) sum += tasks;
  CHECK(sum == many * tasks_in_training);
  CHECK(session.platform().engine().recorder().threads() == by_thread.size());
}

TEST_CASE("Counters begin and end a launch with no task, and the arena never holds more than it has") {
  Rounds rounds;
  auto session = open<OnInline, Traces>(rounds.step.graph);
  rounds.upload(session);
  rounds.run(session, 3);
  const Json trace = written(session);
  Json last;
  std::uint64_t most = 0;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] != "C") continue;
    if (e["name"] == "tasks") {
      last = e["args"];
      CHECK(e["args"]["running"].get<int>() <= 1);
    }
    if (e["name"] == "arena in use") most = std::max(most, e["args"]["bytes"].get<std::uint64_t>());
  }
  CHECK(last["ready"] == 0);
  CHECK(last["running"] == 0);
  CHECK(most > 0);
  CHECK(most <= session.arena_bytes().value);
}

TEST_CASE("What was run while recording was off is not in the trace") {
  Rounds rounds;
  auto session = open<OnInline, Traces>(rounds.step.graph);
  rounds.upload(session);
  observe::record(session, false);
  rounds.run(session, 10);
  observe::record(session, true);
  rounds.run(session, 5);
  observe::record(session, false);
  rounds.run(session, 10);
  const Json trace = written(session);
  CHECK(fault_in(trace) == "");
  CHECK(count_rounds(trace) == 5);
  CHECK(count(trace, "B", "launch") == 5);
  CHECK(count(trace, "B", "matmul") == 10);
  std::set<int> seen;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == "B" && e["name"].get<std::string>().starts_with("round "))
      seen.insert(e["args"]["round"].get<int>());
  }
  CHECK(seen == std::set<int>{10, 11, 12, 13, 14});
}

TEST_CASE("A trace that lost its oldest spans says how many, and is whole in what is left") {
  struct Short : DefaultPolicies {
    using Observe = observe::TraceWith<64>;
  };
  Rounds rounds;
  OnInline::Options options{};
  options.engine.spans_per_thread = 64;
  auto session = open<OnInline, Short>(rounds.step.graph, options);
  rounds.upload(session);
  rounds.run(session, 100);
  const Json trace = written(session);
  CHECK(fault_in(trace) == "");
  // Six spans a round from the observer, sixteen tasks and one launch from the engine.
  CHECK(trace["otherData"]["dropped_spans"] == 100 * 6 - 64 + 100 * 16 - 64 + 100 - 64);
  CHECK(count(trace, "s") < 100 * edges(session.graph().view()));
  CHECK(count(trace, "s") >= 3 * edges(session.graph().view()));
}

TEST_CASE("Rounds that are taken step by step, refused or failed leave a whole trace") {
  Rounds rounds;
  auto session = open<OnInline, Traces>(rounds.step.graph);
  rounds.upload(session);
  const auto begin = [&] {
    return session.begin_round(bind(rounds.step.pixels, rounds.pixels), bind(rounds.step.labels, rounds.labels),
                               bind(rounds.step.rate, rounds.rate), bind(rounds.step.loss, rounds.loss));
  };
  CHECK(begin().launch().finish().status().ok());
  CHECK(session.run_round(bind(rounds.step.pixels, rounds.pixels)).code() == Errc::unbound_tensor);
  {
    auto dropped = begin();
  }
  rounds.run(session, 1);
  const Json trace = written(session);
  CHECK(fault_in(trace) == "");
  CHECK(count_rounds(trace) == 3);
  CHECK(count(trace, "B", "bind") == 3);
  CHECK(count(trace, "B", std::string{"round 1: "} + describe(Errc::abandoned)) == 1);
}

TEST_CASE("Several sessions are written as processes of their own, a prediction as one more") {
  Rounds a, b, c;
  auto first = open<OnInline, Traces>(a.step.graph);
  auto second = open<OnPool, Traces>(b.step.graph, two_threads<OnPool>());
  auto third = open<A2A3SimOn<Model>, Traces>(c.step.graph);
  a.upload(first);
  b.upload(second);
  c.upload(third);
  for (int i = 0; i < 5; ++i) {
    a.run(first, 1);
    b.run(second, 1);
    c.run(third, 1);
  }
  const Json trace = written(first, second, third);
  CHECK(fault_in(trace) == "");
  CHECK(count_rounds(trace) == 15);
  CHECK(count(trace, "M", "process_name") == 4);
  std::size_t predicted = 0;
  for (const Json& e : trace["traceEvents"]) predicted += e["ph"] == "B" && e["args"].contains("critical") ? 1 : 0;
  CHECK(predicted == tasks_in_training);
}

/// A task on many cores at once.
struct Spread {
  static constexpr std::string_view name = "spread";
  static constexpr auto core = CoreType::vector;
  static void run(Block block, In<float> x, Out<float> y) noexcept {
    for (std::size_t i = block.index; i < y.size(); i += block.count) y[i] = 2 * x[i];
  }
  static double cost(Block, In<float>, Out<float>) noexcept { return 100000; }
};

TEST_CASE("A prediction has a track for each core that is used, counters in the chip's time, and arrows between") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  const auto t = graph.workspace<float>("t", {64});
  const auto y = graph.output<float>("y", {64});
  graph.add<Spread>(Blocks{8}, x, t);
  graph.add<Spread>(Blocks{3}, t, y);
  std::vector<float> hx(64, 1.0F), hy(64);
  auto session = open<A2A3SimOn<Model>>(graph);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  const Json trace = written(session);
  CHECK(fault_in(trace) == "");
  CHECK(count(trace, "B", "spread") == 11);
  std::set<std::string> cores;
  std::map<int, std::set<int>> blocks_on;
  std::uint64_t most_running = 0, most_bytes = 0;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == "M" && e["args"].contains("name")) cores.insert(e["args"]["name"].get<std::string>());
    if (e["ph"] == "B" && e["name"] == "spread") blocks_on[e["tid"].get<int>()].insert(e["args"]["block"].get<int>());
    if (e["ph"] == "C" && e["name"] == "tasks")
      most_running = std::max(most_running, e["args"]["running"].get<std::uint64_t>());
    if (e["ph"] == "C" && e["name"] == "arena in use")
      most_bytes = std::max(most_bytes, e["args"]["bytes"].get<std::uint64_t>());
  }
  CHECK(cores.contains("vector core 0"));
  CHECK(cores.contains("vector core 7"));
  CHECK_FALSE(cores.contains("cube core 0"));
  CHECK(blocks_on.size() == 8);
  CHECK(most_running >= 2);
  CHECK(most_running <= 8);
  CHECK(most_bytes > 256);  // a task has its input and its output at once, and nobody all three
  CHECK(most_bytes < 3 * 256);
  CHECK(count(trace, "s", "edge") == 1);
  CHECK(count(trace, "f", "edge") == 1);
}

TEST_CASE("Rounds in flight have a track for each slot, and the host's phases name their round") {
  Rounds rounds;
  auto session = open_pipelined<OnInline, 3, InFlight>(rounds.step.graph);
  rounds.upload(session);
  std::vector<float> losses(many);
  for (float& loss : losses) {
    REQUIRE(session.submit_round(bind(rounds.step.pixels, rounds.pixels), bind(rounds.step.labels, rounds.labels),
                                 bind(rounds.step.rate, rounds.rate), bind(rounds.step.loss, loss)));
  }
  REQUIRE(session.wait_all().ok());
  const Json trace = written(session);
  CHECK(fault_in(trace) == "");
  CHECK(count_rounds(trace) == many);
  CHECK(count(trace, "B", "matmul") == 2 * many);
  CHECK(count(trace, "s") == many * edges(session.graph().view()));
  std::set<int> slots;
  std::map<std::string, std::set<int>> rounds_of;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] != "B" || !e["args"].contains("round")) continue;
    if (e["name"].get<std::string>().starts_with("round ")) {
      slots.insert(e["tid"].get<int>());
    } else {
      rounds_of[e["name"]].insert(e["args"]["round"].get<int>());
    }
  }
  CHECK(slots.size() >= 2);
  CHECK(slots.size() <= 3);
  for (const char* phase : {"bind", "copy in", "launch", "copy out", "wait"}) CHECK(rounds_of[phase].size() == many);
}

namespace {
struct Timed : Traces {
  using Time = DeviceTime;
};
}  // namespace

TEST_CASE("What rounds took on the device has a track of its own, one after the other") {
  Rounds rounds;
  auto session = open<A2A3SimOn<Model>, Timed>(rounds.step.graph);
  rounds.upload(session);
  rounds.run(session, 5);
  const Json trace = written(session);
  CHECK(fault_in(trace) == "");
  std::size_t spans = 0;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] != "B" || e["tid"] != observe::TraceEvents::device_track || e["pid"] != 1) continue;
    CHECK(e["args"]["round"] == spans++);
    CHECK(e["args"]["device ns"].get<std::uint64_t>() > 0);
  }
  CHECK(spans == 5);
}

TEST_CASE("An engine that checks may stand around one that traces") {
  Rounds rounds;
  auto session = open<A2A3SimOn<Checked<observe::Traced<Inline>>>, Traces>(rounds.step.graph);
  rounds.upload(session);
  rounds.run(session, 2);
  const Json trace = written(session);
  CHECK(fault_in(trace) == "");
  CHECK(count(trace, "B", "matmul") == 4);
}

TEST_CASE("A session of many shapes traces the rounds of all of them, numbered through") {
  TaskGraph graph;
  const auto n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add_raw("nothing", CoreType::vector, +[](ArgWord*) {}, reads(x), writes(y));
  auto session = open_shaped<OnInline, Traces>(graph);
  const std::vector<float> in(8);
  std::vector<float> out(8);
  for (const std::size_t size : {8U, 2U, 8U, 4U}) {
    REQUIRE(session.run_round(bind(x, std::span(in.data(), size)), bind(y, std::span(out.data(), size))));
  }
  const Json trace = written(session);
  CHECK(fault_in(trace) == "");
  CHECK(count_rounds(trace) == 4);
  for (const char* round : {"round 0", "round 1", "round 2", "round 3"}) CHECK(count(trace, "B", round) == 1);
  observe::record(session, false);
  REQUIRE(session.run_round(bind(x, in), bind(y, out)));
  CHECK(count_rounds(written(session)) == 4);
}

TEST_CASE("A session that traces nothing makes a trace of nothing") {
  Rounds rounds;
  auto session = open<A2A3Sim>(rounds.step.graph);
  rounds.upload(session);
  rounds.run(session, 2);
  const Json trace = written(session);
  CHECK(fault_in(trace) == "");
  CHECK(trace["traceEvents"].size() == 1);
}

TEST_CASE("Names are written so that any reader finds them again") {
  observe::TraceEvents events;
  events.label_process(1, "a \"quoted\"\tname \\");
  events.label_track(1, 1, "line\nbreak");
  events.span(1, 1, 1'234'567, 1'234'999, "\x01 ü");
  std::ostringstream out;
  observe::write_trace(out, events);
  const Json trace = Json::parse(out.str());
  CHECK(fault_in(trace) == "");
  CHECK(trace["traceEvents"][0]["args"]["name"] == "a \"quoted\"\tname \\");
  CHECK(trace["traceEvents"][1]["args"]["name"] == "line\nbreak");
  CHECK(trace["traceEvents"][3]["name"] == "\x01 ü");
  CHECK(spans_of(trace)[0].until - spans_of(trace)[0].from == 432);
}

TEST_CASE("Spans that touch, that end together, that take no time or reach beyond what holds them nest in the file") {
  observe::TraceEvents events;
  events.label_process(1, "p");
  events.label_track(1, 1, "t");
  events.span(1, 1, 100, 300, "outer");
  events.span(1, 1, 100, 200, "first");
  events.span(1, 1, 200, 300, "second");
  events.span(1, 1, 250, 250, "moment");
  events.span(1, 1, 300, 300, "end");
  events.span(1, 1, 300, 400, "next");
  events.span(1, 1, 350, 450, "beyond");
  events.flow(1, 1, 199, 1, 200, "edge");
  events.flow(1, 1, 250, 1, 300, "edge");
  std::ostringstream out;
  observe::write_trace(out, events);
  const Json trace = Json::parse(out.str());
  CHECK(fault_in(trace) == "");
  std::string order;
  for (const Json& e : trace["traceEvents"]) {
    const std::string kind = e["ph"].get<std::string>();
    if (kind == "B") order += e["name"].get<std::string>() + "( ";
    if (kind == "E") order += ") ";
    if (kind == "s" || kind == "f") order += kind + " ";
  }
  CHECK(order == "outer( first( s ) second( f moment( s ) ) ) next( end( f ) beyond( ) ) ");
  const std::vector<TraceSpan> spans = spans_of(trace);
  REQUIRE(spans.size() == 7);
  CHECK(spans[0].name == "first");
  CHECK(spans[0].until == spans[2].from);
  CHECK(spans[5].name == "beyond");
  CHECK(spans[5].until == 300);  // with what it is in; times count from the first event
}

TEST_CASE("The check itself turns down what is no trace") {
  const auto fault = [](const char* events) {
    return fault_in(Json::parse(std::string{"{\"traceEvents\":["} +
                                R"({"name":"thread_name","ph":"M","pid":1,"tid":1,"ts":0,"args":{"name":"t"}},)" +
                                events + "]}"));
  };
  const auto event = [](const char* kind, double ts) {
    return R"({"name":"a","ph":")" + std::string{kind} + R"(","pid":1,"tid":1,"args":{},"ts":)" + std::to_string(ts) +
           "}";
  };
  const std::string span = event("B", 1) + "," + event("E", 6);
  CHECK(fault(span.c_str()) == "");
  CHECK(fault((span + "," + event("B", 5) + "," + event("E", 7)).c_str()).starts_with("goes back"));
  CHECK(fault(event("B", 1).c_str()).starts_with("a span without an end"));
  CHECK(fault((span + "," + event("E", 7)).c_str()).starts_with("an end without a beginning"));
  CHECK(fault((event("B", 1) + R"(,{"name":"b","ph":"E","pid":1,"tid":1,"ts":2})").c_str()).starts_with("an end of"));
  CHECK(fault(event("X", 1).c_str()).starts_with("unknown kind"));
  CHECK(fault(R"({"name":"a","ph":"B","pid":1,"ts":1,"args":{}})").starts_with("no tid"));
  const std::string flow =
      event("B", 1) + R"(,{"name":"e","cat":"f","ph":"s","pid":1,"tid":1,"ts":2,"id":1},)" + event("E", 6);
  CHECK(fault(flow.c_str()) == "flows without an end");
  CHECK(fault((flow + R"(,{"name":"e","cat":"f","ph":"f","bp":"e","pid":1,"tid":1,"ts":9,"id":1})").c_str())
            .starts_with("a flow outside"));
}

namespace {

struct Step {
  static constexpr std::string_view name = "step";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
  }
};
struct Last : Step {
  static constexpr std::string_view name = "last";
};
struct Orchestrating : Traces {
  using Runtime = runtime::TensorMapRingBuffer;
};

}  // namespace

TEST_CASE_TEMPLATE("Tasks that a runtime adds during the round are traced by name, and switched off with the rest", P,
                   OnInline, OnPool) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.inout<float>("y", {16});
  auto session = open<P, Orchestrating>(graph, [&](auto& round) {
    for (int i = 0; i < 5; ++i) round.template add<Step>(x, y);
    round.template add<Last>(x, y);
  });
  std::vector<float> hx(16, 1.0F), hy(16);
  for (int i = 0; i < 3; ++i) REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  observe::record(session, false);
  for (int i = 0; i < 3; ++i) REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy[0] == 36);
  observe::record(session, true);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  const Json trace = written(session);
  CHECK(fault_in(trace) == "");
  CHECK(count(trace, "B", "step") == 20);
  CHECK(count(trace, "B", "last") == 4);
  CHECK(count_rounds(trace) == 4);
  CHECK(count(trace, "B", "launch 1") == 1);
  CHECK(count(trace, "B", "launch 4") == 0);
  CHECK(count(trace, "B", "launch 7") == 1);
  CHECK(trace["otherData"]["dropped_spans"] == 0);
}
