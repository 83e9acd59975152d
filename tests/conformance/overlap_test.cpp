// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rounds in flight whose tasks overlap with those of earlier rounds give what one round at a time gives, bit for bit.

#include "conformance/platforms.hpp"
#include "scale.hpp"
#include "unit/platform/sim/programs.hpp"

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/platform/sim/waiting.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

using namespace rondo;

namespace {

using test::mix;
using Word = std::uint64_t;
using Words = std::vector<Word>;
constexpr std::size_t elements = 8;

/// Some tasks take longer than others, and not the same ones in each round, so that rounds get ahead of each other.
void dawdle(Word seed) {
  if (seed % 7 != 0) return;
  for (Word i = 0; i < seed % 4000; ++i) asm volatile("");
}

struct Mix {
  static constexpr std::string_view name = "mix";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> a, In<Word> b, Out<Word> y) {
    dawdle(mix(a[0], b[1]));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = mix(a[i], b[y.size() - 1 - i]);
  }
};
struct Update {
  static constexpr std::string_view name = "update";
  static constexpr auto core = CoreType::cube;
  static void run(Block b, In<Word> x, InOut<Word> y) {
    dawdle(mix(x[0], y[b.index]));
    for (std::size_t i = b.index; i < y.size(); i += b.count) y[i] = mix(y[i], x[i]);
  }
};

/// Two inputs and two outputs, residents that tasks read and update, and workspaces that the planner lays one over the
/// other.
struct RandomGraph {
  TaskGraph graph;
  Input<Word> x0 = graph.input<Word>("x0", {elements});
  Input<Word> x1 = graph.input<Word>("x1", {elements});
  Output<Word> y0 = graph.output<Word>("y0", {elements});
  Output<Word> y1 = graph.output<Word>("y1", {elements});
  std::vector<Resident<Word>> residents;

  RandomGraph(std::mt19937& random, std::size_t tasks) {
    for (std::size_t r = 0; r < 1 + random() % 3; ++r) {
      residents.push_back(graph.resident<Word>("r" + std::to_string(r), {elements}));
    }
    std::vector<std::variant<Input<Word>, Resident<Word>, Workspace<Word>>> readable{x0, x1};
    for (const auto& r : residents) readable.emplace_back(r);
    const auto any = [&] { return readable[random() % readable.size()]; };
    const auto mix_into = [&](auto to) { std::visit([&](auto a, auto b) { graph.add<Mix>(a, b, to); }, any(), any()); };
    for (std::size_t t = 0; t < tasks; ++t) {
      const auto to = any();
      const Blocks blocks{static_cast<std::uint32_t>(1 + random() % 2)};
      if (random() % 3 == 0 && to.index() != 0) {
        std::visit(
            [&](auto x, auto y) {
              if constexpr (!std::is_same_v<decltype(y), Input<Word>>) {
                if (x.key != y.key) graph.add<Update>(blocks, x, y);
              }
            },
            any(), to);
      } else {
        const auto w = graph.workspace<Word>("w" + std::to_string(t), {elements});
        mix_into(w);
        readable.emplace_back(w);
      }
    }
    // What is computed last is what is delivered, so that rounds depend on all of it.
    std::visit([&](auto a) { graph.add<Mix>(a, x1, y0); }, readable.back());
    mix_into(y1);
  }
};

using Overlapping = A5SimOn<Pool>;

/// Threads from the first round on, and a schedule that takes them for free.
Overlapping::Options overlapping(std::uint32_t threads) {
  Overlapping::Options options;
  options.engine.threads = threads;
  options.engine.scheduling = platform::sim::Scheduling::uniform;
  options.engine.costs = {.per_node = 1, .across_threads = 0, .per_round = 0};
  return options;
}

Words words(Word seed) {
  Words w(elements);
  for (Word& each : w) each = seed = mix(seed, 3);
  return w;
}

