// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/checked.hpp>

#include <random.hpp>
#include <rondo/graph/loops.hpp>
#include <rondo/launch/round_values.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/in_flight.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/shaped_session.hpp>
#include <unit/platform/sim/programs.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

using Kind = Finding::Kind;
using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

/// y = x, but only the first `part` elements.
struct CopyPart {
  static constexpr std::string_view name = "copy_part";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y, std::uint32_t part) noexcept {
    for (std::size_t i = 0; i < part; ++i) y[i] = x[i];
  }
};

/// y = x, and then turns each bit of what lies `stray` elements from y's start.
struct Strays {
  static constexpr std::string_view name = "strays";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y, std::int64_t stray) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
    std::uint32_t bits = 0;
    std::memcpy(&bits, y.data() + stray, sizeof bits);
    bits = ~bits;
    std::memcpy(y.data() + stray, &bits, sizeof bits);
  }
};

/// Changes its input.
struct WritesInput {
  static constexpr std::string_view name = "writes_input";
  static constexpr auto core = CoreType::cube;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
    const_cast<float&>(x[2]) = -1;  // NOLINT: the very mistake
  }
};

/// Numbers its runs.
struct Counts {
  static constexpr std::string_view name = "counts";
  static constexpr auto core = CoreType::vector;
  static void run(Out<std::int32_t> y) noexcept {
    static std::int32_t runs = 0;
    ++runs;
    for (auto& e : y) e = runs;
  }
};

/// y = x, with an int8 whose every value occurs, the poison's too.
struct CopyBytes {
  static constexpr std::string_view name = "copy_bytes";
  static constexpr auto core = CoreType::vector;
  static void run(In<std::uint8_t> x, Out<std::uint8_t> y, std::uint32_t part) noexcept {
    for (std::size_t i = 0; i < part; ++i) y[i] = x[i];
  }
};

// A value that travels from one kernel to another behind the graph's back. Atomic, so that a sanitizer does not take
// the mistake that Rondo is to find for one of Rondo's own.
std::atomic<float> hidden{0};
struct Leaves {
  static constexpr std::string_view name = "leaves";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
    hidden = x[0];
  }
};
struct Finds {
  static constexpr std::string_view name = "finds";
  static constexpr auto core = CoreType::vector;
  static void run(Out<float> z) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = hidden;
    hidden = 0;
  }
};

/// As Leaves and Finds, but right in every order when one runs after the other: wrong only while both run at once.
std::atomic<int> inside{0};
struct Overlaps {
  static constexpr std::string_view name = "overlaps";
  static constexpr auto core = CoreType::vector;
  static void run(Out<std::int32_t> y) {
    ++inside;
    int most = inside;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (most < 2 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
      most = std::max(most, inside.load());
    }
    y[0] = most;
    // Stay until the other one has seen us.
    if (most >= 2) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    --inside;
  }
};

template <class Session>
std::string first_text(Session& session) {
  const auto findings = session.platform().engine().findings();
  return findings.empty() ? "" : findings[0].text.c_str();
}

}  // namespace

TEST_CASE_TEMPLATE("Rounds of good kernels pass, and give what they give unchecked", P, A2A3SimOn<Checked<Inline>>,
                   A5SimOn<Checked<Inline>>, A2A3SimOn<Checked<Pool>>, A5SimOn<Checked<Pool>>,
                   A2A3SimOn<Checked<Model>>) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {33});
  const auto y = graph.output<float>("y", {33});
  const auto s = graph.inout<float>("s", {33});
  const auto r = graph.resident<float>("r", {33});
  const auto t = graph.workspace<float>("t", {33});
  graph.add<Scale>(x, t, 2.0F);
  graph.add<Scale>(t, y, 3.0F);
  graph.add<Accumulate>(x, s);
  graph.add<Accumulate>(x, r);
  auto session = open<P>(graph);
  Floats hx(33), hy(33), hs(33), hr(33);
  REQUIRE(session.upload(r, hr).ok());
  float sum = 0;
  for (int round = 1; round <= 20; ++round) {
    const auto value = static_cast<float>(round);
    hx.assign(33, value);
    sum += value;
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy), bind(s, hs)).ok());
    CHECK(session.platform().engine().findings().empty());
    REQUIRE(hy == Floats(33, 6 * value));
    REQUIRE(hs == Floats(33, sum));  // not four times, once for each run
  }
  REQUIRE(session.download(r, hr).ok());
  CHECK(hr == Floats(33, sum));
}

