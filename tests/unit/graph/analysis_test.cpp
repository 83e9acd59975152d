// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/analysis.hpp>

#include <random.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

using Reach = std::vector<std::vector<bool>>;

/// reach[a][b]: is there a path of at least one edge from a to b?
Reach closure(std::size_t tasks, const graph::EdgeList& edges) {
  Reach reach(tasks, std::vector<bool>(tasks, false));
  for (const auto& e : edges) reach[graph::task_before(e)][graph::task_after(e)] = true;
  for (std::size_t k = 0; k < tasks; ++k) {
    for (std::size_t i = 0; i < tasks; ++i) {
      for (std::size_t j = 0; j < tasks; ++j) {
        if (reach[i][k] && reach[k][j]) reach[i][j] = true;
      }
    }
  }
  return reach;
}

bool conflict(const TaskGraph& g, std::size_t i, std::size_t j) {
  const auto args = [&](std::size_t t) {
    const graph::TaskRecord& r = g.tasks()[t];
    return std::vector<graph::ArgRecord>(g.args().begin() + r.first_arg, g.args().begin() + r.first_arg + r.arg_count);
  };
  for (const auto& a : args(i)) {
    for (const auto& b : args(j)) {
      const bool both = a.kind == graph::ArgRecord::Kind::address && b.kind == graph::ArgRecord::Kind::address;
      if (both && a.tensor == b.tensor && (writes(a.access) || writes(b.access))) return true;
    }
  }
  return false;
}

/// Tasks with up to three random uses each of inouts, which are defined from the start.
TaskGraph random_graph(std::mt19937& random, std::size_t tasks, std::size_t tensors, Edges edges) {
  TaskGraph g{edges};
  std::vector<InputOutput<float>> handles;
  for (std::size_t t = 0; t < tensors; ++t) handles.push_back(g.inout<float>("t" + std::to_string(t), {1}));
  for (std::size_t k = 0; k < tasks; ++k) {
    std::vector<InputOutput<float>> mine = handles;
    std::shuffle(mine.begin(), mine.end(), random);
    const auto use = [&](std::size_t i) {
      const auto access = static_cast<Access>(random() % 3 + 1);
      return RawTensor<InputOutput<float>>{mine[i], access};
    };
    const std::string name = "k" + std::to_string(k);
    switch (std::min<std::size_t>(random() % 4, tensors)) {
      case 0: g.add_raw(name, CoreType::vector, no_kernel, 1); break;
      case 1: g.add_raw(name, CoreType::vector, no_kernel, use(0)); break;
      case 2: g.add_raw(name, CoreType::vector, no_kernel, use(0), use(1)); break;
      default: g.add_raw(name, CoreType::vector, no_kernel, use(0), 2.0F, use(1), use(2)); break;
    }
  }
  return g;
}

/// The order that the documentation promises, found the slow way.
std::vector<std::uint32_t> order_by_search(std::size_t tasks, const graph::EdgeList& edges) {
  std::vector<std::uint32_t> order;
  std::vector<bool> done(tasks, false);
  while (order.size() < tasks) {
    std::uint32_t next = 0;
    const auto ready = [&](std::uint32_t t) {
      return !done[t] && std::all_of(edges.begin(), edges.end(), [&](const auto& e) {
        return graph::task_after(e) != t || done[graph::task_before(e)];
      });
    };
    while (!ready(next)) ++next;
    done[next] = true;
    order.push_back(next);
  }
  return order;
}

void check_order(const TaskGraph& g, const graph::Analysis& a, const graph::EdgeList& edges) {
  const std::size_t n = g.tasks().size();
  REQUIRE(a.order == order_by_search(n, edges));
  REQUIRE(a.successor_begin.size() == n + 1);
  REQUIRE(a.predecessor_count.size() == n);
  REQUIRE(a.successor_begin.front() == 0);
  REQUIRE(a.successor_begin.back() == edges.size());
  graph::EdgeList back;
  std::vector<std::uint32_t> predecessors(n, 0);
  for (std::uint32_t p = 0; p < n; ++p) {
    for (std::uint32_t s = a.successor_begin[p]; s < a.successor_begin[p + 1]; ++s) {
      REQUIRE(a.successors[s] > p);  // after it
      if (s > a.successor_begin[p]) REQUIRE(a.successors[s] > a.successors[s - 1]);
      back.push_back({a.order[p], a.order[a.successors[s]]});
      ++predecessors[a.successors[s]];
    }
  }
  std::sort(back.begin(), back.end());
  REQUIRE(back == edges);
  REQUIRE(predecessors == a.predecessor_count);
}

