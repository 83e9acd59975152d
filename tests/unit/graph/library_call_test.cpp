// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/call_sessions.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/graph/instantiate.hpp>
#include <rondo/graph/task_graph.hpp>

#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Noted {
  std::vector<std::int64_t> seen;
  int code = 0;
  int operator()(const LibraryCall& call) {
    seen = {static_cast<std::int64_t>(call.tensors()),
            static_cast<std::int64_t>(call.address(0)),
            call.elements(0),
            static_cast<std::int64_t>(call.address(1)),
            call.elements(1),
            call.value(0),
            call.value(1)};
    return code;
  }
};

/// The words of the graph's only task, with 100, 200, … for the addresses in their order.
std::vector<ArgWord> words_of(const TaskGraph& graph) {
  const graph::TaskRecord& task = graph.tasks()[0];
  std::vector<ArgWord> words(task.block_bytes / sizeof(ArgWord));
  ArgWord address = 0;
  for (const graph::ArgRecord& arg : graph.args_of(task)) {
    words[arg.offset / sizeof(ArgWord)] = arg.is_address() ? address += 100 : arg.bits;
  }
  return words;
}

}  // namespace

TEST_CASE("A library call is handed addresses, elements and values in the order of add_call()") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2, 3});
  const auto y = graph.output<std::int32_t>("y", {4});
  Noted call;
  const TaskId id = graph.add_call("noted", {reads(x), writes(y)}, call, {7, 9});
  const graph::TaskRecord& task = graph.tasks()[index(id)];
  REQUIRE((task.call != nullptr));
  CHECK(graph.name(task.name) == "noted");
  std::vector<ArgWord> words = words_of(graph);
  task.entry(words.data());
  CHECK(call.seen == std::vector<std::int64_t>{2, 100, 6, 200, 4, 7, 9});
  int stream = 0;
  call.code = 5;
  CHECK(task.call(words.data(), &stream) == 5);
  CHECK(raised([&] { task.entry(words.data()); }).code == Errc::kernel_failed);
}

TEST_CASE("A library call that throws on a stream gives a code and a text instead") {
  Error::Text text;
  const CallEntry throws_error = [](ArgWord*, void*) -> int {
    throw Error(Errc::invalid_argument, Error::Text("the call has no plan"));
  };
  CHECK(call_on_stream(throws_error, nullptr, nullptr, text) == call_threw);
  CHECK(text == Error::Text("the call has no plan"));
  CHECK(call_on_stream([](ArgWord*, void*) -> int { throw 7; }, nullptr, nullptr, text) == call_threw);
  CHECK(text == Error::Text("an exception"));
}

TEST_CASE("The tensors of a library call have fixed addresses") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  const auto z = graph.input<float>("z", {4});
  graph.add_call("nothing", {reads(x), writes(y)}, [](const LibraryCall&) {});
  CHECK(graph.tensors()[index(x.key.tensor())].fixed);
  CHECK(graph.tensors()[index(y.key.tensor())].fixed);
  CHECK(!graph.tensors()[index(z.key.tensor())].fixed);
}

TEST_CASE("Elements and values of a library call follow the symbols") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const Dim m = graph.dim("m");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n * 2});
  Noted call;
  graph.add_call("noted", {reads(x), writes(y)}, call, {m - n, 3});
  const std::int64_t values[] = {5, 8};
  std::vector<ArgWord> words = words_of(instantiate(graph, values));
  freeze(instantiate(graph, values)).view().tasks[0].entry(words.data());
  CHECK(call.seen == std::vector<std::int64_t>{2, 100, 5, 200, 10, 3, 3});
  const std::int64_t negative[] = {8, 5};
  const Raised refused = raised([&] { (void)instantiate(graph, negative); });
  CHECK(refused.code == Errc::invalid_argument);
  CHECK(says(refused.text, "'noted'", "n = 8", "m = 5"));
}