TEST_CASE("On random graphs of kernels that must run exactly once, a check finds nothing and changes nothing") {
  auto random = rondo::test::make_random(51);
  for (int g = 0; g < 30; ++g) {
    const RandomWork work{random, random() % 40, 2 + random() % 10, 1 + random() % 9};
    Loaded<platform::sim::Inline> one{work.graph};
    Loaded<platform::sim::Inline> memory{work.graph};
    Checked<platform::sim::Pool> checked{{}, arch::chip_of<arch::A5>};
    auto program = one.engine.load(one.frozen, one.table);
    auto other = checked.load(memory.frozen, memory.table);
    fill(one, work, 9);
    fill(memory, work, 9);
    for (int round = 0; round < 6; ++round) {
      REQUIRE(one.engine.launch(program).ok());
      REQUIRE(checked.launch(other).ok());
      REQUIRE(checked.wait().ok());
      CHECK(checked.findings().empty());
      for (const auto& t : work.tensors) {
        const std::size_t n = one.frozen.view().tensors[index(t.key.tensor())].count;
        for (std::size_t i = 0; i < n; ++i) REQUIRE(one.at(t)[i] == memory.at(t)[i]);
      }
    }
    CHECK(checked.unload(other).ok());
  }
}

TEST_CASE("A write beyond a tensor is found in the next one, in the one before, and in the gap between") {
  struct Case {
    std::int64_t stray;
    const char* expected;
    std::uint64_t offset;
    bool in_tensor;
  };
  // Tensors of 64 bytes lie 128 bytes apart on a2a3, where each has a guard: in elements, 16 of a tensor, 16 of none.
  for (const Case& c : {Case{33, "tensor 'z', the first at byte 4, which it does not receive", 4, true},
                        Case{-31, "tensor 'before', the first at byte 4, which it does not receive", 4, true},
                        Case{18, "no tensor, the first 8 bytes after the end of 'y'", 0, false}}) {
    CAPTURE(c.stray);
    TaskGraph graph;
    const auto before = graph.inout<float>("before", {16});
    const auto y = graph.output<float>("y", {16});
    const auto z = graph.output<float>("z", {16});
    const auto x = graph.input<float>("x", {16});
    graph.add<Scale>(x, z, 1.0F);
    graph.add<Accumulate>(x, before);
    const TaskId strays = graph.add<Strays>(x, y, c.stray);
    auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
    Floats hx(16, 1.0F), hy(16, -7.0F), hz(16), hb(16);
    const Status status = session.run_round(bind(before, hb), bind(y, hy), bind(z, hz), bind(x, hx));
    CHECK(status == Status::of_task(Errc::check_failed, index(strays)));
    CHECK_FALSE(session.poisoned());
    CHECK(hy == Floats(16, -7.0F));  // nothing is copied out of a round that failed
    const auto findings = session.platform().engine().findings();
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kind == Kind::wrote_outside);
    CHECK(findings[0].task == index(strays));
    CHECK((findings[0].tensor != Finding::none) == c.in_tensor);
    if (c.in_tensor) CHECK(findings[0].offset == c.offset);
    CHECK(findings[0].bytes == 4);
    CAPTURE(std::string(findings[0].text.c_str()));
    CHECK(says(findings[0].text.c_str(), "task 2 'strays'", c.expected));
    CHECK(says(session.explain(status).c_str(), "'strays'", "read the checking engine's findings", c.expected));
    CHECK(session.close().ok());  // the round has told already
  }
}

