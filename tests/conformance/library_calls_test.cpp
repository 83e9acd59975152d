// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Calls of libraries as tasks: made in each round where the CPU is the device, captured once where devices have
// streams.

#include "device_floats.hpp"
#include "platforms.hpp"

#include <rondo/platform/host/host.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/in_flight.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace rondo;

#define RONDO_TEST_PLATFORMS A2A3Sim, HostOn<Pool>, A5SimOn<Checked<Pool>>, A2A3OverStandIn, A5OverStandIn

namespace {

using Floats = std::vector<float>;

struct Double {
  static constexpr std::string_view name = "double";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
struct Sum {
  static constexpr std::string_view name = "sum";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, In<float> y, Out<float> z) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] + y[i];
  }
};

/// A library of one function: y = x, turned to the left by `value(0)` elements.
template <class P>
struct Turn {
  std::atomic<int> times = 0;
  std::atomic<int> refuses = 0;  ///< so often it fails with code 7 before it works

  int operator()(const LibraryCall& call) {
    ++times;
    if (refuses > 0) return --refuses, 7;
    const auto n = static_cast<std::size_t>(call.elements(0));
    const auto by = static_cast<std::size_t>(call.value(0));
    const auto* const x = call.data<const float>(0);
    auto* const y = call.data<float>(1);
    const int first = copy(call.stream(), y, x + by, n - by);
    return first != 0 ? first : copy(call.stream(), y + (n - by), x, by);
  }
  static int copy(void* stream, float* to, const float* from, std::size_t count) {
    if (count == 0) return 0;
    if constexpr (is_over_stand_in<P>) {
      CHECK(stream != nullptr);
      return P::enqueue_copy(stream, to, from, count * sizeof(float));
    } else {
      CHECK(stream == nullptr);
      std::memcpy(to, from, count * sizeof(float));
      return 0;
    }
  }
};

/// The checking engine runs a round more than once.
template <class P>
constexpr bool counts_calls = !std::is_same_v<P, A5SimOn<Checked<Pool>>>;

constexpr std::size_t size = 12;
constexpr std::size_t turned_by = 5;

/// y = turn(2 x) + w.
template <class P>
struct Graph {
  Turn<P> turn;
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {size});
  Resident<float> w = graph.resident<float>("w", {size});
  Output<float> y = graph.output<float>("y", {size});
  Workspace<float> doubled = graph.workspace<float>("doubled", {size});
  Workspace<float> turned = graph.workspace<float>("turned", {size});
  TaskId twice = graph.add<Double>(x, doubled);
  TaskId call = graph.add_call("turn", {reads(doubled), writes(turned)}, turn, {turned_by});
  TaskId sum = graph.add<Sum>(turned, w, y);
};
Floats input_of(int round) {
  Floats x(size);
  for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<float>(round * 100 + static_cast<int>(i));
  return x;
}
Floats turned(const Floats& x, std::size_t by) {
  Floats y = x;
  std::rotate(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(by), y.end());
  return y;
}
Floats twice(Floats x) {
  for (float& v : x) v *= 2;
  return x;
}
Floats expected_of(int round) {
  Floats y = turned(input_of(round), turned_by);
  for (float& v : y) v = 2 * v + 1;
  return y;
}

}  // namespace

TEST_CASE_TEMPLATE("A library call is a task among others, and is made once where it can be captured", P,
                   RONDO_TEST_PLATFORMS) {
  Graph<P> g;
  auto session = open<P>(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.w, Floats(size, 1)).ok());
  for (int round = 0; round < 10; ++round) {
    const Floats x = input_of(round);
    Floats y(size);
    REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
    CHECK(y == expected_of(round));
  }
  if constexpr (counts_calls<P>) CHECK(g.turn.times.load() == (is_over_stand_in<P> ? 1 : 10));
}

TEST_CASE_TEMPLATE("Rounds in flight have a capture for each slot", P, RONDO_TEST_PLATFORMS) {
  Graph<P> g;
  auto session = open_pipelined<P, 3>(g.graph, busy_options<P>());
  REQUIRE(session.upload(g.w, Floats(size, 1)).ok());
  std::vector<Floats> x, y(20, Floats(size));
  for (int round = 0; round < 20; ++round) x.push_back(input_of(round));
  for (std::size_t round = 0; round < 20; ++round) {
    (void)session.submit_round(bind(g.x, x[round]), bind(g.y, y[round]));
  }
  REQUIRE(session.wait_all().ok());
  for (int round = 0; round < 20; ++round) CHECK(y[static_cast<std::size_t>(round)] == expected_of(round));
  if constexpr (counts_calls<P>) CHECK(g.turn.times.load() == (is_over_stand_in<P> ? 3 : 20));
}

