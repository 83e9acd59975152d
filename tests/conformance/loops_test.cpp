// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Loops: random programs give what the same tasks give one after the other, whatever runs them.

#include "conformance/counting_loop.hpp"
#include "conformance/device_floats.hpp"
#include "platforms.hpp"

#include <rondo/platform/host/host.hpp>
#include <rondo/session/in_flight.hpp>
#include <rondo/session/loop_report.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

using namespace rondo;
using namespace counting;

#define RONDO_TEST_PLATFORMS                                                                                      \
  A2A3Sim, A5SimOn<Pool>, HostOn<Pool>, A2A3SimOn<Checked<Pool>>, A5SimOn<Model>, A2A3OverStandIn, A5OverStandIn, \
      A2A3ThatComputes

namespace {

constexpr std::size_t size = 5;

// --- the kernels: exact arithmetic, so that results are equal bit for bit

[[nodiscard]] Int number(std::uint32_t bits) noexcept { return static_cast<Int>(bits); }
[[nodiscard]] std::uint32_t bits(Int n) noexcept { return static_cast<std::uint32_t>(n); }
[[nodiscard]] Int mixed(Int a, Int b, Int k) noexcept { return number(bits(a) * 31 + bits(b) * 17 + bits(k)); }

struct Mix {
  static constexpr std::string_view name = "mix";
  static constexpr auto core = CoreType::vector;
  static void run(In<Int> a, In<Int> b, Out<Int> y, Int k) noexcept {
    for (std::size_t i = 0; i < size; ++i) y[i] = mixed(a[i], b[(i + 1) % size], k);
  }
};
/// As Mix with one tensor, and may write it over its input.
struct Turn {
  static constexpr std::string_view name = "turn";
  static constexpr auto core = CoreType::cube;
  static constexpr InPlace in_place{.out = 1, .in = 0};
  static void run(In<Int> a, Out<Int> y, Int k) noexcept {
    for (std::size_t i = 0; i < size; ++i) y[i] = mixed(a[i], 3, k);
  }
};
struct Bump {
  static constexpr std::string_view name = "bump";
  static constexpr auto core = CoreType::vector;
  static void run(In<Int> a, InOut<Int> y) noexcept {
    for (std::size_t i = 0; i < size; ++i) y[i] = mixed(y[i], a[i], 1);
  }
};
/// Counts, and is done after 1 to `most` repetitions, as `a` says.
[[nodiscard]] Int wanted(Int a, Int most) noexcept { return 1 + number(bits(a) / 7 % bits(most)); }
struct Count {
  static constexpr std::string_view name = "count";
  static constexpr auto core = CoreType::vector;
  static void run(In<Int> a, InOut<Int> count, Out<Int> done, Int most) noexcept {
    done[0] = ++count[0] >= wanted(a[0], most) ? 256 : 0;  // not in the lowest byte
  }
};
struct IsOdd {
  static constexpr std::string_view name = "is_odd";
  static constexpr auto core = CoreType::vector;
  static void run(In<Int> a, Out<Int> flag) noexcept { flag[0] = a[0] & 1; }
};

// --- random programs

/// A task, or a loop with its body. Numbers of values; 0 is the input.
struct Op {
  enum class Kind { mix, turn, bump, repeat, when };
  Kind kind = Kind::mix;
  std::size_t a = 0, b = 0, y = 0;
  Int k = 0;
  std::vector<Op> body{};
};

class Program {
 public:
  explicit Program(std::uint32_t seed) : random_{rondo::test::make_random(seed)} {
    defined_[0] = true;
    ops_ = sequence(3, 0);
    last_ = pick();
  }

  [[nodiscard]] const std::vector<Op>& ops() const noexcept { return ops_; }
  [[nodiscard]] std::size_t last() const noexcept { return last_; }

  static constexpr std::size_t values = 9;

