// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/kernel_args.hpp>

#include <rondo/graph/instantiate.hpp>
#include <rondo/graph/static_graph.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/open_static.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// z = a x + y, s += x, through scratch; the format mixes widths, so that addresses stand anywhere.
struct Mixed {
  static constexpr std::string_view name = "mixed";
  static constexpr auto core = CoreType::vector;
  static constexpr auto args = "{#.32b7}{o0*}{i1*}{t}{.32b}{i0*}{ws0*}{o1*}{}"_args;
  static void run(In<float> x, float a, In<float, 2> y, Out<float> z, Scratch<float> t, InOut<float> s) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) t[i] = a * x[i];
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = t[i] + y[i];
    for (std::size_t i = 0; i < s.size(); ++i) s[i] += x[i];
  }
};

struct Described {
  static constexpr std::string_view name = "described";
  static constexpr auto core = CoreType::vector;
  static constexpr auto args = "{i_desc0}{o0*}"_args;
  static void run(In<float, 2> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
struct DescribedFlat {
  static constexpr std::string_view name = "described_flat";
  static constexpr auto core = CoreType::vector;
  static constexpr auto args = "{i_desc0}{o0*}"_args;
  static void run(In<float> x, Out<float> y) noexcept { y[0] = x[0]; }
};

struct Words {
  static constexpr std::string_view name = "words";
  static constexpr auto core = CoreType::vector;
  static constexpr auto args = "{o0*}{t}"_args;
  static void run(std::int32_t a, Out<float> y, float b, Block block, std::int64_t c) noexcept {
    const float values[] = {static_cast<float>(a), b, static_cast<float>(block.count), static_cast<float>(c)};
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = values[i];
  }
};

struct OnlyWords {
  static constexpr std::string_view name = "only_words";
  static constexpr auto core = CoreType::vector;
  static constexpr auto args = "{t}"_args;
  static void run(std::int32_t) noexcept {}
};

struct DescribesItsOutput {
  static constexpr std::string_view name = "describes_its_output";
  static constexpr auto core = CoreType::vector;
  static constexpr auto args = "{i0*}{o_desc0}"_args;
  static void run(In<float> x, Out<float, 2> y) noexcept { y[0] = x[0]; }
};

struct Hidden {
  static constexpr std::string_view name = "hidden";
  static constexpr auto core = CoreType::vector;
  static constexpr auto args = "{hi.hcom1*}{o0*}{ffts_addr}"_args;
  static void run(Out<float> y) noexcept { y[0] = 1; }
};
struct Provider : DefaultPolicies {
  static std::uint64_t system_address(args::SystemSlot slot) {
    if (slot.kind == args::SlotKind::ffts_addr) return 0xFF75;
    CHECK(slot == args::SystemSlot{args::SlotKind::hidden_input, args::Variant::hcom, 1});
    return 0x1234'5678'9ABC;
  }
};

constexpr auto build = [] {
  TaskGraph g;
  const auto x = g.input<float>("x", {6});
  const auto y = g.input<float>("y", {2, 3});
  const auto z = g.output<float>("z", {6});
  const auto s = g.inout<float>("s", {6});
  g.add<Mixed>(x, 3.0F, y, z, g.workspace<float>("t", {6}), s);
  return g;
};

template <class Word = std::uint64_t>
Word word_at(const ArgWord* block, std::size_t byte) {
  Word word = 0;
  std::memcpy(&word, reinterpret_cast<const char*>(block) + byte, sizeof(word));
  return word;
}

template <class Session>
void check_mixed(Session& session) {
  const graph::GraphView graph = session.graph().view();
  const auto x = graph.find<float, Direction::in>("x");
  const auto y = graph.find<float, Direction::in>("y");
  const auto z = graph.find<float, Direction::out>("z");
  const auto s = graph.find<float, Direction::inout>("s");
  for (int round = 0; round < 5; ++round) {
    const auto value = static_cast<float>(round);
    std::vector<float> hx(6, value), hy(6, 10), hz(6), hs(6, 1);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy), bind(z, hz), bind(s, hs)).ok());
    CHECK(hz == std::vector<float>(6, 3 * value + 10));
    CHECK(hs == std::vector<float>(6, 1 + value));
  }
}

}  // namespace

