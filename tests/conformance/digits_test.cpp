// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "../../examples/02_digits/training.hpp"
#include "stand_in/over_stand_in.hpp"

#include <rondo/platform/host/host.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/pool.hpp>

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <vector>

namespace {

constexpr std::size_t rounds = 60;
constexpr std::size_t batch = 32;
constexpr std::uint64_t seed = 7;

digits::Random random_for(digits::Stream stream) { return digits::random_for(seed, stream); }

const digits::Split& data() {
  static const auto root = std::filesystem::path{RONDO_TEST_DATA_DIR}.parent_path().parent_path();
  static const digits::Split parts = digits::split(digits::read_digits((root / "examples/data/digits.csv").string()),
                                                   random_for(digits::Stream::split));
  return parts;
}

struct Trained {
  std::vector<float> losses;
  digits::Weights weights;
  std::vector<float> probabilities;
};

template <class P>
Trained train() {
  digits::Trainer<P> trainer(digits::random_weights(random_for(digits::Stream::weights)), batch);
  digits::Batches batches(data().train, batch, random_for(digits::Stream::batches));
  Trained trained;
  for (std::size_t round = 0; round < rounds; ++round) {
    batches.next();
    trained.losses.push_back(trainer.step(batches.pixels(), batches.labels(), digits::rate_at(round, rounds)));
  }
  trained.weights = trainer.weights();
  trained.probabilities = digits::classify<P>(trained.weights, data().test);
  return trained;
}

/// One training on the deterministic engine, which every other one must repeat.
const Trained& reference() {
  static const Trained trained = train<rondo::A2A3Sim>();
  return trained;
}

/// Equal to the last bit: == would let −0 pass for 0, and a NaN differ from itself.
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

double mean(const float* first, std::size_t count) {
  return std::accumulate(first, first + count, 0.0) / static_cast<double>(count);
}

}  // namespace

TEST_CASE_TEMPLATE("A training ends with the same weights, bit for bit, on every chip and engine", P,
                   rondo::A2A3SimOn<rondo::Inline>, rondo::A2A3SimOn<rondo::Pool>, rondo::A5SimOn<rondo::Inline>,
                   rondo::HostOn<rondo::Pool>, A2A3OverStandIn, A5OverStandIn) {
  const Trained trained = train<P>();
  CHECK(same_bits(trained.losses, reference().losses));
  CHECK(same_bits(trained.weights.w1, reference().weights.w1));
  CHECK(same_bits(trained.weights.b1, reference().weights.b1));
  CHECK(same_bits(trained.weights.w2, reference().weights.w2));
  CHECK(same_bits(trained.weights.b2, reference().weights.b2));
  CHECK(same_bits(trained.probabilities, reference().probabilities));
}

TEST_CASE("A training lets the loss fall by more than a third, from what guessing gives") {
  const std::vector<float>& losses = reference().losses;
  const double at_first = mean(losses.data(), 5);
  CHECK(at_first == doctest::Approx(std::log(10.0)).epsilon(0.25));
  CHECK(mean(losses.data() + rounds - 5, 5) < at_first * 2 / 3);
}

TEST_CASE("A training changes every weight tensor, and sixty rounds of it read most held-out digits right") {
  const digits::Weights initial = digits::random_weights(random_for(digits::Stream::weights));
  const digits::Weights& trained = reference().weights;
  CHECK_FALSE(same_bits(trained.w1, initial.w1));
  CHECK_FALSE(same_bits(trained.b1, initial.b1));
  CHECK_FALSE(same_bits(trained.w2, initial.w2));
  CHECK_FALSE(same_bits(trained.b2, initial.b2));

  std::size_t right = 0;
  for (std::size_t i = 0; i < data().test.size(); ++i) {
    const float* const row = &reference().probabilities[i * digits::classes];
    CHECK(std::abs(std::accumulate(row, row + digits::classes, 0.0F) - 1.0F) < 1e-5F);
    right += std::max_element(row, row + digits::classes) - row == data().test.labels[i] ? 1U : 0U;
  }
  CHECK(right * 4 > data().test.size() * 3);
}

TEST_CASE("The gradient that the graph descends is that of the loss, by finite differences") {
  // One step at rate r moves each weight by −r·gradient. Losses are floats, so the differences are coarse: the weights
  // with the steepest gradients are compared, in w1 (through both layers), b1, w2 and b2.
  digits::Batches batches(data().train, batch, random_for(digits::Stream::batches));
  batches.next();
  const digits::Weights start = digits::random_weights(random_for(digits::Stream::weights));
  const auto loss_at = [&](const digits::Weights& weights) {
    digits::Trainer<rondo::A2A3Sim> trainer(weights, batch);
    return static_cast<double>(trainer.step(batches.pixels(), batches.labels(), 0.0F));
  };
  digits::Trainer<rondo::A2A3Sim> trainer(start, batch);
  (void)trainer.step(batches.pixels(), batches.labels(), 1.0F);
  const digits::Weights after = trainer.weights();

  for (const auto member : {&digits::Weights::w1, &digits::Weights::b1, &digits::Weights::w2, &digits::Weights::b2}) {
    std::size_t steepest = 0;
    const auto gradient = [&](std::size_t i) { return static_cast<double>((start.*member)[i] - (after.*member)[i]); };
    for (std::size_t i = 0; i < (start.*member).size(); ++i) {
      if (std::abs(gradient(i)) > std::abs(gradient(steepest))) steepest = i;
    }
    constexpr float step = 1e-2F;
    digits::Weights above = start;
    digits::Weights below = start;
    (above.*member)[steepest] += step;
    (below.*member)[steepest] -= step;
    const double measured = (loss_at(above) - loss_at(below)) / (2.0 * static_cast<double>(step));
    CHECK(std::abs(gradient(steepest)) > 1e-3);
    CHECK(measured == doctest::Approx(gradient(steepest)).epsilon(0.02));
  }
}