 private:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  std::size_t pick() {
    for (;;) {
      if (const std::size_t v = below(values); defined_[v]) return v;
    }
  }
  std::vector<Op> sequence(std::size_t least, int depth) {
    std::vector<Op> ops;
    for (std::size_t n = least + below(3); n != 0; --n) {
      Op op;
      const std::size_t kind = below(depth < 3 ? 7 : 4);
      op.kind = kind < 2    ? Op::Kind::mix
                : kind == 2 ? Op::Kind::turn
                : kind == 3 ? Op::Kind::bump
                : kind == 4 ? Op::Kind::when
                            : Op::Kind::repeat;
      op.a = pick();
      op.b = pick();
      op.k = static_cast<Int>(1 + below(3));
      if (op.kind == Op::Kind::bump) {
        op.y = pick();
        if (op.y == op.a) op.kind = Op::Kind::mix;
      }
      if (op.kind == Op::Kind::mix || op.kind == Op::Kind::turn) {
        do {
          op.y = below(values);
        } while (op.y == op.a || op.y == op.b);
        defined_[op.y] = true;
      }
      if (op.kind == Op::Kind::when || op.kind == Op::Kind::repeat) {
        const std::vector<bool> before = defined_;
        op.body = sequence(1, depth + 1);
        if (op.kind == Op::Kind::when) defined_ = before;
      }
      ops.push_back(op);
    }
    return ops;
  }

  std::mt19937 random_;
  std::vector<bool> defined_ = std::vector<bool>(values, false);
  std::vector<Op> ops_;
  std::size_t last_ = 0;
};

/// The program in plain C++. Keeps what it executed, without loops.
struct Interpreter {
  std::vector<Ints> value = std::vector<Ints>(Program::values, Ints(size));
  std::vector<Op> executed{};

  void run(const std::vector<Op>& ops) {
    for (const Op& op : ops) {
      const Ints a = value[op.a], b = value[op.b];
      Ints& y = value[op.y];
      switch (op.kind) {
        case Op::Kind::mix:
          for (std::size_t i = 0; i < size; ++i) y[i] = mixed(a[i], b[(i + 1) % size], op.k);
          break;
        case Op::Kind::turn:
          for (std::size_t i = 0; i < size; ++i) y[i] = mixed(a[i], 3, op.k);
          break;
        case Op::Kind::bump:
          for (std::size_t i = 0; i < size; ++i) y[i] = mixed(y[i], a[i], 1);
          break;
        case Op::Kind::when:
          if ((a[0] & 1) != 0) run(op.body);
          continue;
        case Op::Kind::repeat:
          for (Int count = 1;; ++count) {
            run(op.body);
            if (count >= wanted(value[op.a][0], 4) || count == op.k) break;
          }
          continue;
      }
      executed.push_back(op);
    }
  }
};

/// The program as a graph.
struct Graph {
  explicit Graph(const std::vector<Op>& ops, std::size_t last) {
    for (std::size_t v = 1; v < Program::values; ++v) {
      value.push_back(graph.workspace<Int>("v" + std::to_string(v), {size}));
    }
    graph.add<Mix>(x, x, value[0], 0);
    add(ops);
    graph.add<Mix>(value[last], value[0], y, 9);
  }

  Workspace<Int> scalar(const char* name) { return graph.workspace<Int>(name + std::to_string(scalars++), {1}); }
  void add(const std::vector<Op>& ops) {
    for (const Op& op : ops) {
      const auto a = value[op.a], b = value[op.b], to = value[op.y];
      switch (op.kind) {
        case Op::Kind::mix: graph.add<Mix>(a, b, to, op.k); break;
        case Op::Kind::turn: graph.add<Turn>(a, to, op.k); break;
        case Op::Kind::bump: graph.add<Bump>(a, to); break;
        case Op::Kind::when: {
          const auto flag = scalar("flag");
          graph.add<IsOdd>(a, flag);
          graph.when(flag, [&] { add(op.body); });
          break;
        }
        case Op::Kind::repeat: {
          const auto count = scalar("count"), done = scalar("done");
          graph.add<Clear>(count);
          graph.repeat_until(done, op.k, [&] {
            add(op.body);
            graph.add<Count>(a, count, done, 4);
          });
          break;
        }
      }
    }
  }

  TaskGraph graph;
  Input<Int> x = graph.input<Int>("x", {size});
  Output<Int> y = graph.output<Int>("y", {size});
  std::vector<Workspace<Int>> value{graph.workspace<Int>("v0", {size})};
  int scalars = 0;
};

Ints input_of(std::uint32_t seed) {
  auto random = rondo::test::make_random(seed);
  Ints x(size);
  for (Int& v : x) v = number(static_cast<std::uint32_t>(random()));
  return x;
}
Interpreter interpreted(const std::vector<Op>& ops, const Ints& x) {
  Interpreter result;
  for (std::size_t i = 0; i < size; ++i) result.value[0][i] = mixed(x[i], x[(i + 1) % size], 0);
  result.run(ops);
  return result;
}
Ints expected(const Interpreter& after, std::size_t last) {
  Ints y(size);
  for (std::size_t i = 0; i < size; ++i) y[i] = mixed(after.value[last][i], after.value[0][(i + 1) % size], 9);
  return y;
}

}  // namespace