TEST_CASE("A kernel that writes an input is found, although the value may be lost on nobody") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<WritesInput>(x, y);
  auto session = open<A5SimOn<Checked<Inline>>>(graph);
  Floats hx(8, 1.0F), hy(8);
  CHECK(session.run_round(bind(x, hx), bind(y, hy)) == Status::of_task(Errc::check_failed, 0));
  const auto findings = session.platform().engine().findings();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == Kind::wrote_input);
  CHECK(findings[0].tensor == 0);
  CHECK(findings[0].offset >= 8);
  CHECK(findings[0].offset < 12);
  CHECK(says(findings[0].text.c_str(), "'writes_input'", "tensor 'x'", "which it only reads"));
}

TEST_CASE("An Out that is not wholly written is found, with how much and where") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<CopyPart>(x, y, 5U);
  auto session = open<A5SimOn<Checked<Inline>>>(graph);
  Floats hx(8, 1.0F), hy(8);
  CHECK(session.run_round(bind(x, hx), bind(y, hy)) == Status::of_task(Errc::check_failed, 0));
  const auto findings = session.platform().engine().findings();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == Kind::left_unwritten);
  CHECK(findings[0].tensor == 1);
  CHECK(findings[0].offset == 20);
  CHECK(findings[0].bytes == 12);
  CHECK(says(findings[0].text.c_str(), "'copy_part'", "left 3 of 8 elements", "'y'", "at index 5"));
}

TEST_CASE("An Out that another task had written before must be wholly written all the same") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<Scale>(x, y, 2.0F);
  const TaskId second = graph.add<CopyPart>(x, y, 7U);
  auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
  Floats hx(8, 1.0F), hy(8);
  CHECK(session.run_round(bind(x, hx), bind(y, hy)) == Status::of_task(Errc::check_failed, index(second)));
}

TEST_CASE("Bytes that are the poison's by chance are told from bytes that were not written") {
  for (const std::uint32_t part : {512U, 500U}) {
    TaskGraph graph;
    const auto x = graph.input<std::uint8_t>("x", {512});
    const auto y = graph.output<std::uint8_t>("y", {512});
    graph.add<CopyBytes>(x, y, part);
    auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
    std::vector<std::uint8_t> hx(512), hy(512);
    for (std::size_t i = 0; i < 512; ++i) hx[i] = static_cast<std::uint8_t>(i % 256);
    const Status status = session.run_round(bind(x, hx), bind(y, hy));
    CAPTURE(first_text(session));
    CHECK(status.ok() == (part == 512));
    if (part == 512) {
      CHECK(hx == hy);
    } else {
      CHECK(session.platform().engine().findings()[0].offset == 500);
      CHECK(session.platform().engine().findings()[0].bytes == 12);
    }
  }
}

TEST_CASE("A kernel that keeps state is found: the same round again gives something else") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  const auto n = graph.output<std::int32_t>("n", {4});
  graph.add<Scale>(x, y, 1.0F);
  graph.add<Counts>(n);
  auto session = open<A2A3SimOn<Checked<Pool>>>(graph);
  Floats hx(4), hy(4);
  Ints hn(4);
  CHECK(session.run_round(bind(x, hx), bind(y, hy), bind(n, hn)) == Status::of_tensor(Errc::check_failed, 2));
  const auto findings = session.platform().engine().findings();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == Kind::not_repeatable);
  CHECK(findings[0].tensor == 2);
  CHECK(says(findings[0].text.c_str(), "keeps state", "'n'", "index 0", "task 1 'counts'"));
}

TEST_CASE("A kernel that writes into a gap in some of its runs only is found") {
  TaskGraph graph;
  const auto y = graph.output<std::int32_t>("y", {16});
  const auto z = graph.inout<float>("z", {16});
  static int runs = 0;
  runs = 0;
  const auto strays_later = +[](ArgWord* args) {
    auto* data = reinterpret_cast<std::int32_t*>(args[0]);
    for (int i = 0; i < 16; ++i) data[i] = i;
    if (++runs > 1) data[18] = runs * 0x01010101;
  };
  graph.add_raw("strays_later", CoreType::vector, strays_later, writes(y), updates(z));
  auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
  Ints hy(16);
  Floats hz(16);
  const Status status = session.run_round(bind(y, hy), bind(z, hz));
  CHECK(status.code() == Errc::check_failed);
  const auto findings = session.platform().engine().findings();
  REQUIRE(findings.size() == 1);
  CHECK(std::string(findings[0].text.c_str()) == "4 bytes of no tensor, after the end of 'y', differ from run to run");
}

