// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Host memory with strides: rounds of every kind of session pack what they read, and scatter what they wrote.

#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>
#include <unit/support.hpp>

#include <cstdint>
#include <vector>

using namespace rondo;
using test::raised;

#define RONDO_TEST_PLATFORMS A2A3Sim, HostOn<Pool>, A5SimOn<Pool>, A2A3OverStandIn, A5OverStandIn, toy::ToyPlatform

namespace {

using Floats = std::vector<float>;

constexpr std::int64_t rows = 3;
constexpr std::int64_t cols = 5;

/// y = 3 x, s += x, of rows × cols elements.
struct Graph {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {rows, cols});
  Output<float> y = graph.output<float>("y", {rows, cols});
  InputOutput<float> s = graph.inout<float>("s", {rows, cols});
  Graph() {
    graph.add<kernels::Scale>(x, y, 3.0F);
    graph.add<kernels::Accumulate>(x, s);
  }
};

/// A matrix of rows × cols floats somewhere in larger memory, as NumPy would see it.
struct Matrix {
  Floats memory;
  std::int64_t first = 0, row = 0, col = 0;  ///< in elements

  Matrix(std::size_t size, std::int64_t at, std::int64_t to_next_row, std::int64_t to_next_col)
      : memory(size, -7), first{at}, row{to_next_row}, col{to_next_col} {}
  [[nodiscard]] float& operator()(std::int64_t r, std::int64_t c) {
    return memory[static_cast<std::size_t>(first + r * row + c * col)];
  }
  [[nodiscard]] float* data() { return &(*this)(0, 0); }
  [[nodiscard]] StridedLayout layout() const {
    const std::int64_t extents[] = {rows, cols};
    const std::int64_t strides[] = {4 * row, 4 * col};
    return {sizeof(float), extents, strides, 2};
  }
  void fill(float value) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) (*this)(r, c) = value + static_cast<float>(r * cols + c);
    }
  }
  /// Whether each element is `factor * (value + its number) + plus`, and nothing else was touched.
  [[nodiscard]] bool holds(float value, float factor, float plus, std::size_t elements = rows * cols) {
    bool same = true;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        same = same && (*this)(r, c) == factor * (value + static_cast<float>(r * cols + c)) + plus;
      }
    }
    std::size_t untouched = 0;
    for (const float f : memory) untouched += f == -7 ? 1 : 0;
    return same && untouched == memory.size() - elements;
  }
};

Matrix every_other_column() { return {2 * rows * cols, 1, 2 * cols, 2}; }
Matrix transposed() { return {rows * cols, 0, 1, rows}; }
Matrix backwards() { return {rows * cols, rows * cols - 1, -cols, -1}; }
Matrix with_gaps_between_rows() { return {rows * 8, 2, 8, 1}; }

template <class Bindings>
void bind_all(Bindings& bindings, const Graph& g, Matrix& x, Matrix& y, Matrix& s) {
  const auto* read = x.data();
  REQUIRE(bindings.bind(g.x.key.tensor(), read, x.layout()).ok());
  REQUIRE(bindings.bind(g.y.key.tensor(), y.data(), y.layout()).ok());
  REQUIRE(bindings.bind(g.s.key.tensor(), s.data(), s.layout()).ok());
}

}  // namespace

TEST_CASE_TEMPLATE("A round packs strided inputs and scatters strided outputs, whatever their strides", P,
                   RONDO_TEST_PLATFORMS) {
  Graph g;
  auto session = open<P>(std::move(g.graph));
  DynamicBindings bindings(session);
  Matrix (*const layouts[])() = {every_other_column, transposed, backwards, with_gaps_between_rows};
  for (std::size_t l = 0; l < 4; ++l) {
    CAPTURE(l);
    Matrix x = layouts[l](), y = layouts[(l + 1) % 4](), s = layouts[(l + 2) % 4]();
    bind_all(bindings, g, x, y, s);
    s.fill(100);
    for (const float value : {1.0F, 2.0F}) {
      x.fill(value);
      if (value == 1) {
        REQUIRE(session.run_round(bindings).ok());
      } else {
        REQUIRE(session.begin_round(bindings).launch().finish().status().ok());
      }
      CHECK(y.holds(value, 3, 0));
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) CHECK(s(r, c) == 103 + 3 * static_cast<float>(r * cols + c));
    }
  }
}