/// The same rounds in flight and one at a time. `binds`: whether some rounds hand their output to the next one in
/// device memory. Returns whether rounds overlapped.
template <std::size_t Depth>
bool compare(const RandomGraph& g, std::mt19937& random, std::uint32_t threads, int rounds, bool binds) {
  auto one = open<A5Sim>(g.graph);
  auto many = open_pipelined<Overlapping, Depth>(g.graph, overlapping(threads));
  for (const auto& r : g.residents) {
    const Words start = words(random());
    REQUIRE(one.upload(r, start).ok());
    REQUIRE(many.upload(r, start).ok());
  }
  Words between(elements);  // one at a time, the host has what goes by device memory otherwise
  std::array<DevicePtr<std::byte>, 2> memory{};
  for (auto& m : memory) m = many.platform().allocate(Bytes{512}, Bytes{512});
  std::vector<std::array<Words, 2>> expected(static_cast<std::size_t>(rounds)), got(expected.size());
  const auto expect = [&](std::size_t i, const Words& a, const Words& b) {
    expected[i] = {Words(elements), Words(elements)};
    got[i] = expected[i];
    REQUIRE(one.run_round(bind(g.x0, a), bind(g.x1, b), bind(g.y0, expected[i][0]), bind(g.y1, expected[i][1])).ok());
  };
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Words a = words(random()), b = words(random());
    expect(i, a, b);
    if (binds && i + 1 < expected.size() && random() % 4 == 0) {
      const DevicePtr<Word> at{memory[random() % 2].address()};
      REQUIRE(many.submit_round(bind(g.x0, a), bind(g.x1, b), bind(g.y0, DeviceSpan<Word>{at, elements}),
                                bind(g.y1, got[i][1])));
      got[i][0] = between = expected[i][0];
      const Words c = words(random());
      expect(++i, between, c);
      REQUIRE(many.submit_round(bind(g.x0, DeviceSpan<const Word>{DevicePtr<const Word>{at.address()}, elements}),
                                bind(g.x1, c), bind(g.y0, got[i][0]), bind(g.y1, got[i][1])));
    } else if (random() % 16 == 0) {
      REQUIRE(many.run_round(bind(g.x0, a), bind(g.x1, b), bind(g.y0, got[i][0]), bind(g.y1, got[i][1])).ok());
    } else {
      REQUIRE(many.submit_round(bind(g.x0, a), bind(g.x1, b), bind(g.y0, got[i][0]), bind(g.y1, got[i][1])));
    }
    if (random() % 8 == 0) (void)many.poll();
  }
  REQUIRE(many.wait_all().ok());
  for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE_MESSAGE(expected[i] == got[i], "round ", i);
  for (const auto& r : g.residents) {
    Words in_order(elements), overlapped(elements);
    REQUIRE(one.download(r, in_order).ok());
    REQUIRE(many.download(r, overlapped).ok());
    REQUIRE(in_order == overlapped);
  }
  for (const auto& m : memory) REQUIRE(many.platform().release(m).ok());
  return many.platform().engine().is_overlapping();
}

}  // namespace

TEST_CASE("overlapping rounds of random graphs with residents give what one round at a time gives") {
  auto random = rondo::test::make_random(20);
  int overlapped = 0;
  const int graphs = scaled(480);
  for (int i = 0; i < graphs; ++i) {
    CAPTURE(i);
    const RandomGraph g(random, 2 + random() % 30);
    const std::uint32_t threads = 2 + static_cast<std::uint32_t>(random() % 3);
    const bool binds = i % 3 == 0;
    overlapped += (i % 2 == 0 ? compare<2>(g, random, threads, 60, binds) : compare<5>(g, random, threads, 60, binds));
  }
  CHECK(overlapped > graphs / 2);
}

namespace {

/// Waits until `is_true` becomes so.
template <class Condition>
void await(Condition is_true) {
  while (!is_true()) std::this_thread::yield();
}

std::atomic<int> arrived{0}, met{0};

/// Goes on once its other half of the round before has come.
struct Meet {
  static constexpr std::string_view name = "meet";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> x, Out<Word> y) {
    y[0] = x[0];
    if (x[0] != 1) return;
    ++arrived;
    await([] { return arrived.load() == 2; });
    ++met;
  }
};

}  // namespace