TEST_CASE("A raw kernel that reads what it says it writes is found: the poison shows through") {
  TaskGraph graph;
  const auto y = graph.output<std::int32_t>("y", {4});
  const auto increment = +[](ArgWord* args) {
    auto* data = reinterpret_cast<std::int32_t*>(args[0]);
    for (int i = 0; i < 4; ++i) data[i] += 1;
  };
  graph.add_raw("increment", CoreType::vector, increment, writes(y));
  auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
  Ints hy(4);
  CHECK(session.run_round(bind(y, hy)).code() == Errc::check_failed);
  CHECK(session.platform().engine().findings()[0].kind == Kind::not_repeatable);
}

TEST_CASE("A missing edge is found on one thread, by another order that the edges allow") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  const auto z = graph.output<float>("z", {4});
  graph.add<Leaves>(x, y);
  graph.add<Finds>(z);  // needs what the task before left, and no edge says so
  Floats hx(4, 5.0F), hy(4), hz(4);
  auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
  hidden = 0;
  CHECK(session.run_round(bind(x, hx), bind(y, hy), bind(z, hz)) == Status::of_tensor(Errc::check_failed, 2));
  const auto findings = session.platform().engine().findings();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == Kind::depends_on_order);
  CHECK(says(findings[0].text.c_str(), "an edge is missing", "tensor 'z'", "task 1 'finds'"));

  // With the edge there is nothing to find, in any of many orders.
  TaskGraph mended;
  const auto mx = mended.input<float>("x", {4});
  const auto my = mended.output<float>("y", {4});
  const auto mz = mended.output<float>("z", {4});
  const TaskId leaves = mended.add<Leaves>(mx, my);
  mended.add_edge(leaves, mended.add<Finds>(mz));
  auto good = open<A2A3SimOn<Checked<Pool>>>(mended);
  for (int round = 0; round < 20; ++round) {
    hidden = 0;
    CHECK(good.run_round(bind(mx, hx), bind(my, hy), bind(mz, hz)).ok());
    CHECK(hz == Floats(4, 5.0F));
  }
}

TEST_CASE("A raw kernel that hides an access is found: it reads a tensor that another task writes") {
  // 'sneaky' says that it reads x, and reads t, whose address it works out; no edge leads from t's writer to it.
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto t = graph.workspace<float>("t", {16});
  const auto y = graph.output<float>("y", {16});
  graph.add<Scale>(x, t, 3.0F);
  const auto sneaky = +[](ArgWord* args) {
    const auto* next = reinterpret_cast<const float*>(args[0]) + 16;  // on a5, tensors of 64 bytes touch
    auto* out = reinterpret_cast<float*>(args[1]);
    for (int i = 0; i < 16; ++i) out[i] = next[i];
  };
  graph.add_raw("sneaky", CoreType::vector, sneaky, reads(x), writes(y));
  auto session = open<A5SimOn<Checked<Inline>>>(graph);
  Floats hx(16, 2.0F), hy(16);
  CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::check_failed);
  const auto& finding = session.platform().engine().findings()[0];
  CHECK(finding.kind == Kind::depends_on_order);
  CHECK(says(finding.text.c_str(), "'y'", "task 1 'sneaky'"));
}