TEST_CASE_TEMPLATE("A round that fails writes nothing to memory with strides", P, A2A3Sim, A5SimOn<Pool>,
                   A2A3OverStandIn) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {rows, cols});
  const auto y = graph.output<float>("y", {rows, cols});
  graph.add<kernels::Picky>(x, y);
  auto session = open<P>(graph);
  Floats in(rows * cols, 1);
  Matrix out = transposed();
  DynamicBindings bindings(session);
  REQUIRE(bindings.bind(x.key.tensor(), std::as_const(in).data(), Bytes{4 * in.size()}).ok());
  REQUIRE(bindings.bind(y.key.tensor(), out.data(), out.layout()).ok());
  REQUIRE(session.run_round(bindings).ok());
  CHECK(out.memory == Floats(out.memory.size(), 1));
  out = transposed();
  REQUIRE(bindings.bind(y.key.tensor(), out.data(), out.layout()).ok());
  in[0] = -1;
  CHECK(session.run_round(bindings).poisoned());
  CHECK(out.memory == Floats(out.memory.size(), -7));
}

TEST_CASE_TEMPLATE("Pairs of strided memory are bound next to others", P, A2A3Sim, Host, A2A3OverStandIn) {
  Graph g;
  auto session = open<P>(g.graph);
  auto pipelined = open_pipelined<P, 2>(freeze(g.graph));
  Matrix x = every_other_column(), s = backwards();
  StridedHost<const float> hx(x.data(), {rows, cols}, {x.row, x.col});
  StridedHost<float> hs(s.data(), {rows, cols}, {s.row, s.col});
  Floats y(rows * cols);
  x.fill(1);
  s.fill(0);
  REQUIRE(session.run_round(bind(g.x, hx), bind(g.y, y), bind(g.s, hs)).ok());
  REQUIRE(pipelined.run_round(bind(g.s, hs), bind(g.x, hx), bind(g.y, y)).ok());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == 3 * (1 + static_cast<float>(i)));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < cols; ++c) CHECK(s(r, c) == 2 + 3 * static_cast<float>(r * cols + c));
  }
  StridedHost<const float> half(x.data(), {rows}, {x.row});
  s.fill(5);
  CHECK(session.run_round(bind(g.x, half), bind(g.y, y), bind(g.s, hs)).code() == Errc::wrong_size);
  CHECK(s.holds(5, 1, 0));
  StridedHost<const float> no_input(nullptr, {rows, cols}, {1, rows});
  StridedHost<float> no_output(nullptr, {rows, cols}, {1, rows});
  CHECK(session.run_round(bind(g.x, no_input), bind(g.y, y), bind(g.s, hs)).code() == Errc::null_memory);
  CHECK(session.run_round(bind(g.x, hx), bind(g.y, no_output), bind(g.s, hs)).code() == Errc::null_memory);
  StridedHost<const float> moved = std::move(hx);
  CHECK(session.run_round(bind(g.x, hx), bind(g.y, y), bind(g.s, hs)).code() == Errc::wrong_size);  // NOLINT: moved
  CHECK(s.holds(5, 1, 0));
  REQUIRE(session.run_round(bind(g.x, moved), bind(g.y, y), bind(g.s, hs)).ok());
  CHECK(raised([&] { StridedHost<float>(s.data(), {rows, cols}, {0, 1}); }).code == Errc::overlapping);
  CHECK(raised([&] { StridedHost<float>(s.data(), {rows, cols}, {1}); }).code == Errc::invalid_argument);
  CHECK(raised([&] { StridedHost<float>(s.data(), {rows}, {INT64_MAX / 2}); }).code == Errc::invalid_argument);
}

