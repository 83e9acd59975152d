// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

// A user's own types in the places of Rondo's: a tensor class that bind() takes as it is, a pair and an update strategy
// by satisfying their concepts.

namespace mine {

/// A small owning matrix, with names of its own beside data() and size().
template <class T, std::size_t Rows, std::size_t Columns>
class Matrix {
 public:
  [[nodiscard]] T& at(std::size_t r, std::size_t c) { return elements_[r * Columns + c]; }
  [[nodiscard]] T* data() { return elements_; }
  [[nodiscard]] const T* data() const { return elements_; }
  [[nodiscard]] static constexpr std::size_t size() { return Rows * Columns; }

 private:
  T elements_[Rows * Columns] = {};
};

/// A ring of equally sized batches; the pair shows the current one, so that the caller turns the ring and binds nothing
/// anew.
class BatchRing {
 public:
  static constexpr std::size_t batch = 3;
  static constexpr std::size_t batches = 4;
  [[nodiscard]] float& at(std::size_t b, std::size_t i) { return elements_[b * batch + i]; }
  void turn() { current_ = (current_ + 1) % batches; }
  [[nodiscard]] const float* current() const { return elements_ + current_ * batch; }

 private:
  float elements_[batch * batches] = {};
  std::size_t current_ = 0;
};

struct CurrentBatch {
  rondo::Input<float> tensor;
  const BatchRing* ring;
  [[nodiscard]] rondo::Input<float> handle() const { return tensor; }
  [[nodiscard]] const float* data() const { return ring->current(); }
  [[nodiscard]] std::size_t size() const { return BatchRing::batch; }
};
static_assert(rondo::BoundPair<CurrentBatch>);
static_assert(rondo::check_tensor_pair<CurrentBatch>());

/// Refreshes every other round.
struct EveryOther {
  static constexpr rondo::UpdateLevel highest = rondo::UpdateLevel::init;
  bool odd = false;
  rondo::UpdateLevel decide(rondo::Changes) noexcept {
    odd = !odd;
    return odd ? rondo::UpdateLevel::init : rondo::UpdateLevel::none;
  }
};
struct Policies : rondo::DefaultPolicies {
  using Update = EveryOther;
};

struct AddUp {
  static constexpr std::string_view name = "add_up";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> batch, rondo::InOut<float, 2> sums) noexcept {
    for (std::size_t i = 0; i < batch.size(); ++i) sums(i % 2, i) += batch[i];
  }
};

}  // namespace mine

TEST_CASE_TEMPLATE("A user's tensor class, pair and strategy take part in rounds as Rondo's own do", P, rondo::A2A3Sim,
                   rondo::A5SimOn<rondo::Pool>) {
  rondo::TaskGraph graph;
  const auto batch = graph.input<float>("batch", {mine::BatchRing::batch});
  const auto sums = graph.inout<float>("sums", {2, 3});
  graph.add<mine::AddUp>(batch, sums);
  auto session = rondo::open<P, mine::Policies>(graph);

  mine::BatchRing ring;
  for (std::size_t b = 0; b < mine::BatchRing::batches; ++b) {
    for (std::size_t i = 0; i < mine::BatchRing::batch; ++i) ring.at(b, i) = static_cast<float>(100 * b + i);
  }
  mine::Matrix<float, 2, 3> matrix;
  const mine::CurrentBatch current{batch, &ring};
  float expected[3] = {};
  for (std::size_t round = 0; round < 10; ++round) {
    if (round % 2 == 0) {
      REQUIRE(session.run_round(current, rondo::bind(sums, matrix)).ok());
    } else {
      REQUIRE(session.run_round(rondo::bind(sums, matrix), current).ok());
    }
    for (std::size_t i = 0; i < 3; ++i) expected[i] += static_cast<float>(100 * (round % 4) + i);
    REQUIRE(matrix.at(0, 0) == expected[0]);
    REQUIRE(matrix.at(1, 1) == expected[1]);
    REQUIRE(matrix.at(0, 2) == expected[2]);
    ring.turn();
  }
}

TEST_CASE("A user's pair is checked as Rondo's own: by size, and whether its memory is there") {
  rondo::TaskGraph graph;
  const auto batch = graph.input<float>("batch", {4});
  const auto sums = graph.inout<float>("sums", {2, 4});
  graph.add<mine::AddUp>(batch, sums);
  auto session = rondo::open<rondo::A2A3Sim>(graph);
  const mine::BatchRing ring;
  mine::Matrix<float, 2, 4> matrix;
  const rondo::Status status = session.run_round(mine::CurrentBatch{batch, &ring}, rondo::bind(sums, matrix));
  CHECK(status.code() == rondo::Errc::wrong_size);
  CHECK(status.index() == 0);
}