TEST_CASE(
    "A kernel that lives on what the round before left in workspace is found, though it does the same each time") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto t = graph.workspace<float>("t", {16});
  const auto y = graph.output<float>("y", {16});
  const auto sneaky = +[](ArgWord* args) {
    const auto* next = reinterpret_cast<const float*>(args[0]) + 16;  // t, on a5
    auto* out = reinterpret_cast<float*>(args[1]);
    for (int i = 0; i < 16; ++i) out[i] = next[i];
  };
  const TaskId first = graph.add_raw("sneaky", CoreType::vector, sneaky, reads(x), writes(y));
  graph.add_edge(first, graph.add<Scale>(x, t, 3.0F));
  auto session = open<A5SimOn<Checked<Inline>>>(graph);
  Floats hx(16, 2.0F), hy(16);
  CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::check_failed);
  const auto& finding = session.platform().engine().findings()[0];
  CHECK(finding.kind == Kind::not_repeatable);
  CHECK(says(finding.text.c_str(), "memory that nobody wrote", "'y'", "task 0 'sneaky'"));
}

TEST_CASE("What goes wrong only while tasks run at the same time is found on the pool") {
  TaskGraph graph;
  const auto a = graph.output<std::int32_t>("a", {1});
  const auto b = graph.output<std::int32_t>("b", {1});
  graph.add<Overlaps>(a);
  graph.add<Overlaps>(b);
  auto session = open<A2A3SimOn<Checked<Pool>>>(graph);
  std::int32_t ha = 0, hb = 0;
  inside = 0;
  Status status;
  while (status.ok()) status = session.run_round(bind(a, ha), bind(b, hb));  // until both run at once
  CHECK(status.code() == Errc::check_failed);
  CHECK_FALSE(session.poisoned());
  const auto findings = session.platform().engine().findings();
  REQUIRE_FALSE(findings.empty());
  CHECK(findings[0].kind == Kind::race);
  CHECK(says(findings[0].text.c_str(), "they race", "'overlaps'"));
}

TEST_CASE("A session goes on after a round that failed its check") {
  TaskGraph graph;
  const auto x = graph.input<std::uint8_t>("x", {64});
  const auto y = graph.output<std::uint8_t>("y", {64});
  const auto copy_if_even = +[](ArgWord* args) {
    const auto* in = reinterpret_cast<const std::uint8_t*>(args[0]);
    auto* out = reinterpret_cast<std::uint8_t*>(args[1]);
    for (int i = 0; i < (in[0] % 2 == 0 ? 64 : 32); ++i) out[i] = in[i];
  };
  graph.add_raw("copy_if_even", CoreType::vector, copy_if_even, reads(x), writes(y));
  auto session = open<A2A3SimOn<Checked<Pool>>>(graph);
  std::vector<std::uint8_t> hx(64), hy(64);
  for (std::uint8_t round = 0; round < 10; ++round) {
    hx.assign(64, round);
    CHECK(session.run_round(bind(x, hx), bind(y, hy)).ok() == (round % 2 == 0));
    CHECK(session.platform().engine().findings().empty() == (round % 2 == 0));
    CHECK(hy[0] == round - round % 2);
  }
  CHECK(session.rounds() == 5);
}

TEST_CASE("More findings than the list holds are counted") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  for (int i = 0; i < 40; ++i) graph.add<CopyPart>(x, graph.workspace<float>("t" + std::to_string(i), {4}), 1U);
  auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
  Floats hx(4);
  CHECK(session.run_round(bind(x, hx)).code() == Errc::check_failed);
  CHECK(session.platform().engine().findings().size() == platform::sim::Findings::most);
  CHECK(session.platform().engine().findings_dropped() == 40 - platform::sim::Findings::most);
}

TEST_CASE("A kernel that throws and a request to stop end a checked round as they do unchecked") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<Fragile>(x, y);
  auto session = open<A2A3SimOn<Checked<Pool>>>(graph);
  Floats hx{1, 0, 0, 0}, hy(4);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  hx[0] = -1;
  const Status status = session.run_round(bind(x, hx), bind(y, hy));
  CHECK(status == Status::of_task(Errc::kernel_failed, 0).poisoning());
  CHECK(says(session.explain(status).c_str(), "a negative element"));
  auto stopped = open<A2A3SimOn<Checked<Pool>>>(graph);
  stopped.request_stop();
  hx[0] = 1;
  CHECK(stopped.run_round(bind(x, hx), bind(y, hy)).code() == Errc::stopped);
}

