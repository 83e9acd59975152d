// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/loops.hpp>

#include <rondo/arch/a2a3.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/graph/instantiate.hpp>
#include <rondo/graph/limits.hpp>
#include <rondo/graph/outline.hpp>
#include <rondo/memory/lifetimes.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace rondo;

namespace {

using Int = std::int32_t;

struct Set {
  static constexpr std::string_view name = "set";
  static constexpr auto core = CoreType::vector;
  static void run(Out<Int>) noexcept {}
};
struct Use {
  static constexpr std::string_view name = "use";
  static constexpr auto core = CoreType::vector;
  static void run(In<Int>, Out<Int>) noexcept {}
};
struct Step {
  static constexpr std::string_view name = "step";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<Int>) noexcept {}
};
struct NeedsZeros {
  static constexpr std::string_view name = "wants_zeros";
  static constexpr auto core = CoreType::vector;
  static constexpr Zeros zeros{.parameter = 0};
  static void run(InOut<Int>) noexcept {}
};

/// The text of the Error that `run` throws.
template <class Run>
std::string told(Run run, Errc code = Errc::invalid_argument) {
  try {
    run();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "nothing was thrown";
}
bool has(const std::string& text, std::string_view part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE(text);
  return found;
}

constexpr std::uint32_t none = graph::TaskRecord::no_loop;

struct Graph : TaskGraph {
  Workspace<Int> small(const char* name) { return workspace<Int>(name, {1}); }
  Workspace<Int> large(const char* name) { return workspace<Int>(name, {256}); }
};

std::vector<std::string> names_in_order(const FrozenGraph& frozen) {
  std::vector<std::string> names;
  for (const graph::TaskRecord& task : frozen.view().tasks) names.emplace_back(frozen.view().name(task.name));
  return names;
}

}  // namespace

TEST_CASE("A loop is refused with what is wrong, where, and what to do") {
  Graph g;
  const auto done = g.small("done");
  const auto nothing = [] {};
  const auto set = [&] { g.add<Set>(done); };

  CHECK(has(told([&] { g.repeat_until(g.workspace<float>("f", {1}), 3, set); }),
            "loop 'until f': its condition is float32; make it an integer or bool"));
  CHECK(has(told([&] { g.when(g.large("many"), set); }),
            "loop 'when many': its condition has more than one element; give it the shape {1}"));
  TaskGraph other;
  CHECK(has(told([&] { g.repeat_until(other.workspace<Int>("done", {1}), 3, set); }), "of another graph"));
  CHECK(has(told([&] { g.repeat_until(done, 3, nothing); }), "loop 'until done' has no tasks; add some in its body"));
  CHECK(has(told([&] { g.repeat_until(done, 3, [&] { g.add<Set>(g.small("else")); }); }),
            "loop 'until done': no task of its body writes 'done', so nothing ends it early; let one write it"));
  CHECK(has(told([&] { g.repeat_until(done, 0, set); }), "repeats at most 0 times; at least 1"));
  CHECK(has(told([&] { g.repeat_until(done, 1LL << 32, set); }), "repeats at most 4294967296 times"));
  CHECK(has(told([&] { g.repeat_until(done, 3, set, 4.0); }), "expected repetitions are not between 0 and the most"));
  CHECK(has(told([&] { g.repeat_until(done, 3, set, -1.0); }), "expected repetitions"));
  Graph symbolic;
  const auto found = symbolic.small("found");
  const auto search = [&] { symbolic.add<Set>(found); };
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(has(told([&] { symbolic.repeat_until(found, symbolic.dim("n"), search, infinite); }), "expected repetitions"));
  CHECK(has(told([&] {
              g.repeat_until(done, 3, [&] {
                set();
                (void)freeze(g);
              });
            }),
            "freezes the graph that it is part of"));
  CHECK(has(told([&] {
              symbolic.repeat_until(found, 3, [&] {
                search();
                const std::int64_t values[] = {1};
                (void)instantiate(symbolic, values);
              });
            }),
            "freezes the graph that it is part of"));
  const Graph copy = g;
  for (const bool is_moved : {false, true}) {
    const auto replace = [&] {
      if (is_moved) {
        const Graph taken = std::move(g);
      } else {
        g = copy;
      }
    };
    CHECK(has(told([&] { g.when(done, replace); }), "moved or replaced the graph; let it only add tasks to it"));
    CHECK(has(told([&] { g.repeat_until(done, 3, replace); }), "moved or replaced the graph"));
  }
  CHECK(has(told([&] { g.repeat_until(done, 3, [&] { g.add<NeedsZeros>(g.small("zeros")), set(); }); }),
            "which is zeroed once a round, while the loop may run the task more often"));
  // Nothing of them is left, so the names of their tensors are free.
  CHECK_NOTHROW((void)g.small("else"));
  CHECK(g.tasks().empty());
  CHECK(g.args().empty());
  CHECK(g.loops().empty());
  CHECK(index(g.add<Set>(done)) == 0);
  CHECK(g.tasks()[0].loop == graph::TaskRecord::no_loop);
}