TEST_CASE("A library call whose tensors or values are wrong is refused, and the graph is as before") {
  TaskGraph graph, other;
  const auto x = graph.inout<float>("x", {4});
  const auto foreign = other.input<float>("x", {4});
  const auto nothing = [](const LibraryCall&) {};
  const auto refuses = [&](const auto& add, const char* part) {
    const Raised r = raised(add);
    CAPTURE(r.text);
    CHECK(r.code == Errc::invalid_argument);
    CHECK(says(r.text, "'c'", part));
    CHECK(graph.tasks().empty());
    CHECK(!graph.tensors()[0].fixed);
  };
  refuses([&] { graph.add_call("c", {}, nothing); }, "touches no tensor");
  refuses([&] { graph.add_call("c", {reads(foreign)}, nothing); }, "another graph");
  refuses([&] { graph.add_call("c", {reads(x), writes(x)}, nothing); }, "twice");
  refuses([&] { graph.add_call("c", {reads(x)}, nothing, {-1}); }, "value");
  refuses([&] { graph.add_call("c", {reads(x)}, nothing, {Dim::symbol(3)}); }, "another graph");
  CHECK(raised([&] { graph.add_call("", {reads(x)}, nothing); }).code == Errc::invalid_argument);
}

namespace {

/// Notes what it is told of sessions.
struct Listener {
  std::string* told = nullptr;
  bool refuses = false;
  void session_opens(const CallSession& session) {
    told->append("opens ").append(std::to_string(session.position)).append(" on ").append(session.platform.name);
    told->append("; ");
    if (refuses) throw Error(Errc::unsupported, Error::Text("not here"));
  }
  void session_closes(const CallSession& session) noexcept {
    told->append("closes ").append(std::to_string(session.position)).append("; ");
  }
  void operator()(const LibraryCall&) const {}
};
/// The same without state.
struct StatelessListener {
  static inline std::string told;
  void session_opens(const CallSession& session) { Listener{&told}.session_opens(session); }
  void session_closes(const CallSession& session) noexcept { Listener{&told}.session_closes(session); }
  void operator()(const LibraryCall&) const {}
};
/// A call that waits for others.
struct Waiter {
  static constexpr bool waits_for_others = true;
  void operator()(const LibraryCall&) const {}
};

}  // namespace

TEST_CASE("Calls are told of a session in the order of the graph, and of its end once, in the reverse order") {
  std::string told;
  Listener first{&told}, second{&told};
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {4});
  graph.add_call("first", {updates(x)}, first);
  graph.add_call("between", {updates(x)}, [](const LibraryCall&) {});
  graph.add_call("second", {updates(x)}, second);
  const FrozenGraph frozen = freeze(graph);
  {
    graph::CallSessions calls(frozen.view(), {"a platform", true, -1});
    CHECK(told == "opens 0 on a platform; opens 2 on a platform; ");
    calls.close();
    CHECK(told == "opens 0 on a platform; opens 2 on a platform; closes 2; closes 0; ");
  }
  CHECK(told == "opens 0 on a platform; opens 2 on a platform; closes 2; closes 0; ");
  told.clear();
  second.refuses = true;
  CHECK_THROWS_AS(graph::CallSessions(frozen.view(), {"a platform", true, -1}), Error);
  CHECK(told == "opens 0 on a platform; opens 2 on a platform; closes 0; ");
}

TEST_CASE("A call without state is told of a session as well") {
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {4});
  graph.add_call("only", {updates(x)}, StatelessListener{}, {7});
  const FrozenGraph frozen = freeze(graph);
  {
    const graph::CallSessions calls(frozen.view(), {"a platform", true, -1});
  }
  CHECK(StatelessListener::told == "opens 0 on a platform; closes 0; ");
}

TEST_CASE("Calls that wait for others come last among the tasks that can run") {
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {4});
  const auto y = graph.inout<float>("y", {4});
  const auto z = graph.inout<float>("z", {4});
  const auto nothing = [](const LibraryCall&) {};
  graph.add_call("begin x", {updates(x)}, nothing);
  graph.add_call("end x", {updates(x)}, Waiter{});
  graph.add_call("use x", {updates(x)}, nothing);
  graph.add_call("begin y", {updates(y)}, nothing);
  graph.add_call("end y", {updates(y)}, Waiter{});
  graph.add_call("other", {updates(z)}, nothing);
  graph.add_call("use x and y", {updates(x), updates(y)}, nothing);
  const auto order_of = [](const TaskGraph& g) {
    const FrozenGraph frozen = freeze(g);
    std::string order;
    for (const auto& task : frozen.view().tasks) order.append(frozen.view().name(task.name)).append("; ");
    return order;
  };
  CHECK(order_of(graph) == "begin x; begin y; other; end x; use x; end y; use x and y; ");
}