/// The task numbers in "...: task 2 'b' -> task 0 'a' -> task 2 'b'; ...".
std::vector<std::uint32_t> tasks_named(const std::string& text) {
  std::vector<std::uint32_t> tasks;
  for (std::size_t at = text.find("task "); at != std::string::npos; at = text.find("task ", at + 1)) {
    tasks.push_back(static_cast<std::uint32_t>(std::stoul(text.substr(at + 5))));
  }
  return tasks;
}

}  // namespace

TEST_CASE("Derived edges order exactly what conflicts, in the order of add") {
  auto random = rondo::test::make_random(11);
  for (int round = 0; round < 400; ++round) {
    const std::size_t tasks = random() % 13;
    const TaskGraph g = random_graph(random, tasks, 1 + random() % 5, Edges::derived);
    graph::EdgeList conflicts;
    for (std::uint32_t i = 0; i < tasks; ++i) {
      for (std::uint32_t j = i + 1; j < tasks; ++j) {
        if (conflict(g, i, j)) conflicts.push_back({i, j});
      }
    }
    const graph::EdgeList edges = graph::collect_edges(g);
    REQUIRE(closure(tasks, edges) == closure(tasks, conflicts));
    for (const auto& e : edges) REQUIRE(conflict(g, graph::task_before(e), graph::task_after(e)));
    REQUIRE(std::is_sorted(edges.begin(), edges.end()));
    REQUIRE(std::adjacent_find(edges.begin(), edges.end()) == edges.end());
    check_order(g, graph::analyze(g), edges);
  }
}

TEST_CASE("Of explicit edges a cycle is found exactly when there is one, and a race exactly when two may meet") {
  auto random = rondo::test::make_random(12);
  int cycles = 0;
  int races = 0;
  int good = 0;
  for (int round = 0; round < 1500; ++round) {
    const std::size_t tasks = 2 + random() % 9;
    TaskGraph g = random_graph(random, tasks, 1 + random() % 6, Edges::explicit_);
    const std::size_t edges_wanted = random() % (3 * tasks);
    const bool forward = random() % 4 != 0;
    for (std::size_t e = 0; e < edges_wanted; ++e) {
      auto a = static_cast<std::uint32_t>(random() % tasks);
      auto b = static_cast<std::uint32_t>(random() % tasks);
      if (forward && a == b) continue;
      if (forward && a > b) std::swap(a, b);
      g.add_edge(TaskId{a}, TaskId{b});
    }
    const graph::EdgeList edges = graph::collect_edges(g);
    const Reach reach = closure(tasks, edges);
    bool cycle = false;
    bool race = false;
    for (std::size_t i = 0; i < tasks; ++i) {
      cycle |= reach[i][i];
      for (std::size_t j = i + 1; j < tasks; ++j) race |= conflict(g, i, j) && !reach[i][j] && !reach[j][i];
    }
    const Raised r = raised([&] { check_order(g, graph::analyze(g), edges); });
    CAPTURE(r.text);
    REQUIRE(r.code == (cycle ? Errc::cycle : race ? Errc::race : Errc::ok));
    if (cycle) {
      ++cycles;
      const std::vector<std::uint32_t> named = tasks_named(r.text);
      REQUIRE(named.size() >= 2);
      REQUIRE(named.front() == named.back());
      for (std::size_t i = 0; i + 1 < named.size(); ++i) {
        REQUIRE(std::binary_search(edges.begin(), edges.end(), rondo::detail::Keyed{named[i], named[i + 1]}));
      }
    } else if (race) {
      ++races;
      const std::vector<std::uint32_t> named = tasks_named(r.text);
      REQUIRE(named.size() == 2);
      REQUIRE(conflict(g, named[0], named[1]));
      REQUIRE_FALSE(reach[named[0]][named[1]]);
      REQUIRE_FALSE(reach[named[1]][named[0]]);
    } else {
      ++good;
    }
  }
  // Enough of each, or the property says nothing.
  CHECK(cycles > 100);
  CHECK(races > 100);
  CHECK(good > 100);
}