TEST_CASE("A graph without tasks or tensors is checked, too") {
  auto nothing = open<A2A3SimOn<Checked<Pool>>>(TaskGraph{});
  CHECK(nothing.run_round().ok());
  TaskGraph graph;
  graph.add_raw("idle", CoreType::vector, no_kernel);
  auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
  CHECK(session.run_round().ok());
}

namespace {

struct Debugging : DefaultPolicies {
  using Check = CheckRounds;
};
}  // namespace

TEST_CASE("As a policy, open() puts the check around the platform's engine, whatever it opens") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {8});
  const auto y = graph.output<float>("y", {8});
  graph.add<WritesInput>(x, y);
  Floats hx(8, 1.0F), hy(8);

  auto session = open<A2A3SimOn<Pool>, Debugging>(graph);
  static_assert(std::is_same_v<decltype(session), RoundSession<A2A3SimOn<Checked<Pool>>, Debugging>>);
  CHECK(session.run_round(bind(x, hx), bind(y, hy)).code() == Errc::check_failed);
  REQUIRE(session.platform().engine().findings().size() == 1);
  CHECK(session.platform().engine().findings()[0].kind == Kind::wrote_input);

  auto frozen = open<A5Sim, Debugging>(freeze(graph));
  CHECK(frozen.run_round(bind(x, hx), bind(y, hy)).code() == Errc::check_failed);
  auto in_flight = open_pipelined<A5Sim, 2, Debugging>(graph);
  CHECK(in_flight.wait(in_flight.submit_round(bind(x, hx), bind(y, hy))).code() == Errc::check_failed);
  auto shaped = open_shaped<A5Sim, Debugging>(graph);
  CHECK(shaped.run_round(bind(x, hx), bind(y, hy)).code() == Errc::check_failed);

  auto checked_already = open<A2A3SimOn<Checked<Pool>>, Debugging>(graph);
  static_assert(std::is_same_v<decltype(checked_already), decltype(session)>);
}

namespace {

/// Counts the repetitions; in the second one, y is left as it is, or the input is changed.
struct SlipsLater {
  static constexpr std::string_view name = "slips_later";
  static constexpr auto core = CoreType::vector;
  static void run(In<std::int32_t> x, InOut<std::int32_t> n, Out<std::int32_t> y, Out<std::int32_t> done,
                  bool changes_input) {
    ++n[0];
    if (n[0] != 2 || changes_input) y[0] = x[0];
    if (n[0] == 2 && changes_input) const_cast<std::int32_t*>(x.data())[0] = 7;  // NOLINT: the mistake to be found
    done[0] = n[0] == 3 ? 1 : 0;
  }
};

}  // namespace

TEST_CASE("Each repetition of a loop is checked") {
  for (const bool changes_input : {false, true}) {
    TaskGraph graph;
    const auto x = graph.input<std::int32_t>("x", {1});
    const auto n = graph.inout<std::int32_t>("n", {1});
    const auto y = graph.output<std::int32_t>("y", {1});
    const auto done = graph.workspace<std::int32_t>("done", {1});
    TaskId task{};
    graph.repeat_until(done, 3, [&] { task = graph.add<SlipsLater>(x, n, y, done, changes_input); });
    auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
    const Ints hx{5};
    Ints hn{0}, hy{0};
    CHECK(session.run_round(bind(x, hx), bind(n, hn), bind(y, hy)) == Status::of_task(Errc::check_failed, index(task)));
    const auto findings = session.platform().engine().findings();
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].kind == (changes_input ? Kind::wrote_input : Kind::left_unwritten));
    hn[0] = 2;  // the last repetition is right
    CHECK(session.run_round(bind(x, hx), bind(n, hn), bind(y, hy)).ok());
    CHECK(hn[0] == 3);
    CHECK(hy[0] == 5);
  }
}

namespace {

/// y = x + 1
struct AddOne {
  static constexpr std::string_view name = "add_one";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 1;
  }
};

}  // namespace

