// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/freeze.hpp>
#include <rondo/graph/instantiate.hpp>
#include <rondo/graph/task_graph.hpp>

#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
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