TEST_CASE("Explicit edges add to the derived ones and may not contradict them") {
  TaskGraph g;
  const auto x = g.inout<float>("x", {1});
  const auto y = g.inout<float>("y", {1});
  const TaskId a = g.add_raw("a", CoreType::vector, no_kernel, updates(x));
  const TaskId b = g.add_raw("b", CoreType::vector, no_kernel, updates(y));
  const TaskId c = g.add_raw("c", CoreType::vector, no_kernel, updates(x));
  g.add_edge(b, a);
  CHECK(graph::analyze(g).order == std::vector<std::uint32_t>{1, 0, 2});
  g.add_edge(c, a);
  const Raised r = raised([&] { (void)graph::analyze(g); });
  CAPTURE(r.text);
  CHECK(r.code == Errc::cycle);
}

TEST_CASE("The text of a cycle names its tasks in order and says what to do") {
  TaskGraph g{Edges::explicit_};
  const TaskId a = g.add_raw("alpha", CoreType::vector, no_kernel);
  const TaskId b = g.add_raw("beta", CoreType::vector, no_kernel);
  const TaskId c = g.add_raw("gamma", CoreType::vector, no_kernel);
  const TaskId d = g.add_raw("delta", CoreType::vector, no_kernel);
  g.add_edge(a, b);
  g.add_edge(b, c);
  g.add_edge(c, b);
  g.add_edge(c, d);
  const Raised r = raised([&] { (void)graph::analyze(g); });
  CAPTURE(r.text);
  CHECK(r.code == Errc::cycle);
  CHECK((says(r.text, "task 1 'beta' -> task 2 'gamma' -> task 1 'beta'") ||
         says(r.text, "task 2 'gamma' -> task 1 'beta' -> task 2 'gamma'")));
  CHECK_FALSE(says(r.text, "alpha"));
  CHECK_FALSE(says(r.text, "delta"));
  CHECK(says(r.text, "remove the edge"));
}

TEST_CASE("A task that waits for itself is a cycle of one") {
  TaskGraph g{Edges::explicit_};
  (void)g.add_raw("other", CoreType::vector, no_kernel);
  const TaskId a = g.add_raw("self", CoreType::vector, no_kernel);
  g.add_edge(a, a);
  const Raised r = raised([&] { (void)graph::analyze(g); });
  CAPTURE(r.text);
  CHECK(r.code == Errc::cycle);
  CHECK(says(r.text, "task 1 'self' -> task 1 'self'"));
}

TEST_CASE("Two writers without an edge are a race, named with their tensor; an edge mends it") {
  TaskGraph g{Edges::explicit_};
  const auto y = g.output<float>("result", {1});
  const TaskId a = g.add_raw("left", CoreType::vector, no_kernel, writes(y));
  const TaskId b = g.add_raw("right", CoreType::cube, no_kernel, writes(y));
  const Raised r = raised([&] { (void)graph::analyze(g); });
  CAPTURE(r.text);
  CHECK(r.code == Errc::race);
  CHECK(says(r.text, "task 0 'left'", "task 1 'right'", "'result'", "add an edge"));
  g.add_edge(b, a);
  CHECK(graph::analyze(g).order == std::vector<std::uint32_t>{1, 0});
}

TEST_CASE("A path over other tasks orders two that conflict") {
  TaskGraph g{Edges::explicit_};
  const auto x = g.inout<float>("x", {1});
  const TaskId a = g.add_raw("a", CoreType::vector, no_kernel, updates(x));
  const TaskId between = g.add_raw("between", CoreType::vector, no_kernel);
  const TaskId b = g.add_raw("b", CoreType::vector, no_kernel, reads(x));
  g.add_edge(a, between);
  CHECK(raised([&] { (void)graph::analyze(g); }).code == Errc::race);
  g.add_edge(between, b);
  CHECK(graph::analyze(g).order == std::vector<std::uint32_t>{0, 1, 2});
}

TEST_CASE("Two readers of a tensor need no edge") {
  TaskGraph g{Edges::explicit_};
  const auto x = g.input<float>("x", {1});
  (void)g.add_raw("a", CoreType::vector, no_kernel, reads(x));
  (void)g.add_raw("b", CoreType::vector, no_kernel, reads(x));
  const graph::Analysis a = graph::analyze(g);
  CHECK(a.successors.empty());
}

TEST_CASE("Reading a workspace or an output before it is written is refused, naming task and tensor") {
  for (const bool workspace : {true, false}) {
    TaskGraph g;
    const auto x = g.input<float>("x", {1});
    (void)g.add_raw("first", CoreType::vector, no_kernel, reads(x));
    if (workspace) {
      const auto t = g.workspace<float>("scratch", {1});
      (void)g.add_raw("early", CoreType::vector, no_kernel, reads(t));
      (void)g.add_raw("late", CoreType::vector, no_kernel, writes(t));
    } else {
      const auto t = g.output<float>("scratch", {1});
      (void)g.add_raw("early", CoreType::vector, no_kernel, updates(t));
    }
    const Raised r = raised([&] { (void)graph::analyze(g); });
    CAPTURE(r.text);
    CHECK(r.code == Errc::uninitialized_read);
    CHECK(says(r.text, "task 1 'early'", "'scratch'", "add the writer first", "make it an input"));
  }
}

