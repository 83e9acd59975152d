// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/formatted.hpp>

#include <rondo/graph/instantiate.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

template <class T>
T* at(ArgWord word) {
  return reinterpret_cast<T*>(word);
}

/// "{i0}{o0*}{t}": y = the elements of all inputs, one after the other, times a scalar.
void concat(ArgWord* args) {
  const ArgWord* list = at<const ArgWord>(args[0]);
  auto* y = at<float>(args[1]);
  const ArgWord* tiling = at<const ArgWord>(args[2]);
  const auto count = static_cast<std::size_t>(tiling[0]);
  const auto factor = static_cast<float>(tiling[1]);
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < 4; ++i) y[4 * k + i] = factor * at<const float>(list[k])[i];
  }
}

/// "{i_desc0}{o0*}": y[k] = rank, extents and first element of each input, read from its shape block.
void describe(ArgWord* args) {
  const auto* block = at<const std::uint64_t>(args[0]);
  auto* y = at<std::int64_t>(args[1]);
  const auto* addresses = reinterpret_cast<const ArgWord*>(reinterpret_cast<const char*>(block) + block[0]);
  const std::uint64_t* word = block + 1;
  for (int k = 0; k < 2; ++k) {
    const std::uint64_t rank = *word++ & 0xFFFF'FFFF;
    *y++ = static_cast<std::int64_t>(rank);
    for (std::uint64_t d = 0; d < rank; ++d) *y++ = static_cast<std::int64_t>(*word++);
    *y++ = static_cast<std::int64_t>(*at<const float>(addresses[k]));
  }
}

/// "{skn7i0*}{skn9i0*}{skn9o0*}{#5}": one kernel made of two.
void fused(ArgWord* args) {
  for (std::size_t i = 0; i < 4; ++i) {
    at<float>(args[2])[i] = at<const float>(args[0])[i] + at<const float>(args[1])[i] + static_cast<float>(args[3]);
  }
}

struct FourInputs {
  FourInputs() {
    a = graph.input<float>("a", {4});
    b = graph.input<float>("b", {4});
    c = graph.input<float>("c", {2, 2});
  }
  TaskGraph graph;
  Input<float> a, b, c;
};

}  // namespace

TEST_CASE("A dynamic input folds to a list of addresses, each of which a round may rebind") {
  FourInputs g;
  const auto y = g.graph.output<float>("y", {12});
  args::Operands io;
  io.dynamic_input(g.a, g.b, g.c).output(y).tiling(3).tiling(std::uint8_t{2});
  const TaskId task = args::add_formatted(g.graph, "concat", CoreType::vector, &concat, "{i0}{o0*}{t}", io);
  CHECK(g.graph.tasks()[0].block_bytes == 8 * (3 + 3 + 2));

  auto session = open<A2A3Sim>(g.graph);
  std::vector<float> ha{1, 2, 3, 4}, hb{5, 6, 7, 8}, hc{9, 10, 11, 12}, hy(12);
  REQUIRE(session.run_round(bind(g.a, ha), bind(g.b, hb), bind(g.c, hc), bind(y, hy)));
  CHECK(hy == std::vector<float>{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24});

  alignas(64) float elsewhere[8] = {-1, -2, -3, -4};
  const DeviceSpan<const float> device{DevicePtr<const float>{reinterpret_cast<std::uintptr_t>(elsewhere)}, 4};
  REQUIRE(session.set_scalar(task, 1, std::uint8_t{1}));
  REQUIRE(session.run_round(bind(g.a, ha), bind(g.b, device), bind(g.c, hc), bind(y, hy)));
  CHECK(hy == std::vector<float>{1, 2, 3, 4, -1, -2, -3, -4, 9, 10, 11, 12});
}

TEST_CASE("A shape block describes each instance of a dynamic input") {
  FourInputs g;
  const auto y = g.graph.output<std::int64_t>("y", {7});
  args::Operands io;
  io.dynamic_input(g.b, g.c).output(y);
  args::add_formatted(g.graph, "describe", CoreType::vector, &describe, "{i_desc0}{o0*}", io);
  auto session = open<A5Sim>(g.graph);
  std::vector<float> ha(4), hb{42, 0, 0, 0}, hc{43, 0, 0, 0};
  std::vector<std::int64_t> hy(7);
  REQUIRE(session.run_round(bind(g.a, ha), bind(g.b, hb), bind(g.c, hc), bind(y, hy)));
  CHECK(hy == std::vector<std::int64_t>{1, 4, 42, 2, 2, 2, 43});
}