TEST_CASE_TEMPLATE("Inputs may be broadcast; outputs whose elements share bytes are refused", P, A2A3Sim,
                   A2A3OverStandIn) {
  Graph g;
  auto session = open<P>(std::move(g.graph));
  DynamicBindings bindings(session);
  const TensorId x = g.x.key.tensor(), y = g.y.key.tensor(), s = g.s.key.tensor();
  const std::int64_t extents[] = {rows, cols};
  const auto layout = [&](std::int64_t row, std::int64_t col) {
    const std::int64_t strides[] = {row, col};
    return StridedLayout(sizeof(float), extents, strides, 2);
  };
  Floats row{1, 2, 3, 4, 5}, out(rows * cols), sum(rows * cols);
  const Status overlap = bindings.bind(y, out.data(), layout(0, 4));
  CHECK(overlap.code() == Errc::overlapping);
  CHECK(bindings.bind(s, sum.data(), layout(4, 4)).code() == Errc::overlapping);
  CHECK(bindings.bind(s, sum.data(), layout(8, 3)).code() == Errc::overlapping);
  CHECK(bindings.bind(y, static_cast<const float*>(out.data()), layout(4, 12)).code() == Errc::wrong_tensor);
  CHECK(bindings.bind(y, static_cast<float*>(nullptr), layout(4, 12)).code() == Errc::null_memory);
  CHECK(session.run_round(bindings).code() == Errc::unbound_tensor);

  REQUIRE(bindings.bind(x, row.data(), layout(0, 4)).ok());
  CHECK(session.run_round(bindings).code() == Errc::unbound_tensor);
  REQUIRE(bindings.bind(y, out.data(), layout(20, 4)).ok());
  REQUIRE(bindings.bind(s, sum.data(), Bytes{sizeof(float) * rows * cols}).ok());
  REQUIRE(session.run_round(bindings).ok());
  CHECK(out == Floats{3, 6, 9, 12, 15, 3, 6, 9, 12, 15, 3, 6, 9, 12, 15});

  // Ordinary memory in its place, and then everything plain again.
  const Floats plain(rows * cols, 2);
  REQUIRE(bindings.bind(x, plain.data(), Bytes{sizeof(float) * rows * cols}).ok());
  CHECK(bindings.is_plain());
  REQUIRE(session.run_round(bindings).ok());
  CHECK(out == Floats(rows * cols, 6));

  const std::int64_t wide[] = {rows, cols + 1}, strides[] = {64, 8}, endless[] = {rows, INT64_MAX};
  CHECK(bindings.bind(x, row.data(), StridedLayout(4, wide, strides, 2)).code() == Errc::wrong_size);
  CHECK(bindings.bind(x, row.data(), StridedLayout(8, extents, strides, 2)).code() == Errc::wrong_size);
  CHECK(bindings.bind(x, row.data(), StridedLayout(4, endless, strides, 2)).code() == Errc::invalid_argument);
  CHECK(bindings.bind(TensorId{17}, row.data(), layout(0, 4)).code() == Errc::wrong_tensor);
  REQUIRE(session.run_round(bindings).ok());
}

TEST_CASE_TEMPLATE("Held inputs are not read again", P, A2A3Sim, A2A3OverStandIn) {
  Graph g;
  g.graph.keep(g.x);
  auto session = open<P>(std::move(g.graph));
  DynamicBindings bindings(session);
  Matrix x = every_other_column(), y = transposed(), s = backwards();
  bind_all(bindings, g, x, y, s);
  x.fill(1);
  s.fill(0);
  REQUIRE(session.run_round(bindings).ok());
  REQUIRE(session.hold(g.x).ok());
  x.fill(50);
  const std::vector<std::byte> packed = bindings.strided()->list[0].packed;
  REQUIRE(session.run_round(bindings).ok());
  REQUIRE(session.begin_round(bindings).launch().finish().status().ok());
  CHECK(y.holds(1, 3, 0));
  CHECK(bindings.strided()->list[0].packed == packed);  // its memory may be gone
  REQUIRE(session.release_hold(g.x).ok());
  REQUIRE(session.run_round(bindings).ok());
  CHECK(y.holds(50, 3, 0));
}