TEST_CASE("Each integer type and bool can be a condition, and no other type") {
  for (std::size_t t = 0; t < data_type_count; ++t) {
    const auto type = static_cast<DataType>(t);
    const std::string name = to_string(type);
    CAPTURE(name);
    CHECK(is_integer(type) == (name == "bool" || name.find("int") != std::string::npos));
  }
}

TEST_CASE("Loops nest up to a depth") {
  const auto nested = [](std::uint32_t depth) {
    Graph g;
    const auto done = g.small("done");
    const auto add = [&](const auto& self, std::uint32_t left) -> void {
      g.add<Set>(done);
      if (left != 0) g.repeat_until(done, 2, [&] { self(self, left - 1); });
    };
    add(add, depth);
    return freeze(g).view().loops.size();
  };
  CHECK(nested(TaskGraph::most_loop_depth) == TaskGraph::most_loop_depth);
  CHECK(has(told([&] { nested(TaskGraph::most_loop_depth + 1); }, Errc::limit_exceeded),
            "loop 'until done' is in 4 loops; the most is 3, so move its tasks to the loop around it"));
}

TEST_CASE("A value that only a 'when' writes is not defined after it") {
  Graph g;
  const auto flag = g.small("flag"), a = g.small("a"), b = g.small("b");
  g.add<Set>(flag);
  SUBCASE("and is no input of a task after it") {
    g.when(flag, [&] { g.add<Set>(a); });
    g.add<Use>(a, b);
    CHECK(has(told([&] { (void)freeze(g); }, Errc::uninitialized_read),
              "reads tensor 'a', which only tasks of a 'when' write; write it before, too"));
  }
  SUBCASE("nor an output of the graph") {
    const auto y = g.output<Int>("y", {1});
    g.when(flag, [&] { g.add<Set>(y); });
    CHECK(has(told([&] { (void)freeze(g); }), "'y' is an output that only tasks of a 'when' write; write it before"));
  }
  SUBCASE("unless it was written before") {
    g.add<Set>(a);
    g.when(flag, [&] { g.add<Set>(a); });
    g.add<Use>(a, b);
    CHECK_NOTHROW((void)freeze(g));
  }
  SUBCASE("but it is within, and after a repetition") {
    g.when(flag, [&] {
      g.add<Set>(a);
      g.add<Use>(a, b);
    });
    const auto done = g.small("done"), c = g.small("c"), d = g.small("d");
    g.repeat_until(done, 2, [&] {
      g.add<Set>(c);
      g.add<Set>(done);
    });
    g.add<Use>(c, d);
    CHECK_NOTHROW((void)freeze(g));
  }
}

TEST_CASE("The tasks of a loop follow one another, and edges order it as a whole") {
  Graph g;
  const auto done = g.small("done"), flag = g.small("flag"), a = g.small("a"), b = g.small("b");
  TaskId in_loop{};
  const TaskId first = g.add<Set>(flag);
  const TaskId loop = g.repeat_until(done, 2, [&] {
    in_loop = g.add<Set>(a);
    g.add<Step>(a);
    g.add<Set>(done);
  });
  const TaskId branch = g.when(flag, [&] { g.add<Set>(b); });
  const TaskId alone = g.add<Set>(g.small("c"));

  SUBCASE("in the order of add()") {
    CHECK(names_in_order(freeze(g)) ==
          std::vector<std::string>{"set", "set", "step", "set", "until done", "when flag", "set", "set"});
  }
  SUBCASE("also after what is added later") {
    g.add_edge(alone, in_loop);
    const FrozenGraph frozen = freeze(g);
    CHECK(names_in_order(frozen) ==
          std::vector<std::string>{"set", "when flag", "set", "set", "set", "step", "set", "until done"});
    const graph::LoopRecord& record = frozen.view().loops[0];
    CHECK(record.first == 4);
    CHECK(record.last == 8);
    CHECK(record.decision == 7);
    CHECK(frozen.view().loops[1].decision == 1);
    CHECK(frozen.view().loops[1].last == 3);
  }
  SUBCASE("and not around it") {
    g.add_edge(in_loop, alone);
    g.add_edge(alone, loop);
    CHECK(has(told([&] { (void)freeze(g); }, Errc::cycle), "the edges form a cycle"));
  }
  SUBCASE("and an outline has it as one task") {
    g.add_edge(in_loop, branch);
    const FrozenGraph frozen = freeze(g);
    const graph::Outline outline(frozen.view());
    const graph::GraphView view = outline.view();
    REQUIRE(view.tasks.size() == 4);
    CHECK(view.name(view.tasks[1].name) == "until done");
    CHECK(view.tasks[1].added_as == index(loop));
    CHECK(view.args_of(view.tasks[1]).size() == 2);  // a and done
    CHECK(view.predecessor_count[2] == 2);           // what sets the flag, and the loop
    CHECK(outline.items()[1].last - outline.items()[1].first == 4);
    CHECK(index(first) == 0);
    const graph::Outline inner(frozen.view(), 0);
    CHECK(inner.view().tasks.size() == 4);
    CHECK(inner.view().predecessor_count[3] == 3);  // the decision comes last
  }
}