TEST_CASE_TEMPLATE("Random loops give what their tasks give one after the other", P, RONDO_TEST_PLATFORMS) {
  std::size_t loops = 0;
  std::size_t compared_with_graphs = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Program program(seed);
    Graph g(program.ops(), program.last());
    loops += g.graph.loops().size();
    auto session = open<P>(g.graph, busy_options<P>());
    for (std::uint32_t round = 0; round < 6; ++round) {
      CAPTURE(round);
      const Ints x = input_of(1000 * seed + round);
      const Interpreter after = interpreted(program.ops(), x);
      Ints y(size);
      const Status status = session.run_round(bind(g.x, x), bind(g.y, y));
      REQUIRE_MESSAGE(status.ok(), session.explain(status).c_str());
      CHECK(y == expected(after, program.last()));
      if (round != 0 || after.executed.size() > 60) continue;
      ++compared_with_graphs;
      Graph unrolled(after.executed, program.last());
      auto other = open<P>(unrolled.graph, busy_options<P>());
      Ints z(size);
      REQUIRE(other.run_round(bind(unrolled.x, x), bind(unrolled.y, z)).ok());
      CHECK(z == y);
    }
  }
  CHECK(loops > 60);
  CHECK(compared_with_graphs > 20);
}

TEST_CASE_TEMPLATE("Loops run in rounds in flight", P, A2A3Sim, A5SimOn<Pool>, HostOn<Pool>, A2A3OverStandIn,
                   A5ThatComputes) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    const Program program(seed);
    Graph g(program.ops(), program.last());
    auto session = open_pipelined<P, 3>(g.graph, busy_options<P>());
    std::vector<Ints> x, y(30, Ints(size));
    for (std::uint32_t round = 0; round < 30; ++round) x.push_back(input_of(round));
    for (std::size_t round = 0; round < 30; ++round) {
      (void)session.submit_round(bind(g.x, x[round]), bind(g.y, y[round]));
    }
    REQUIRE(session.wait_all().ok());
    for (std::size_t round = 0; round < 30; ++round) {
      CHECK(y[round] == expected(interpreted(program.ops(), x[round]), program.last()));
    }
  }
}

TEST_CASE_TEMPLATE("A loop ends when its condition holds, or after the most repetitions", P, RONDO_TEST_PLATFORMS) {
  Counting g(10);
  auto session = open<P>(g.graph, busy_options<P>());
  for (const Int wanted : {1, 2, 9, 10}) CHECK(g.count_of(session, wanted) == wanted);
  CHECK(g.count_of(session, 11) == 10);
  CHECK(g.count_of(session, 3) == 3);
}

TEST_CASE_TEMPLATE("A kernel that fails in a loop is named, and poisons as elsewhere", P, A2A3Sim, A5SimOn<Pool>,
                   A2A3OverStandIn, A2A3ThatComputes) {
  Counting g(10);
  auto session = open<P>(g.graph, busy_options<P>());
  const Ints in{-4};
  Ints out{-1};
  const Status status = session.run_round(bind(g.x, in), bind(g.y, out));
  CHECK(status.code() == failure_of_a_kernel<P>);
  CHECK(status.index() == index(g.body));
  const std::string text(session.explain(status).c_str());
  CHECK_MESSAGE(text.find("'until'") != std::string::npos, text);
  CHECK_MESSAGE(text.find("enough") != std::string::npos, text);
  CHECK(out[0] == -1);
  CHECK(session.run_round(bind(g.x, in), bind(g.y, out)).code() == Errc::poisoned);
}