TEST_CASE("a round's first task runs while the last task of the round before still does") {
  // early, then late. In one round, late waits for an early: that of the next round, since its own is over.
  TaskGraph graph;
  const auto x = graph.input<Word>("x", {1});
  const auto z = graph.input<Word>("z", {1});
  const auto w = graph.output<Word>("w", {1});
  const auto y = graph.output<Word>("y", {1});
  const TaskId early = graph.add<Meet>(x, w);
  const TaskId late = graph.add<Meet>(z, y);
  graph.add_edge(early, late);
  auto session = open_pipelined<Overlapping, 2>(graph, overlapping(2));
  const Word zero = 0, one = 1;
  Word out[4] = {};
  const auto submit = [&](const Word& a, const Word& b) {
    return session.submit_round(bind(x, std::span(&a, 1)), bind(z, std::span(&b, 1)), bind(w, std::span(&out[0], 1)),
                                bind(y, std::span(&out[1], 1)));
  };
  for (int i = 0; i < 4; ++i) REQUIRE(submit(zero, zero));  // all slots are known, and rounds overlap
  REQUIRE(session.wait_all().ok());
  REQUIRE(session.platform().engine().is_overlapping());
  arrived = 0;
  REQUIRE(submit(zero, one));
  REQUIRE(submit(one, zero));
  REQUIRE(session.wait_all().ok());
  CHECK(met == 2);  // the one that came first, too
}

namespace {

struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Refuses 99, and takes its time over 12.
struct Picky {
  static constexpr std::string_view name = "picky";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> x, Out<Word> y) {
    if (x[0] == 99) throw Refusal("99 is refused");
    if (x[0] == 12) {
      for (int i = 0; i < 3'000'000; ++i) asm volatile("");
    }
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 1;
  }
};

}  // namespace

TEST_CASE("a kernel that throws fails its own round and later ones, and none before it that still runs") {
  TaskGraph graph;
  const auto x = graph.input<Word>("x", {elements});
  const auto z = graph.input<Word>("z", {elements});
  const auto w = graph.output<Word>("w", {elements});
  const auto y = graph.output<Word>("y", {elements});
  const auto v = graph.workspace<Word>("v", {elements});
  const TaskId first = graph.add<Picky>(x, w);
  const TaskId second = graph.add<Picky>(z, v);
  graph.add_edge(first, second);
  graph.add<Picky>(v, y);
  auto session = open_pipelined<Overlapping, 4>(graph, overlapping(2));
  Words out(elements), last(elements);
  const auto submit = [&](Word a, Word b, Words& to) {
    const Words ha(elements, a), hb(elements, b);
    return session.submit_round(bind(x, ha), bind(z, hb), bind(w, out), bind(y, to));
  };
  for (int i = 0; i < 8; ++i) REQUIRE(submit(1, 1, out));
  REQUIRE(session.wait_all().ok());
  REQUIRE(session.platform().engine().is_overlapping());
  const RoundTicket slow = submit(1, 12, last);  // its second task runs when the next round fails, then its third
  const RoundTicket bad = submit(99, 1, out);
  const RoundTicket after = submit(1, 1, out);
  CHECK(session.wait(slow).ok());
  CHECK(last == Words(elements, 14));
  const Status failed = session.wait(bad);
  CHECK(failed.code() == Errc::kernel_failed);
  CHECK(std::string(session.explain(failed).c_str()).find("99 is refused") != std::string::npos);
  CHECK(session.wait(after).code() == Errc::poisoned);
  CHECK(session.close().ok());
}

namespace {

std::atomic<bool> may_fail{false};

/// Refuses 99, but not before it may.
struct Late {
  static constexpr std::string_view name = "late";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> x, Out<Word> y) {
    if (x[0] == 99) {
      await([] { return may_fail.load(); });
      throw Refusal("99 is refused");
    }
    y[0] = x[0] + 1;
  }
};

}  // namespace

TEST_CASE(
    "a round that overlaps with a failed one is poisoned, also if the failed one began before rounds overlapped") {
  may_fail = false;
  TaskGraph graph;
  const auto x = graph.input<Word>("x", {1});
  const auto z = graph.input<Word>("z", {1});
  const auto w = graph.output<Word>("w", {1});
  const auto y = graph.output<Word>("y", {1});
  graph.add<Late>(x, w);
  graph.add<Late>(z, y);
  auto session = open_pipelined<Overlapping, 2>(graph, overlapping(2));
  const Words good(1, 1), bad(1, 99);
  Words first(1), second(1, 7), other(1);
  for (int i = 0; i < 50; ++i) {
    REQUIRE(session.run_round(bind(x, good), bind(z, good), bind(w, first), bind(y, other)).ok());
  }
  Status of_second;
  const auto note = [&](Status status) noexcept { of_second = status; };
  const auto failed = session.submit_round(bind(x, bad), bind(z, good), bind(w, first), bind(y, other));
  const auto after = session.submit_round(bind(x, good), bind(z, good), bind(w, second), bind(y, other), note);
  REQUIRE(session.platform().engine().is_overlapping());
  may_fail = true;
  CHECK(session.wait(failed).code() == Errc::kernel_failed);
  CHECK(session.wait(after).code() == Errc::poisoned);
  CHECK(of_second.code() == Errc::poisoned);
  CHECK(second == Words(1, 7));
}