TEST_CASE("A kernel's own format places its arguments, and its body finds them there") {
  struct Apart : DefaultPolicies {
    using Plan = memory::Disjoint;
  };
  auto session = open<A2A3Sim, Apart>(build());
  check_mixed(session);
  const ArgWord* block = session.args().block(0, 0);
  CHECK(word_at<std::uint32_t>(block, 0) == 7);
  const graph::GraphView view = session.graph().view();
  const std::uint64_t x = word_at(block, 32);  // x, y, z stand side by side in the arena, as they were declared
  CHECK(word_at(block, 12) == x + 64);
  CHECK(word_at(block, 4) == x + 128);
  CHECK(view.tasks[0].block_bytes == 64 + 8 * 7);
  CHECK(word_at(block, 20) == reinterpret_cast<std::uintptr_t>(block) + 64);  // {t}: after the format's 64 bytes
  CHECK((word_at(block, 28) & 0xFFFF'FFFF) == 0);
  CHECK(word_at(block, 56) == 0);
  CHECK(word_at(block, 64) == 0x4040'0000);  // the scalar 3.0F, then the extents
  CHECK(word_at(block, 72) == 6);
  CHECK(word_at(block, 80) == 2);
  CHECK(word_at(block, 88) == 3);
}

TEST_CASE("A kernel's scalars and its block follow the format in the order of its parameters") {
  TaskGraph graph;
  const auto y = graph.output<float>("y", {4});
  graph.add<Words>(7, y, 2.5F, 11);
  auto session = open<A2A3Sim>(graph);
  std::vector<float> hy(4);
  REQUIRE(session.run_round(bind(y, hy)).ok());
  CHECK(hy == std::vector<float>{7, 2.5F, 1, 11});
}

constexpr auto& constant = static_graph<build>;

TEST_CASE("A static graph lays out a declared format at compile time") {
  static_assert(constant.view().tasks[0].block_bytes == 64 + 8 * 7);
  auto session = open<A2A3Sim, constant>();
  check_mixed(session);
}

TEST_CASE("A described tensor brings its shape and its address, which stays refreshable") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2, 3});
  const auto y = graph.output<float>("y", {6});
  graph.add<Described>(x, y);
  auto session = open<A2A3Sim>(graph);
  std::vector<float> hx(6, 4), hy(6);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy == std::vector<float>(6, 8));
  const ArgWord* block = session.args().block(0, 0);
  CHECK(block[0] == static_cast<ArgWord>(reinterpret_cast<std::uintptr_t>(block)) + 16);
  CHECK(block[2] == 32);             // the addresses start 32 bytes after the start of the shape block
  CHECK(block[3] == 0x1'0000'0002);  // rank 2
  CHECK(block[4] == 2);
  CHECK(block[5] == 3);
  struct alignas(64) {
    float values[16] = {1, 1, 1, 1, 1, 1};
  } device;
  const DeviceSpan<float> span{DevicePtr<float>{reinterpret_cast<std::uintptr_t>(&device)}, 6};
  REQUIRE(session.run_round(bind(x, span), bind(y, hy)).ok());
  CHECK(hy == std::vector<float>(6, 2));
  CHECK(block[6] == static_cast<ArgWord>(span.data().address()));
}

TEST_CASE("A described output brings its own shape") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {7});
  const auto y = graph.output<float>("y", {2, 3});
  graph.add<DescribesItsOutput>(x, y);
  auto session = open<A2A3Sim>(graph);
  const auto* block = reinterpret_cast<const ArgWord*>(session.args().block(0, 0)[1]);
  CHECK(block[1] == 0x1'0000'0002);
  CHECK(block[2] == 2);
  CHECK(block[3] == 3);
}

TEST_CASE("A kernel with a format of its own needs no tensor") {
  TaskGraph graph;
  graph.add<OnlyWords>(9);
  const FrozenGraph frozen = freeze(graph);
  REQUIRE(frozen.view().tasks[0].block_bytes == 16);
  CHECK(frozen.view().args[1].bits == 9);
}

TEST_CASE("A described tensor whose rank the types do not tell is refused when the graph is built") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2, 3});
  const auto y = graph.output<float>("y", {1});
  const Raised r = raised([&] { graph.add<DescribedFlat>(x, y); });
  CHECK(r.code == Errc::invalid_argument);
  CHECK(says(r.text, "described_flat"));
  CHECK(graph.tasks().empty());
  const auto flat = graph.input<float>("flat", {6});
  const Raised other = raised([&] { graph.add<Described>(flat, y); });
  CHECK(other.code == Errc::invalid_argument);
  CHECK(says(other.text, "takes a tensor of 2 dimensions"));
}

TEST_CASE("A described tensor of one element, without dimensions, has an extent of 1") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {});
  const auto y = graph.output<float>("y", {1});
  graph.add<DescribedFlat>(x, y);
  auto session = open<A2A3Sim>(graph);
  const std::vector<float> hx{5};
  std::vector<float> hy(1);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy[0] == 5);
  const ArgWord* block = session.args().block(0, 0);
  CHECK(block[3] == 0x1'0000'0001);  // rank 1, as the parameter has
  CHECK(block[4] == 1);
}

TEST_CASE("A hidden input is filled by whoever is registered for it, or the session does not open") {
  TaskGraph graph;
  const auto y = graph.output<float>("y", {1});
  graph.add<Hidden>(y);
  const Raised r = raised([&] { auto session = open<A2A3Sim>(graph); });
  CHECK(r.code == Errc::unsupported);
  CHECK(says(r.text, "hidden input 1"));
  auto session = open<A2A3Sim, Provider>(graph);
  CHECK(session.args().block(0, 0)[0] == 0x1234'5678'9ABC);
  CHECK(session.args().block(0, 0)[2] == 0xFF75);
}

namespace {
/// Reads extents where the device finds them, in the shape block, and where run() does.
struct TellsItsShape {
  static constexpr std::string_view name = "tells_its_shape";
  static constexpr auto core = CoreType::vector;
  static constexpr auto args = "{i_desc0}{o0*}{t}"_args;
  static void run(In<float, 2> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(100 * x.extent(0) + x.extent(1));
  }
};
}  // namespace

TEST_CASE("A kernel that declares its args takes symbolic shapes, in its extents and in shape blocks") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto x = graph.input<float>("x", {n, n + 1});
  const auto y = graph.output<float>("y", {2});
  graph.add<TellsItsShape>(x, y);
  for (const std::int64_t value : {2, 5}) {
    const std::int64_t values[] = {value};
    auto session = open<A2A3Sim>(instantiate(graph, values));
    std::vector<float> hx(static_cast<std::size_t>(value * (value + 1))), hy(2);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    CHECK(hy[1] == static_cast<float>(101 * value + 1));
    const ArgWord* const block = reinterpret_cast<const ArgWord*>(session.args().block(0, 0)[0]);
    CHECK(block[1] == (std::int64_t{1} << 32 | 2));
    CHECK(block[2] == value);
    CHECK(block[3] == value + 1);
  }
}