TEST_CASE_TEMPLATE("A stop request ends a loop", P, A2A3Sim, A5SimOn<Pool>, A2A3OverStandIn) {
  Counting g(0xFFFF'FFFF);
  auto session = open<P>(g.graph, busy_options<P>());
  std::thread stopper([&] { session.request_stop(); });
  const Ints in{0};  // never reached
  Ints out{-1};
  CHECK(session.run_round(bind(g.x, in), bind(g.y, out)).code() == Errc::stopped);
  stopper.join();
  CHECK(out[0] == -1);
}

TEST_CASE_TEMPLATE("The most repetitions may differ from shape to shape", P, A2A3Sim, A2A3OverStandIn, A5ThatComputes) {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<Int>("x", {n});
  const auto y = graph.output<Int>("y", {1});
  const auto count = graph.workspace<Int>("count", {1});
  const auto done = graph.workspace<Int>("done", {1});
  graph.add<Clear>(count);
  graph.repeat_until(done, 2 * n, [&] { graph.add<Until>(x, count, done); });
  graph.add<Copy>(count, y);
  auto session = open_shaped<P>(graph);
  for (const std::size_t size_now : {3U, 5U, 3U}) {
    const Ints in(size_now, 100);
    Ints out{-1};
    const Status status = session.run_round(bind(x, in), bind(y, out));
    REQUIRE_MESSAGE(status.ok(), session.explain(status).c_str());
    CHECK(out[0] == static_cast<Int>(2 * size_now));
  }
}

TEST_CASE_TEMPLATE("A condition is read where the round has bound it, or where the arena has moved", P, A2A3Sim,
                   HostOn<Pool>, A2A3OverStandIn, A5ThatComputes) {
  TaskGraph graph;
  const auto x = graph.input<Int>("x", {1});
  const auto flag = graph.input<Int>("flag", {1}), z = graph.input<Int>("z", {1});
  const auto count = graph.workspace<Int>("count", {1}), stays = graph.workspace<Int>("stays", {1});
  const auto done = graph.output<Int>("done", {1}), y = graph.output<Int>("y", {1});
  graph.add<Clear>(count);
  graph.add<Clear>(stays);
  graph.repeat_until(done, 10, [&] { graph.add<Until>(x, count, done); });
  graph.when(flag, [&] { graph.repeat_until(stays, 3, [&] { graph.add<Until>(z, count, stays); }); });
  graph.add<Copy>(count, y);
  auto session = open<P>(graph, busy_options<P>());
  DeviceFloats<P> memory(session.platform(), 4 * 256), arena(session.platform(), 4096);
  const auto place = [&](std::size_t n) {
    return DeviceSpan<Int>{memory.span().data().offset(Bytes{1024 * n}).template as<Int>(), 1};
  };
  for (std::size_t round = 0; round < 12; ++round) {
    CAPTURE(round);
    const Int wanted = 1 + static_cast<Int>(round) % 4;
    const Ints in{wanted}, on{static_cast<Int>(round % 2)};
    const bool ends_at_once = round == 7;  // which leaves a condition that holds where the arena was
    const Ints then{ends_at_once ? wanted + 1 : 0};
    const Int expected = wanted + (round % 2 == 0 ? 0 : ends_at_once ? 1 : 3);
    Ints out{-1}, end{-1};
    Status status;
    if (round % 3 == 0) {
      status = session.run_round(bind(x, in), bind(flag, on), bind(z, then), bind(done, end), bind(y, out));
      CHECK(end[0] == 1);
    } else {
      const DeviceSpan<Int> at = place(round % 3);
      status = session.run_round(bind(x, in), bind(flag, on), bind(z, then), bind(done, at), bind(y, out));
    }
    CHECK_MESSAGE(status.ok(), session.explain(status).c_str());
    CHECK(out[0] == expected);
    if (round != 7) continue;
    REQUIRE(session.move_arena({arena.span().data().template as<std::byte>(), 16384}).ok());
  }
}

TEST_CASE_TEMPLATE("A zeroed workspace is zeroed once in a round, and a library call may be in a loop", P, A2A3Sim,
                   HostOn<Pool>, A2A3OverStandIn, A5OverStandIn, A2A3ThatComputes) {
  struct Keep {
    std::size_t times = 0;
    int operator()(const LibraryCall& call) {
      ++times;
      if constexpr (is_over_stand_in<P>) {
        return P::enqueue_copy(call.stream(), call.data<Int>(1), call.data<const Int>(0), sizeof(Int));
      } else {
        call.data<Int>(1)[0] = call.data<const Int>(0)[0];
        return 0;
      }
    }
  };
  Keep keep;
  TaskGraph graph;
  const auto x = graph.input<Int>("x", {1});
  const auto y = graph.output<Int>("y", {1});
  const auto count = graph.workspace<Int>("count", {1}), kept = graph.workspace<Int>("kept", {1});
  const auto done = graph.workspace<Int>("done", {1});
  graph.zero(count);
  graph.repeat_until(done, 10, [&] {
    graph.add<Until>(x, count, done);
    graph.add_call("keep", {reads(count), writes(kept)}, keep);
  });
  graph.add<Copy>(kept, y);
  auto session = open<P>(graph, busy_options<P>());
  keep.times = 0;
  for (const Int wanted : {3, 1, 5}) {
    const Ints in{wanted};
    Ints out{-1};
    const Status status = session.run_round(bind(x, in), bind(y, out));
    REQUIRE_MESSAGE(status.ok(), session.explain(status).c_str());
    CHECK(out[0] == wanted);
  }
  CHECK(keep.times == (is_over_stand_in<P> ? 0 : 9));  // where it was captured, no round calls it
}

TEST_CASE("A prediction counts the expected repetitions, or the most") {
  const auto run_ns = [](Extent most, double expected) {
    Counting g(most, expected);
    auto session = open<A2A3SimOn<Model>>(g.graph);
    CHECK(g.count_of(session, 2) == 2);
    const auto p = session.platform().engine().prediction();
    CHECK(p.tasks.size() == 4);
    CHECK(p.graph.tasks.size() == 4);
    CHECK(p.tasks[1].start >= p.tasks[0].end);
    CHECK(p.tasks[2].end <= p.run_ns);
    CHECK(p.critical_path.size() == 4);  // the tasks of the loop, and not the loop
    double vectors = 0;
    for (const double ns : p.vector_busy_ns) vectors += ns;
    CHECK(vectors > (expected == 0 ? static_cast<double>(most.value) : expected) * 1000);
    return p.run_ns;
  };
  const double two = run_ns(2, 0), four = run_ns(4, 0), three = run_ns(4, 3);
  CHECK(four - three == doctest::Approx(three - two));
  CHECK(four - two > 2000);
}

TEST_CASE_TEMPLATE("A platform that runs no loops refuses them when a session is opened", P, toy::ToyPlatform) {
  Counting g(10);
  try {
    auto session = open<P>(g.graph);
    FAIL("it was opened");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::unsupported);
    const std::string text(error.what());
    CHECK_MESSAGE(text.find("loop 'until done', task 2: ") != std::string::npos, text);
    CHECK_MESSAGE(text.find("unroll it, or run a round for each repetition") != std::string::npos, text);
  }
  auto session = open_shaped<P>(g.graph);
  const Ints in{3};
  Ints out{0};
  const Status status = session.run_round(bind(g.x, in), bind(g.y, out));
  CHECK(status.code() == Errc::unsupported);
  CHECK(std::string(session.explain(status).c_str()).find("loop 'until done', task 2: ") != std::string::npos);
}