TEST_CASE_TEMPLATE("A library call takes ports: a round copies device memory to and from their fixed addresses", P,
                   RONDO_TEST_PLATFORMS) {
  Turn<P> turn;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {size});
  const auto y = graph.output<float>("y", {size});
  graph.add_call("turn", {reads(x), writes(y)}, turn, {1});
  graph.keep(x);
  auto session = open<P>(graph, busy_options<P>());
  DeviceFloats one(session.platform(), size), two(session.platform(), size), to(session.platform(), size);
  DynamicBindings bindings(session);
  const auto prebound = session.prebind(bind(x, two.span()), bind(y, to.span()));
  REQUIRE(prebound.status().ok());
  Floats in(size), out(size);
  for (int round = 0; round < 12; ++round) {
    in = input_of(round);
    one.write(in);
    two.write(in);
    to.fill(-1);
    out.assign(size, -1);
    Status status;
    switch (round % 6) {
      case 0: status = session.run_round(bind(x, in), bind(y, out)); break;
      case 1: status = session.run_round(bind(y, to.span()), bind(x, in)); break;
      case 2: status = session.run_round(bind(x, one.span()), bind(y, out)); break;
      case 3: status = session.run_round(prebound); break;
      case 4: status = session.begin_round(bind(x, one.span()), bind(y, to.span())).launch().finish().status(); break;
      case 5:
        REQUIRE(bindings.bind(x.key.tensor(), two.span().data().template as<std::byte>(), Bytes{4 * size}).ok());
        REQUIRE(bindings.bind(y.key.tensor(), to.span().data().template as<std::byte>(), Bytes{4 * size}).ok());
        CHECK(bindings.why_copied(x.key.tensor()) ==
              std::string_view("the address of the tensor is fixed, so the device memory is copied on the device"));
        status = session.run_round(bindings);
        break;
    }
    REQUIRE_MESSAGE(status.ok(), std::string(session.explain(status).c_str()));
    const bool is_on_host = round % 6 == 0 || round % 6 == 2;
    CHECK(out == (is_on_host ? turned(in, 1) : Floats(size, -1)));
    CHECK(to.values() == (is_on_host ? Floats(size, -1) : turned(in, 1)));
    CHECK(one.values() == in);
  }
  // What was copied can be held.
  REQUIRE(session.run_round(bind(x, one.span()), bind(y, to.span())).ok());
  REQUIRE(session.hold(x).ok());
  one.fill(-1);
  REQUIRE(session.run_round(bind(x, one.span()), bind(y, to.span())).ok());
  CHECK(to.values() == turned(in, 1));
  REQUIRE(session.release_hold(x).ok());
  // Memory with strides is copied to and from the fixed addresses directly.
  DeviceFloats apart(session.platform(), 2 * size), apart_to(session.platform(), 2 * size);
  Floats spread(2 * size, -1), expected(2 * size, -1);
  for (std::size_t i = 0; i < size; ++i) spread[2 * i] = in[i], expected[2 * i] = turned(in, 1)[i];
  apart.write(spread);
  apart_to.fill(-1);
  const std::int64_t extents[] = {size}, strides[] = {8};
  const StridedLayout layout(4, extents, strides, 1);
  REQUIRE(bindings.bind(x.key.tensor(), apart.span().data().template as<std::byte>(), layout).ok());
  REQUIRE(bindings.bind(y.key.tensor(), apart_to.span().data().template as<std::byte>(), layout).ok());
  REQUIRE(session.run_round(bindings).ok());
  CHECK(apart_to.values() == expected);
  // A round writes no memory that it also binds to another tensor.
  const Status status = session.run_round(bind(x, one.span()), bind(y, one.span()));
  CHECK(status.code() == Errc::overlapping);
}