TEST_CASE("A shape block describes the tensor of its own parameter") {
  FourInputs g;
  const auto y = g.graph.output<float>("y", {4});
  args::Operands io;
  io.input(g.a).input(g.c).output(y);
  args::add_formatted(g.graph, "k", CoreType::vector, &no_kernel, "{i0*}{i_desc1}{o_desc0}", io);
  auto session = open<A2A3Sim>(g.graph);
  const auto* block = at<const ArgWord>(session.args().block(0, 0)[1]);
  CHECK(block[0] == 32);
  CHECK(block[1] == 0x1'0000'0002);
  CHECK(block[2] == 2);
  CHECK(block[3] == 2);
  block = at<const ArgWord>(session.args().block(0, 0)[2]);
  CHECK(block[1] == 0x1'0000'0001);
  CHECK(block[2] == 4);
}

TEST_CASE("The patterns of a super-kernel find the operands of their node") {
  FourInputs g;
  const auto y = g.graph.output<float>("y", {4});
  args::Operands first, second, all;
  first.input(g.a);
  second.input(g.b).output(y);
  all.node(7, first).node(9, second);
  args::add_formatted(g.graph, "fused", CoreType::vector, &fused, "{skn7i0*}{skn9i0*}{skn9o0*}{#5}", all);
  auto session = open<A2A3Sim>(g.graph);
  std::vector<float> ha{1, 2, 3, 4}, hb{10, 20, 30, 40}, hc(4), hy(4);
  REQUIRE(session.run_round(bind(g.a, ha), bind(g.b, hb), bind(g.c, hc), bind(y, hy)));
  CHECK(hy == std::vector<float>{16, 27, 38, 49});
}

TEST_CASE("The tiling data of a super-kernel and of its node are apart, and each is a scalar of the task") {
  FourInputs g;
  const auto y = g.graph.output<float>("y", {4});
  args::Operands io;
  io.input(g.a).output(y).tiling(std::int32_t{2}).node(7, args::Operands().input(g.b).tiling(3).tiling(5));
  const auto task = args::add_formatted(
      g.graph, "scaled", CoreType::vector,
      +[](ArgWord* args) {
        const auto *own = at<const ArgWord>(args[2]), *its = at<const ArgWord>(args[4]);
        for (std::size_t i = 0; i < 4; ++i) {
          at<float>(args[1])[i] = static_cast<float>(own[0]) * at<const float>(args[0])[i] +
                                  static_cast<float>(its[0] + 100 * its[1]) * at<const float>(args[3])[i];
        }
      },
      "{i0*}{o0*}{t}{skn7i0*}{skn7t}", io);
  auto session = open<A2A3Sim>(g.graph);
  std::vector<float> ha(4, 1), hb(4, 1), hc(4), hy(4);
  REQUIRE(session.run_round(bind(g.a, ha), bind(g.b, hb), bind(g.c, hc), bind(y, hy)).ok());
  CHECK(hy == std::vector<float>(4, 2 + 3 + 500));
  REQUIRE(session.set_scalar(task, 1, 4).ok());
  REQUIRE(session.run_round(bind(g.a, ha), bind(g.b, hb), bind(g.c, hc), bind(y, hy)).ok());
  CHECK(hy == std::vector<float>(4, 2 + 4 + 500));
  const auto refused = [&](std::string_view format, const args::Operands& operands) {
    TaskGraph copy = g.graph;
    return raised([&] { args::add_formatted(copy, "kernel", CoreType::vector, &fused, format, operands); }).text;
  };
  CHECK(says(refused("{i0*}{o0*}{t}{skn7i0*}", io), "has no {t}"));
  args::Operands without;
  without.input(g.a).output(y).node(7, args::Operands().input(g.b));
  CHECK(says(refused("{i0*}{o0*}{skn7i0*}{skn7t}", without), "no tiling data"));
}