namespace {

std::string first_line;  // of the log
struct Logging : DefaultPolicies {
  static void log(LogEvent event, const char* text) noexcept {
    if (event == LogEvent::opened) first_line = text;
  }
};

}  // namespace

TEST_CASE_TEMPLATE("A session tells who decides about its loops", P, A2A3Sim, A2A3OverStandIn, A5ThatComputes) {
  // The device of A2A3OverStandIn lacks Rondo's kernel. In the suite for Cuda, both names stand for that platform.
  constexpr bool is_host = std::is_same_v<P, A2A3OverStandIn> && !std::is_same_v<P, A5ThatComputes>;
  const auto check = [&](const auto& session, TaskId loop) {
    const std::vector<LoopReport> reports = session.explain_loops();
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].name == "until done");
    CHECK(reports[0].decision == loop);
    CHECK((reports[0].decider == LoopReport::Decider::host) == is_host);
    CHECK((std::string(reports[0].why).empty() != is_host));
  };
  Counting g(10);
  check(open<P>(g.graph), g.loop);
  check(open_pipelined<P, 2>(g.graph), g.loop);
  check(open_shaped<P>(g.graph), g.loop);
  auto session = open<P, Logging>(g.graph);
  const char* const decided = is_host ? "; 1 loops, decided by the host: " : "; 1 loops, decided by the device";
  CHECK_MESSAGE(first_line.find(decided) != std::string::npos, first_line);
}