TEST_CASE("An output that reuses an input is checked: it is no memory that nobody wrote") {
  for (const bool has_between : {false, true}) {
    CAPTURE(has_between);
    TaskGraph graph;
    const auto x = graph.input<float>("x", {16});
    const auto y = graph.output<float>("y", {16});
    graph.alias(y, x);
    if (has_between) {
      const auto t = graph.workspace<float>("t", {16});
      graph.add<AddOne>(x, t);
      graph.add<AddOne>(t, y);
    } else {
      graph.add<AddOne>(x, y);
    }
    auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
    Floats memory(16, 1);
    const Status status = session.run_round(bind(x, memory), bind(y, memory));
    INFO(std::string(session.explain(status).c_str()));
    CHECK(status.ok());
    CHECK(memory == Floats(16, has_between ? 3 : 2));
  }
}

TEST_CASE("A check of a view sees the memory that it shows, also where that is the caller's or has moved") {
  {
    TaskGraph graph;
    const auto x = graph.input<float>("x", {16});
    const auto v = graph.output<float>("v", {16});
    const auto y = graph.output<float>("y", {16});
    graph.make_view(v, x);
    graph.add<AddOne>(v, y);
    auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
    const Floats in(16, 5);
    Floats shown(16), out(16);
    auto memory = session.allocate(x);
    REQUIRE(session.upload(memory, in).ok());
    REQUIRE(session.run_round(bind(x, memory), bind(v, shown), bind(y, out)).ok());
    CHECK(out == Floats(16, 6));
    CHECK(shown == Floats(16, 5));
  }
  TaskGraph graph;
  const auto w = graph.resident<float>("w", {16});
  const auto v = graph.workspace<float>("v", {16});
  const auto y = graph.output<float>("y", {16});
  graph.make_view(v, w);
  graph.add<AddOne>(v, y);
  auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
  Floats weights(16, 5), out(16);
  const auto memory = session.platform().allocate(session.arena_bytes(), Bytes{4096});
  REQUIRE(session.move_arena({memory, session.arena_bytes().value}).ok());
  REQUIRE(session.upload(w, weights).ok());
  REQUIRE(session.run_round(bind(y, out)).ok());
  CHECK(out == Floats(16, 6));
  REQUIRE(session.download(w, weights).ok());
  CHECK(weights == Floats(16, 5));
  CHECK(session.platform().release(memory).ok());
}

TEST_CASE("A check follows the arena of a session of many shapes when it grows") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  const auto r = graph.resident<float>("r", {1});
  const auto w = graph.workspace<float>("w", {n});
  graph.add<AddOne>(x, w);
  graph.add<AddOne>(w, y);
  graph.add<Accumulate>(x, r);
  auto session = open_shaped<A2A3SimOn<Checked<Inline>>>(graph);
  Floats sum{0};
  REQUIRE(session.upload(r, sum).ok());
  Floats small(64, 1), out(64), large(100000, 1), large_out(100000);
  for (int round = 0; round < 2; ++round) {
    REQUIRE(session.run_round(bind(x, small), bind(y, out)).ok());
    CHECK(out == Floats(64, 3));
    REQUIRE(session.run_round(bind(x, large), bind(y, large_out)).ok());
    CHECK(large_out == Floats(100000, 3));
  }
  session.reserve(Bytes{std::uint64_t{1} << 24U});
  REQUIRE(session.run_round(bind(x, small), bind(y, out)).ok());
  REQUIRE(session.download(r, sum).ok());
  CHECK(sum == Floats{5});
}

TEST_CASE("A check follows a moved arena, and the memory before is not used again") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.output<float>("y", {16});
  graph.add<AddOne>(x, y);
  auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
  const Floats in(16, 5);
  DevicePtr<std::byte> before;
  for (int move = 0; move < 2; ++move) {
    const auto memory = session.platform().allocate(session.arena_bytes(), Bytes{4096});
    REQUIRE(session.move_arena({memory, session.arena_bytes().value}).ok());
    if (before) CHECK(session.platform().release(before).ok());
    before = memory;
    Floats out(16);
    auto bound = session.allocate(x);
    REQUIRE(session.upload(bound, in).ok());
    REQUIRE(session.run_round(bind(x, bound), bind(y, out)).ok());
    CHECK(out == Floats(16, 6));
  }
  CHECK(session.close().ok());
}