TEST_CASE("rounds overlap once their costs were learned, and a session of one thread or told not to has none") {
  auto random = rondo::test::make_random(3);
  const RandomGraph g(random, 24);
  const auto run = [&](Overlapping::Options options) {
    auto session = open_pipelined<Overlapping, 3>(g.graph, options);
    for (const auto& r : g.residents) REQUIRE(session.upload(r, words(1)).ok());
    Words a(elements), b(elements), c(elements), d(elements);
    for (int i = 0; i < 60; ++i) {
      REQUIRE(session.submit_round(bind(g.x0, a), bind(g.x1, b), bind(g.y0, c), bind(g.y1, d)));
    }
    REQUIRE(session.wait_all().ok());
    return std::pair{session.platform().engine().is_overlapping(), session.arena_bytes().value};
  };
  Overlapping::Options options = overlapping(2);
  const auto [overlaps, bytes] = run(options);
  CHECK(overlaps);
  options.engine.overlap_rounds = false;
  const auto [told_not_to, fewer_bytes] = run(options);
  CHECK(!told_not_to);
  CHECK(fewer_bytes < bytes);  // one workspace instead of three
  options = overlapping(1);
  CHECK(run(options) == std::pair{false, fewer_bytes});
}

namespace {

void pass_us(Word us) { platform::sim::wait_until_ns(platform::sim::now_ns() + 1000 * us); }

/// Takes as many microseconds as its input says.
struct Take {
  static constexpr std::string_view name = "take";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> x, Out<Word> y) {
    if (x[0] != 0) pass_us(x[0]);
    y[0] = x[0];
  }
};

/// Two chains, each of which one thread has to itself.
struct TwoChains {
  TaskGraph graph;
  Input<Word> x0 = graph.input<Word>("x0", {1});
  Input<Word> x1 = graph.input<Word>("x1", {1});
  Output<Word> y0 = graph.output<Word>("y0", {1});
  Output<Word> y1 = graph.output<Word>("y1", {1});

  TwoChains() {
    for (const auto& [x, y] : {std::pair{x0, y0}, std::pair{x1, y1}}) {
      auto last = graph.workspace<Word>("of " + std::to_string(index(x.key.tensor())), {1});
      graph.add<Take>(x, last);
      for (int i = 0; i < 10; ++i) {
        const auto next =
            graph.workspace<Word>(std::to_string(i) + " of " + std::to_string(index(x.key.tensor())), {1});
        graph.add<Take>(last, next);
        last = next;
      }
      graph.add<Take>(last, y);
    }
  }
};

}  // namespace

TEST_CASE("rounds one at a time use several threads also after a few rounds in flight") {
  const TwoChains g;
  Overlapping::Options options = overlapping(2);
  options.engine.scheduling = platform::sim::Scheduling::learned;
  options.engine.trial_rounds = 0;
  auto session = open_pipelined<Overlapping, 2>(g.graph, options);
  const Words a{100}, b{100};
  Words c(1), d(1);
  for (int i = 0; i < 2; ++i) REQUIRE(session.submit_round(bind(g.x0, a), bind(g.x1, b), bind(g.y0, c), bind(g.y1, d)));
  for (int i = 0; i < 10; ++i) {
    REQUIRE(session.run_round(bind(g.x0, a), bind(g.x1, b), bind(g.y0, c), bind(g.y1, d)).ok());
  }
  CHECK(session.platform().engine().threads_used() == 2);
  REQUIRE(session.submit_round(bind(g.x0, a), bind(g.x1, b), bind(g.y0, c), bind(g.y1, d)));
  REQUIRE(session.wait_all().ok());
  CHECK(session.platform().engine().is_overlapping());
}