TEST_CASE("An edge across a loop orders all its tasks, with few edges") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    auto random = rondo::test::make_random(seed);
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    TaskGraph g{Edges::explicit_};
    const auto flag = g.input<Int>("flag", {1});
    std::size_t tensors = 0;
    const auto add = [&] { (void)g.add<Set>(g.workspace<Int>(std::to_string(tensors++), {1})); };
    const auto add_some = [&](const auto& self, int depth) -> void {
      for (std::size_t n = 1 + below(4); n != 0; --n) {
        if (const std::size_t kind = depth < 3 ? below(4) : 0; kind < 2) {
          add();
        } else if (kind == 2) {
          g.when(flag, [&] { self(self, depth + 1); });
        } else {
          const auto done = g.workspace<Int>("done" + std::to_string(tensors++), {1});
          g.repeat_until(done, 3, [&] { g.add<Set>(done), self(self, depth + 1); });
        }
      }
    };
    add_some(add_some, 0);
    const std::size_t tasks = g.tasks().size();
    for (std::size_t n = tasks < 2 ? 0 : tasks; n != 0; --n) {
      const std::size_t after = 1 + below(tasks - 1);
      const auto is_decision = [&](std::size_t t) {
        return g.tasks()[t].loop != none && g.loops()[g.tasks()[t].loop].decision == t;
      };
      const std::size_t before = below(after);
      if (!is_decision(before) && !is_decision(after)) {
        g.add_edge(TaskId{static_cast<std::uint32_t>(before)}, TaskId{static_cast<std::uint32_t>(after)});
      }
    }
    const FrozenGraph frozen = freeze(g);
    const graph::GraphView view = frozen.view();
    std::vector<std::vector<bool>> is_after(tasks, std::vector<bool>(tasks));  // by TaskId
    for (std::size_t p = tasks; p-- > 0;) {
      for (const std::uint32_t s : view.successors_of(p)) {
        is_after[view.tasks[p].added_as][view.tasks[s].added_as] = true;
        for (std::size_t t = 0; t < tasks; ++t) {
          if (is_after[view.tasks[s].added_as][t]) is_after[view.tasks[p].added_as][t] = true;
        }
      }
    }
    // All tasks of the outermost loop that contains a task of an edge and not the other one.
    const auto moved_with = [&](std::uint32_t task, std::uint32_t other) {
      std::uint32_t outermost = none;
      for (std::uint32_t l = g.tasks()[task].loop; l != none; l = g.loops()[l].parent) {
        if (!graph::is_within(g.loops(), g.tasks()[other].loop, l)) outermost = l;
      }
      std::vector<std::uint32_t> all{task};
      for (std::uint32_t t = 0; outermost != none && t < tasks; ++t) {
        if (graph::is_within(g.loops(), g.tasks()[t].loop, outermost)) all.push_back(t);
      }
      return all;
    };
    for (const TaskGraph::Edge& edge : g.explicit_edges()) {
      for (const std::uint32_t before : moved_with(edge.before, edge.after)) {
        for (const std::uint32_t after : moved_with(edge.after, edge.before)) CHECK(is_after[before][after]);
      }
    }
  }
  // Two loops with chains of tasks.
  constexpr std::size_t length = 300;
  Graph g;
  const auto x = g.inout<Int>("x", {1}), done = g.inout<Int>("done", {1});
  const auto chain = [&] {
    for (std::size_t n = 0; n < length; ++n) g.add<Use>(x, done), g.add<Use>(done, x);
  };
  g.when(done, chain);
  g.repeat_until(done, 3, chain);
  CHECK(freeze(g).view().successors.size() < 40 * length);
}