TEST_CASE("A check sees tensors that have memory of their own") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  const auto y = graph.output<float>("y", {16});
  const auto z = graph.output<float>("z", {16});
  const auto kept = graph.resident<float>("kept", {16});
  const auto changed = graph.resident<float>("changed", {16});
  graph.in_memory(kept, MemoryKind::huge_pages);
  graph.in_memory(changed, MemoryKind::peer);
  graph.add<AddOne>(x, y);
  graph.add<Accumulate>(x, kept);
  graph.add<WritesInput>(changed, z);
  auto session = open<A2A3SimOn<Checked<Inline>>>(graph);
  const Floats in(16, 5), weights(16, 1);
  Floats hy(16), hz(16);
  REQUIRE(session.upload(kept, weights).ok());
  REQUIRE(session.upload(changed, weights).ok());
  CHECK(session.run_round(bind(x, in), bind(y, hy), bind(z, hz)).code() == Errc::check_failed);
  const auto findings = session.platform().engine().findings();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == Kind::wrote_input);
  CHECK(says(findings[0].text.c_str(), "changed 1 bytes of tensor 'changed', the first at byte 11"));
  CHECK(session.close().ok());
}

namespace {
struct Where {
  std::uint64_t at = 0;
  static Where make(std::uint64_t address, const Shape&) noexcept { return {address}; }
};
/// Adds 1 through a descriptor, as a kernel with a map of its tensor does; y says whether the map is of x.
struct AddThrough {
  static constexpr std::string_view name = "add_through";
  static constexpr auto core = CoreType::vector;
  static void run(InOut<float> x, Out<float> y, launch::Descriptor<Where> map) noexcept {
    auto* const at = reinterpret_cast<float*>(map.at);
    for (std::size_t i = 0; i < x.size(); ++i) at[i] += 1;
    y[0] = at == x.data() ? 1.0F : 0.0F;
  }
};
struct WithValues : DefaultPolicies {
  using Values = launch::RoundValues<>;
};
}  // namespace

TEST_CASE_TEMPLATE("Descriptors of memory that a round binds follow it into the arena and back", Engine,
                   Checked<platform::sim::Inline>, Checked<Pool>) {
  TaskGraph graph;
  const auto x = graph.inout<float>("x", {16});
  const auto y = graph.output<float>("y", {1});
  const auto map = launch::descriptor<Where>(graph, "map", x);
  graph.add<AddThrough>(x, y, map);
  auto session = open<A2A3SimOn<Engine>, WithValues>(graph);
  Floats hx(16, 5), hy(1);
  auto first = session.allocate(x), second = session.allocate(x);
  float expected = 5;
  for (auto* const array : {&first, &first, &second, &first}) {
    REQUIRE(session.upload(*array, hx).ok());
    hy[0] = 0;
    REQUIRE(session.run_round(bind(x, *array), bind(y, hy)).ok());
    REQUIRE(session.download(*array, hx).ok());
    CHECK(hx == Floats(16, ++expected));
    CHECK(hy[0] == 1);
  }
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hx == Floats(16, ++expected));
}

namespace {

struct Both {
  static constexpr std::string_view name = "both";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y, Out<float> none) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + static_cast<float>(none.size());
  }
};

}  // namespace

TEST_CASE("A check of a task that writes one tensor without elements and one with some finds nothing") {
  TaskGraph graph;
  const Dim k = graph.dim("k");
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  const auto none = graph.output<float>("none", {k});
  graph.add<Both>(x, y, none);
  auto session = open_shaped<A2A3SimOn<Checked<platform::sim::Inline>>>(std::move(graph));
  std::vector<float> hx(4, 2), hy(4), nothing;
  CHECK(session.run_round(bind(x, hx), bind(y, hy), bind(none, nothing)).ok());
  CHECK(hy == hx);
}