TEST_CASE_TEMPLATE("A view of a tensor with a fixed address is copied with it", P, RONDO_TEST_PLATFORMS) {
  constexpr std::size_t n = 24, first = 16;
  Turn<P> turn;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto tail = graph.output<float>("tail", {n - first});
  graph.add_call("turn", {reads(x), writes(y)}, turn, {1});
  graph.make_view(tail, y, first);
  auto session = open<P>(graph, busy_options<P>());
  DeviceFloats to(session.platform(), n), other(session.platform(), n);
  const auto end_of = [](DeviceSpan<float> span) {
    return DeviceSpan<float>{span.data().template as<std::byte>().offset(Bytes{4 * first}).template as<float>(),
                             n - first};
  };
  for (int round = 0; round < 3; ++round) {
    Floats in(n);
    for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<float>(100 * round + static_cast<int>(i));
    Floats out(n), end(n - first);
    REQUIRE(session.run_round(bind(x, in), bind(y, to.span()), bind(tail, end_of(to.span()))).ok());
    CHECK(to.values() == turned(in, 1));
    REQUIRE(session.run_round(bind(x, in), bind(y, out), bind(tail, end)).ok());
    CHECK(out == turned(in, 1));
    CHECK(end == Floats(out.begin() + first, out.end()));
    REQUIRE(session.run_round(bind(x, in), bind(y, to.span()), bind(tail, end)).ok());
    CHECK(end == Floats(out.begin() + first, out.end()));
    const Status status = session.run_round(bind(x, in), bind(y, to.span()), bind(tail, end_of(other.span())));
    CHECK(status.code() == Errc::alias_broken);
  }
}

TEST_CASE_TEMPLATE("Rounds in flight copy device memory to and from fixed addresses, in the order of submission", P,
                   RONDO_TEST_PLATFORMS) {
  constexpr std::size_t n = 20'000;
  Turn<P> turn;
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto z = graph.output<float>("z", {n});
  graph.add_call("turn", {reads(x), writes(y)}, turn, {1});
  graph.add<Double>(x, z);
  auto session = open_pipelined<P, 3>(graph, busy_options<P>());
  DeviceFloats one(session.platform(), n), two(session.platform(), n);
  DynamicBindings bindings(session);
  const auto bytes_of = [](auto& memory) { return memory.span().data().template as<std::byte>(); };
  constexpr Bytes all{n * sizeof(float)};
  // Each round of device memory reads what the last one wrote, directly or with a copy; the others are beside them.
  Floats value(n), read[32], out[32], doubled[32];
  for (std::size_t i = 0; i < n; ++i) value[i] = static_cast<float>(i % 1000);
  one.write(value);
  int delivered = 0;
  for (int round = 0; round < 32; ++round) {
    auto& from = round / 4 % 2 == 0 ? one : two;
    auto& to = round / 4 % 2 == 0 ? two : one;
    read[round] = round % 4 == 3 ? Floats(n, static_cast<float>(round)) : value;
    out[round] = doubled[round] = Floats(n, -1);
    const auto count = [&](Status) noexcept { ++delivered; };
    RoundTicket ticket;
    switch (round % 4) {
      case 0:
        ticket = session.submit_round(bind(x, from.span()), bind(y, out[round]), bind(z, to.span()), count);
        value = twice(value);
        break;
      case 1:
        ticket = session.submit_round(bind(x, to.span()), bind(y, from.span()), bind(z, doubled[round]), count);
        value = turned(value, 1);
        break;
      case 2:
        REQUIRE(bindings.bind(x.key.tensor(), bytes_of(from), all).ok());
        REQUIRE(bindings.bind(y.key.tensor(), bytes_of(to), all).ok());
        REQUIRE(bindings.bind(z.key.tensor(), doubled[round].data(), all).ok());
        ticket = session.submit_round(bindings, count);
        value = turned(value, 1);
        break;
      case 3:
        ticket = session.submit_round(bind(x, read[round]), bind(y, out[round]), bind(z, doubled[round]), count);
        break;
    }
    REQUIRE_MESSAGE(ticket.submitted().ok(), std::string(session.explain(ticket.submitted()).c_str()));
  }
  REQUIRE(session.wait_all().ok());
  CHECK(delivered == 32);
  for (int round = 0; round < 32; ++round) {
    CHECK(doubled[round] == (round % 4 == 0 ? Floats(n, -1) : twice(read[round])));
    CHECK(out[round] == (round % 4 == 0 || round % 4 == 3 ? turned(read[round], 1) : Floats(n, -1)));
  }
  CHECK(one.values() == value);
  CHECK(session.submit_round(bind(x, one.span()), bind(y, one.span()), bind(z, doubled[0])).submitted().code() ==
        Errc::overlapping);
}

TEST_CASE_TEMPLATE("Sizes and values of a library call follow the round's symbols, with a capture for each", P,
                   RONDO_TEST_PLATFORMS) {
  Turn<P> turn;
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const Dim by = graph.dim("by");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add_call("turn", {reads(x), writes(y)}, turn, {by});
  auto session = open_shaped<P>(graph, busy_options<P>());
  int calls = 0;
  for (int lap = 0; lap < 2; ++lap) {
    for (const std::size_t elements : {21U, 8U}) {
      for (const std::size_t turn_by : {0U, 1U, 2U}) {
        Floats in(elements), out(elements);
        for (std::size_t i = 0; i < elements; ++i) in[i] = static_cast<float>(i + elements);
        REQUIRE(session.run_round(with_symbols({{by, static_cast<std::int64_t>(turn_by)}}), bind(x, in), bind(y, out))
                    .ok());
        CHECK(out == turned(in, turn_by));
        ++calls;
      }
    }
  }
  if constexpr (counts_calls<P>) CHECK(turn.times.load() == (is_over_stand_in<P> ? calls / 2 : calls));
}