TEST_CASE("A tensor that is input and output is updated, optional ones that are not there are null") {
  TaskGraph graph;
  const auto s = graph.inout<float>("s", {4});
  args::Operands io;
  io.input(s).no_input().output(s).no_output();
  args::add_formatted(graph, "update", CoreType::vector, &no_kernel, "{i*}{o*}", io);
  CHECK(graph.tasks()[0].blocks == 1);
  REQUIRE(graph.args().size() == 4);
  CHECK(graph.args()[0].access == Access::read_write);
  CHECK(graph.args()[2].access == Access::read_write);
  CHECK(graph.args()[1].kind == graph::ArgRecord::Kind::constant);
  CHECK(graph.args()[3].kind == graph::ArgRecord::Kind::constant);
}

TEST_CASE("A workspace is written") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto t = graph.workspace<float>("t", {4});
  args::Operands io;
  io.input(x).workspace(t);
  args::add_formatted(graph, "scratch", CoreType::vector, &no_kernel, "{i0*}{ws0*}", io);
  REQUIRE(graph.args().size() == 2);
  CHECK(graph.args()[0].access == Access::read);
  CHECK(graph.args()[1].access == Access::write);
}

TEST_CASE("What does not fit is refused with the pattern and its position, the graph unchanged") {
  FourInputs g;
  TaskGraph other;
  const auto foreign = other.input<float>("foreign", {4});
  const auto y = g.graph.output<float>("y", {4});
  const auto refused = [&](std::string_view format, const args::Operands& io) {
    const Raised r = raised([&] { args::add_formatted(g.graph, "k", CoreType::vector, &no_kernel, format, io); });
    CHECK(r.code == Errc::invalid_argument);
    return r.text;
  };
  args::Operands io;
  io.input(g.a).output(y);
  CHECK(says(refused("{i0*}{o0*}{wx}", io), "{wx}", "10"));
  CHECK(says(refused("{i0*}{i3*}{o0*}", io), "{i3*}", "5"));
  CHECK(says(refused("{o0*}", io), "leaves out", "'a'"));
  CHECK(says(refused("{i0*}{o0*}{t}", io), "{t}", "no tiling data"));
  CHECK(says(refused("{i0*}{o0*}", args::Operands(io).tiling(1)), "has no {t}"));
  CHECK(says(refused("{i0*}{o0*}{i1*}", args::Operands(io).input(foreign)), "another graph"));
  TaskGraph copy = g.graph;
  const auto later = copy.input<float>("later", {4});  // its number is that of no tensor of the first graph
  CHECK(says(refused("{i0*}{o0*}{i1*}", args::Operands(io).input(later)), "another graph"));
  CHECK(says(refused("{skn3i0*}", args::Operands().node(4, io)), "skn3"));
  CHECK(g.graph.tasks().empty());
}

TEST_CASE("Shape blocks of symbolic tensors hold each shape's extents, and literals that look like them stay") {
  TaskGraph graph;
  const Dim n = graph.dim("n");
  const auto a = graph.input<float>("a", {n, 2});
  const auto b = graph.input<float>("b", {3, ceil_div(n, 2), n * 2});
  const auto y = graph.output<std::int64_t>("y", {9});
  args::Operands io;
  io.dynamic_input(a, b).output(y);
  args::add_formatted(graph, "describe", CoreType::vector, &describe, "{i_desc0}{o0*}{#6510615555426900570}", io);
  for (const std::int64_t value : {1, 4, 7}) {
    const std::int64_t values[] = {value};
    auto session = open<A2A3Sim>(instantiate(graph, values));
    std::vector<float> ha(static_cast<std::size_t>(2 * value), 5);
    std::vector<float> hb(static_cast<std::size_t>(3 * ((value + 1) / 2) * 2 * value), 6);
    std::vector<std::int64_t> hy(9);
    REQUIRE(session.run_round(bind(a, ha), bind(b, hb), bind(y, hy)).ok());
    CHECK(hy == std::vector<std::int64_t>{2, value, 2, 5, 3, 3, (value + 1) / 2, 2 * value, 6});
    const ArgWord* block = session.args().block(0, 0);
    CHECK(block[2] == 6510615555426900570);  // 0x5A5A5A5A5A5A5A5A
  }
}