TEST_CASE("rounds end, whatever thread has the slow part, when the caller comes late or only polls") {
  const TwoChains g;
  auto session = open_pipelined<Overlapping, 4>(g.graph, overlapping(2));
  Word slow = 0, out[2] = {};
  const Word quick = 0;
  const auto submit = [&] {
    return session.submit_round(bind(g.x0, std::span(&slow, 1)), bind(g.x1, std::span(&quick, 1)),
                                bind(g.y0, std::span(&out[0], 1)), bind(g.y1, std::span(&out[1], 1)));
  };
  for (int i = 0; i < 8; ++i) REQUIRE(submit());
  REQUIRE(session.wait_all().ok());
  REQUIRE(session.platform().engine().is_overlapping());
  slow = 300;  // for each of twelve tasks
  for (int i = 0; i < 20; ++i) {
    for (int r = 0; r < 4; ++r) REQUIRE(submit());
    pass_us(4000);  // the thread that stands by has the slow chain by now, and the other one sleeps
    REQUIRE(session.wait_all().ok());
  }
  for (int i = 0; i < 20; ++i) {
    const RoundTicket first = submit();
    for (int r = 1; r < 4; ++r) REQUIRE(submit());
    REQUIRE(session.wait(first).ok());  // the caller had the slow chain, and leaves it
    while (session.poll() != 0) pass_us(10);
    REQUIRE(session.in_flight() == 0);
  }
}

namespace {

/// Its blocks swap their parts of `y` from round to round; the first one takes its time.
struct TakeTurns {
  static constexpr std::string_view name = "take_turns";
  static constexpr auto core = CoreType::vector;
  static void run(Block b, In<Word> x, InOut<Word> y) {
    const std::size_t mine = (b.index + x[0]) % b.count;
    const Word before = y[mine];
    if (b.index == 0) pass_us(100);
    y[mine] = mix(before, x[0]);
  }
};

}  // namespace

TEST_CASE("a block comes after all blocks of its task in the round before, where they write what rounds share") {
  TaskGraph graph;
  const auto x = graph.input<Word>("x", {1});
  const auto y = graph.output<Word>("y", {1});
  const auto r = graph.resident<Word>("r", {2});
  graph.add<TakeTurns>(Blocks{2}, x, r);
  graph.add<Take>(x, y);
  const auto run = [&](auto& session) {
    Words state{1, 2}, out(1);
    REQUIRE(session.upload(r, state).ok());
    for (Word i = 0; i < 100; ++i) {
      const Words in{i % 3};
      if constexpr (requires { session.wait_all(); }) {
        REQUIRE(session.submit_round(bind(x, in), bind(y, out)));
      } else {
        REQUIRE(session.run_round(bind(x, in), bind(y, out)).ok());
      }
    }
    REQUIRE(session.download(r, state).ok());
    return state;
  };
  auto one = open<A5Sim>(graph);
  auto many = open_pipelined<Overlapping, 4>(graph, overlapping(3));
  CHECK(run(one) == run(many));
  CHECK(many.platform().engine().is_overlapping());
}