TEST_CASE_TEMPLATE("Rounds in flight scatter when they are delivered, each to the memory that it was bound to", P,
                   A2A3Sim, HostOn<Pool>, A2A3OverStandIn, A5OverStandIn) {
  Graph g;
  auto session = open_pipelined<P, 3>(freeze(g.graph));
  DynamicBindings bindings(session);
  constexpr std::size_t count = 7;
  std::vector<Matrix> xs, ys, ss;
  for (std::size_t i = 0; i < count; ++i) {
    xs.push_back(i % 2 == 0 ? every_other_column() : backwards());
    ys.push_back(i % 3 == 0 ? transposed() : with_gaps_between_rows());
    ss.push_back(every_other_column());
    xs[i].fill(static_cast<float>(i));
    ss[i].fill(0);
  }
  std::size_t completed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bind_all(bindings, g, xs[i], ys[i], ss[i]);
    Matrix* const y = &ys[i];
    const auto value = static_cast<float>(i);
    // With a completion, which finds the outputs in their places, and without one.
    const auto done = [&completed, y, value](Status status) noexcept {
      completed += status.ok() && y->holds(value, 3, 0) ? 1U : 0U;
    };
    REQUIRE((i % 2 == 0 ? session.submit_round(bindings, done) : session.submit_round(bindings)));
    xs[i].fill(-1000);  // inputs have been taken
  }
  REQUIRE(session.wait_all().ok());
  CHECK(completed == 4);
  for (std::size_t i = 0; i < count; ++i) {
    CAPTURE(i);
    CHECK(ys[i].holds(static_cast<float>(i), 3, 0));
  }

  // The same bindings for round after round, of which each reads what the last one wrote.
  Matrix x = every_other_column();
  x.fill(0);
  Matrix s = backwards();
  s.fill(0);
  bind_all(bindings, g, x, ys[0], s);
  REQUIRE(bindings.bind(g.x.key.tensor(), static_cast<const float*>(s.data()), s.layout()).ok());
  s.fill(1);
  for (int round = 0; round < 5; ++round) REQUIRE(session.submit_round(bindings));
  REQUIRE(session.wait_all().ok());
  CHECK(s.holds(1, 32, 0));
}

TEST_CASE_TEMPLATE("Rounds of different shapes bind memory with strides", P, A2A3Sim, A2A3OverStandIn) {
  TaskGraph graph;
  const auto n = graph.dim("n");
  const auto x = graph.input<float>("x", {n, 2});
  const auto y = graph.output<float>("y", {n, 2});
  graph.add<kernels::Scale>(x, y, 2.0F);
  const auto run = [&](auto session) {
    DynamicBindings bindings(session);
    for (const std::int64_t height : {3, 5, 3}) {
      Floats in(static_cast<std::size_t>(height) * 6, 1), out(static_cast<std::size_t>(height) * 2, 0);
      const std::int64_t extents[] = {height, 2}, apart[] = {24, 12}, turned[] = {4, 4 * height};
      REQUIRE(bindings.bind(x.key.tensor(), in.data(), StridedLayout(4, extents, apart, 2)).ok());
      REQUIRE(bindings.bind(y.key.tensor(), out.data(), StridedLayout(4, extents, turned, 2)).ok());
      for (std::size_t i = 0; i < in.size(); i += 3) in[i] = static_cast<float>(i);
      if constexpr (requires { session.wait_all(); }) {
        REQUIRE(session.submit_round(bindings));
        REQUIRE(session.wait_all().ok());
      } else {
        StridedHost<float> pair(in.data(), {height, 2}, {6, 3});
        REQUIRE(session.run_round(bind(x, pair), bind(y, out, {height, 2})).ok());
        REQUIRE(session.run_round(bindings).ok());
      }
      for (std::size_t r = 0; r < static_cast<std::size_t>(height); ++r) {
        CHECK(out[r] == 2 * static_cast<float>(6 * r));
        CHECK(out[r + static_cast<std::size_t>(height)] == 2 * static_cast<float>(6 * r + 3));
      }
    }
  };
  run(open_shaped<P>(graph));
  run(open_shaped<P, DefaultPolicies, launch::Lru<4>, 2>(graph));
}