TEST_CASE("Memory that a repetition may need is kept during the whole loop") {
  Graph g;
  const auto done = g.small("done");
  const auto before = g.large("before"), carried = g.large("carried"), a = g.large("a"), b = g.large("b");
  const auto x = g.large("x");
  const auto y = g.output<Int>("y", {256});
  g.add<Set>(before);   // time 1
  g.add<Set>(carried);  // 2
  g.repeat_until(done, 4, [&] {
    g.add<Use>(before, a);   // 3: from before the loop, so in each repetition
    g.add<Use>(a, b);        // 4
    g.add<Use>(b, x);        // 5
    g.add<Use>(carried, a);  // 6: from the previous repetition
    g.add<Use>(x, carried);  // 7
    g.add<Set>(done);        // 8, and the decision at 9
  });
  g.add<Use>(carried, y);  // 10
  const FrozenGraph frozen = freeze(g);
  const memory::Lifetimes lives = memory::find_lifetimes<arch::A2A3>(frozen.view(), memory::Concurrency::sequential);
  const auto life = [&](TensorKey tensor) { return lives.problem.buffers[lives.buffer_of[index(tensor.tensor())]]; };
  CHECK(life(before.key).lower == 1);
  CHECK(life(before.key).upper == 10);  // exclusive: until the last task of the loop
  CHECK(life(carried.key).lower == 2);
  CHECK(life(carried.key).upper == 11);
  CHECK(life(carried.key).gaps.empty());  // although it is overwritten after it was read
  CHECK(life(b.key).lower == 4);          // what a repetition writes first needs memory as without a loop
  CHECK(life(b.key).upper == 6);
  CHECK(life(a.key).lower == 3);
  CHECK(life(a.key).gaps.size() == 1);
}

TEST_CASE("The most repetitions may be a symbol, and a loop without work is left out") {
  Graph g;
  const Dim n = g.dim("n"), m = g.dim("m");
  const auto done = g.small("done"), empty = g.workspace<Int>("none", {m});
  g.repeat_until(done, n * 2, [&] {
    g.add<Set>(done);
    g.when(done, [&] { g.add<Set>(empty); });
  });
  const auto frozen_for = [&](std::int64_t values, std::int64_t size) {
    const std::int64_t symbols[] = {values, size};
    return freeze(graph::instantiate(g, symbols));
  };
  const FrozenGraph whole = frozen_for(3, 1);
  CHECK(whole.view().tasks.size() == 4);
  CHECK(whole.view().args_of(whole.view().tasks[whole.view().loops[0].decision]).back().bits == 6);
  const FrozenGraph part = frozen_for(3, 0);
  CHECK(part.view().tasks.size() == 2);
  CHECK_FALSE(part.view().loops[1].has_work());
  CHECK(has(told([&] { (void)frozen_for(0, 1); }),
            "loop 'until done' repeats at most 0 times, or 2^32 and more, with n = 0"));
}

TEST_CASE("A platform without loops refuses the first one by name") {
  Graph g;
  const auto done = g.small("done");
  g.repeat_until(done, 2, [&] { g.add<Set>(done); });
  CHECK(
      has(told([&] { graph::refuse_loops(freeze(g).view(), "mine"); }, Errc::unsupported),
          "loop 'until done', task 1: mine, with the engine that it is opened with, runs no loops; unroll it, or run"));
}

TEST_CASE("A body that throws leaves tensors from outside as they were") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.output<float>("y", {16});
  const auto t = graph.workspace<float>("t", {16});
  const auto u = graph.workspace<float>("u", {16});
  const auto done = graph.workspace<std::int32_t>("done", {1});
  const auto before = graph.interface();
  const std::vector<graph::TensorRecord> records(before.tensors.begin(), before.tensors.end());
  const auto body = [&] {
    const auto inner = graph.input<float>("inner", {16});
    graph.alias(y, inner);
    graph.make_view(u, x);
    graph.zero(t);
    graph.keep(t);
    graph.in_memory(t, MemoryKind::device);
    graph.when(done, [&] {
      graph.keep(x);
      graph.add_call("call", {reads(x)}, [](const LibraryCall&) {});
    });
    throw std::runtime_error("no more");
  };
  CHECK_THROWS_AS(graph.repeat_until(done, 3, body), std::runtime_error);
  REQUIRE(graph.interface().tensors.size() == records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    CAPTURE(i);
    const graph::TensorRecord& now = graph.interface().tensors[i];
    CHECK(now.alias_of == records[i].alias_of);
    CHECK(now.view_of == records[i].view_of);
    CHECK(now.zeroed == records[i].zeroed);
    CHECK(now.kept == records[i].kept);
    CHECK(now.fixed == records[i].fixed);
    CHECK(now.delivered == records[i].delivered);
  }
}