TEST_CASE("Inputs, inouts and residents may be read before any task writes them") {
  TaskGraph g;
  const auto a = g.input<float>("a", {1});
  const auto b = g.inout<float>("b", {1});
  const auto c = g.resident<float>("c", {1});
  (void)g.add_raw("reader", CoreType::vector, no_kernel, reads(a), updates(b), updates(c));
  CHECK(graph::analyze(g).order.size() == 1);
}

TEST_CASE("An output that no task writes is refused by name") {
  TaskGraph g;
  const auto x = g.input<float>("x", {1});
  (void)g.output<float>("orphan", {1});
  (void)g.add_raw("reader", CoreType::vector, no_kernel, reads(x));
  const Raised r = raised([&] { (void)graph::analyze(g); });
  CAPTURE(r.text);
  CHECK(r.code == Errc::invalid_argument);
  CHECK(says(r.text, "'orphan'", "no task writes it", "remove it"));
}

TEST_CASE("A graph without tasks is in order") {
  const TaskGraph g;
  const graph::Analysis a = graph::analyze(g);
  CHECK(a.order.empty());
  CHECK(a.successor_begin == std::vector<std::uint32_t>{0});
}

TEST_CASE("An edge that is given twice counts once") {
  TaskGraph g{Edges::explicit_};
  const TaskId a = g.add_raw("a", CoreType::vector, no_kernel);
  const TaskId b = g.add_raw("b", CoreType::vector, no_kernel);
  g.add_edge(a, b);
  g.add_edge(a, b);
  const graph::Analysis analysis = graph::analyze(g);
  CHECK(analysis.successors.size() == 1);
  CHECK(analysis.predecessor_count == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("A long chain and a wide fan are analysed without recursion") {
  TaskGraph g;
  const auto x = g.inout<float>("x", {1});
  const auto y = g.inout<float>("y", {1});
  for (int i = 0; i < 5000; ++i) (void)g.add_raw("chain", CoreType::vector, no_kernel, updates(x));
  for (int i = 0; i < 5000; ++i) (void)g.add_raw("fan", CoreType::vector, no_kernel, reads(y));
  (void)g.add_raw("join", CoreType::vector, no_kernel, updates(y));
  const graph::Analysis a = graph::analyze(g);
  CHECK(a.successors.size() == 4999 + 5000);
  CHECK(a.predecessor_count[10000] == 5000);
}

TEST_CASE("Derived edges stay few where a tensor is written and read in turn") {
  constexpr std::size_t turns = 500;
  TaskGraph g;
  const auto x = g.inout<float>("x", {1});
  for (std::size_t i = 0; i < turns; ++i) {
    (void)g.add_raw("write", CoreType::vector, no_kernel, writes(x));
    (void)g.add_raw("read", CoreType::vector, no_kernel, reads(x));
  }
  CHECK(graph::collect_edges(g).size() == turns + 2 * (turns - 1));
}

TEST_CASE("Looking for a path visits each task once, however many ways there are") {
  // A ladder of diamonds has 2^60 paths; none of them reaches the task that stands apart.
  TaskGraph g{Edges::explicit_};
  const auto x = g.inout<float>("x", {1});
  TaskId top = g.add_raw("first", CoreType::vector, no_kernel, updates(x));
  for (int i = 0; i < 60; ++i) {
    const TaskId left = g.add_raw("left", CoreType::vector, no_kernel);
    const TaskId right = g.add_raw("right", CoreType::vector, no_kernel);
    const TaskId bottom = g.add_raw("bottom", CoreType::vector, no_kernel);
    g.add_edge(top, left);
    g.add_edge(top, right);
    g.add_edge(left, bottom);
    g.add_edge(right, bottom);
    top = bottom;
  }
  const TaskId apart = g.add_raw("apart", CoreType::vector, no_kernel, reads(x));
  CHECK(raised([&] { (void)graph::analyze(g); }).code == Errc::race);
  g.add_edge(top, apart);
  CHECK(graph::analyze(g).order.size() == 182);
}