TEST_CASE_TEMPLATE("A library call that fails in a round fails it, is named, and poisons", P, RONDO_TEST_PLATFORMS) {
  Graph<P> g;
  auto options = busy_options<P>();
  if constexpr (requires { options.warm_up; }) options.warm_up = false;
  g.turn.refuses = 1'000;
  auto session = open<P>(g.graph, options);
  REQUIRE(session.upload(g.w, Floats(size, 1)).ok());
  const Floats x = input_of(1);
  Floats y(size, -1);
  const Status status = session.run_round(bind(g.x, x), bind(g.y, y));
  CHECK(status == Status::of_task(Errc::kernel_failed, index(g.call)).poisoning());
  CHECK(y == Floats(size, -1));
  const std::string text = session.explain(status).c_str();
  CHECK(text.find("'turn'") != std::string::npos);
  if constexpr (is_over_stand_in<P>) CHECK(text.find("returned 7") != std::string::npos);
}

namespace {

/// Submits a round of a shape in which a library call fails, and then another one.
template <class P, std::size_t depth>
void fail_in_flight() {
  Turn<P> turn;
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const TaskId call = graph.add_call("turn", {reads(x), writes(y)}, turn, {1});
  auto options = busy_options<P>();
  if constexpr (requires { options.warm_up; }) options.warm_up = false;
  turn.refuses = 1'000;
  auto session = open_shaped<P, DefaultPolicies, launch::Lru<64>, depth>(graph, options);
  const Floats in(size);
  Floats out(size);
  const Status status = session.wait(session.submit_round(bind(x, in), bind(y, out)));
  CHECK(status == Status::of_task(Errc::kernel_failed, index(call)).poisoning());
  const std::string cause = session.explain(status).c_str();
  const Status later = session.run_round(bind(x, in), bind(y, out));
  CHECK(later == Status{Errc::poisoned}.poisoning());
  const std::string text = session.explain(later).c_str();
  CHECK_MESSAGE(text.find("The failure: " + cause) != std::string::npos, text);
}

/// A library that loses the device while a session opens.
struct Losing {
  void session_opens(const CallSession&) { throw Error(Errc::timed_out, Error::Text("the library waited for rank 7")); }
  void session_closes(const CallSession&) noexcept {}
  int operator()(const LibraryCall&) { return 0; }
};

}  // namespace

TEST_CASE_TEMPLATE("A submitted round of a shape in which a library call fails is the failure that later rounds name",
                   P, RONDO_TEST_PLATFORMS) {
  fail_in_flight<P, 1>();
  fail_in_flight<P, 3>();
}

TEST_CASE_TEMPLATE("A new shape for which a library loses the device fails with the library's own words", P,
                   RONDO_TEST_PLATFORMS) {
  Losing losing;
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {graph.dim("n")});
  graph.add_call("lose", {updates(x)}, losing);
  auto session = open_shaped<P>(graph, busy_options<P>());
  Floats values(size);
  const Status status = session.run_round(bind(x, values));
  CHECK(status == Status{Errc::timed_out}.poisoning());
  const Status later = session.run_round(bind(x, values));
  CHECK(later == Status{Errc::poisoned}.poisoning());
  for (const Status each : {later, status}) {
    const std::string text = session.explain(each).c_str();
    CHECK_MESSAGE(text.find("the library waited for rank 7") != std::string::npos, text);
  }
}

TEST_CASE_TEMPLATE("A library call that cannot be captured is made in each round", P, A2A3OverStandIn, A5OverStandIn) {
  Graph<P> g;
  auto options = busy_options<P>();
  if constexpr (requires { options.warm_up; }) options.warm_up = false;
  g.turn.refuses = 1'000;
  auto session = open<P>(g.graph, options);
  REQUIRE(session.upload(g.w, Floats(size, 1)).ok());
  g.turn.refuses = 0;
  const int before = g.turn.times;
  for (int round = 0; round < 4; ++round) {
    const Floats x = input_of(round);
    Floats y(size);
    REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
    CHECK(y == expected_of(round));
  }
  CHECK(!session.platform().is_captured());
  CHECK(g.turn.times.load() == before + 4);
}