namespace {

Overlapping* to_be_stopped = nullptr;
std::atomic<int> tasks_begun{0};
std::atomic<bool> is_stop_requested{false};

/// Passes x on. 1: only once a stop was requested; 2: throws, a while after it requested a stop; 3: requests a stop.
struct Stops {
  static constexpr std::string_view name = "stops";
  static constexpr auto core = CoreType::vector;
  static void run(In<Word> x, Out<Word> y) {
    ++tasks_begun;
    if (x[0] == 1) await([] { return is_stop_requested.load(); });
    if (x[0] == 2 || x[0] == 3) {
      to_be_stopped->request_stop();
      is_stop_requested = true;
    }
    if (x[0] == 2) {
      pass_us(60'000);
      throw Refusal("2 is refused");
    }
    y[0] = x[0] + 4;
  }
};

}  // namespace

TEST_CASE("a stop request fails the first round that lacks a task, and none that lacks none") {
  for (const Word last : Words{2, 3}) {
    TaskGraph graph;
    const auto x = graph.input<Word>("x", {1});
    const auto z = graph.input<Word>("z", {1});
    const auto w = graph.output<Word>("w", {1});
    const auto y = graph.output<Word>("y", {1});
    const auto v = graph.workspace<Word>("v", {1});
    const TaskId first = graph.add<Stops>(x, w);
    const TaskId second = graph.add<Stops>(z, v);
    graph.add_edge(first, second);
    graph.add<Stops>(v, y);
    auto session = open_pipelined<Overlapping, 4>(graph, overlapping(2));
    to_be_stopped = &session.platform();
    std::vector<std::pair<Errc, Word>> ends;  // with what came out
    Words out[4] = {Words(1), Words(1), Words(1), Words(1)};
    const auto submit = [&](Word a, Word b, std::size_t i) {
      const Words ha{a}, hb{b};
      return session.submit_round(bind(x, ha), bind(z, hb), bind(w, out[3]), bind(y, out[i]),
                                  [&ends, to = &out[i]](Status s) noexcept { ends.emplace_back(s.code(), (*to)[0]); });
    };
    for (int i = 0; i < 8; ++i) REQUIRE(submit(0, 0, 0));
    REQUIRE(session.wait_all().ok());
    REQUIRE(session.platform().engine().is_overlapping());
    ends.clear();
    out[0] = Words(1);
    tasks_begun = 0;
    is_stop_requested = false;
    REQUIRE(submit(0, 0, 0));  // lacks no task, though it is not delivered, when the stop is requested
    await([] { return tasks_begun.load() == 3; });
    REQUIRE(submit(0, 1, 1));
    REQUIRE(submit(last, 0, 2));
    REQUIRE(submit(0, 0, 3));
    CHECK(session.wait_all().code() == Errc::stopped);
    REQUIRE(ends.size() == 4);
    CHECK(ends[0] == std::pair{Errc::ok, Word{8}});
    CHECK(ends[1] == std::pair{Errc::stopped, Word{0}});
    CHECK(ends[2].first == Errc::poisoned);
    CHECK(ends[3].first == Errc::poisoned);
  }
}

TEST_CASE(
    "a round whose last task runs when a stop is requested is complete, also where its output is copied on the "
    "device") {
  TaskGraph graph;
  const auto x = graph.input<Word>("x", {1});
  const auto z = graph.input<Word>("z", {1});
  const auto w = graph.output<Word>("w", {1});
  const auto y = graph.output<Word>("y", {1});
  graph.add_edge(graph.add<Stops>(x, w), graph.add<Stops>(z, y));
  auto session = open_pipelined<Overlapping, 2>(graph, overlapping(2));
  to_be_stopped = &session.platform();
  const DevicePtr<std::byte> memory = session.platform().allocate(Bytes{64}, Bytes{64});
  const DevicePtr<std::byte> misaligned = memory.offset(Bytes{8});
  Words in(1), last(1), out(1);
  DynamicBindings bindings(session);
  REQUIRE(bindings.bind(x.key.tensor(), in.data(), Bytes{8}).ok());
  REQUIRE(bindings.bind(z.key.tensor(), last.data(), Bytes{8}).ok());
  REQUIRE(bindings.bind(w.key.tensor(), out.data(), Bytes{8}).ok());
  REQUIRE(bindings.bind(y.key.tensor(), misaligned, Bytes{8}).ok());
  for (const Word number : Words{0, 0, 0, 0, 3}) {
    last[0] = number;
    REQUIRE(session.wait(session.submit_round(bindings)).ok());
    std::memcpy(out.data(), session.platform().host_address(misaligned), sizeof(Word));
    CHECK(out[0] == number + 4);
  }
  CHECK(session.platform().engine().is_overlapping());
  CHECK(session.wait(session.submit_round(bindings)).code() == Errc::stopped);
  CHECK(session.close().ok());
  CHECK(session.platform().release(memory).ok());
}

TEST_CASE("an input that a task with fixed addresses reads is not held, since each slot has it elsewhere") {
  TaskGraph graph;
  const auto x = graph.input<Word>("x", {1});
  const auto y = graph.output<Word>("y", {1});
  graph.keep(x);
  graph.fix_addresses(graph.add<Take>(x, y));
  auto session = open_pipelined<Overlapping, 2>(graph, overlapping(2));
  Words in{7}, out(1);
  REQUIRE(session.run_round(bind(x, in), bind(y, out)).ok());
  CHECK(session.hold(x) == Status::of_tensor(Errc::fixed_address, index(x.key.tensor())));
  for (const Word next : Words{8, 9}) {
    in[0] = next;
    REQUIRE(session.submit_round(bind(x, in), bind(y, out)));
    REQUIRE(session.wait_all().ok());
    CHECK(out[0] == next);
  }
}
