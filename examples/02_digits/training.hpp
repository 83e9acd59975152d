// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataset.hpp"
#include "network.hpp"

#include <rondo/rondo.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace digits {

/// The uses of random numbers. Each has a sequence of its own, so that more rounds do not change the first ones.
enum class Stream : std::uint64_t { split = 1, weights, batches };

inline Random random_for(std::uint64_t seed, Stream stream) noexcept {
  Random mixer{seed};
  return Random{mixer.next() + static_cast<std::uint64_t>(stream)};
}

/// The learning rate, which falls linearly, so that the loss settles in the last rounds.
inline float rate_at(std::uint64_t round, std::uint64_t rounds) noexcept {
  return 0.2F * (1.0F - static_cast<float>(round) / static_cast<float>(rounds));
}

/// Sets a network up on a platform once and trains it, one round of the graph for each step.
///
/// Errors: throws rondo::Error, naming the tensor or the task. Cost of a step: the batch is copied in and the loss out;
/// the weights stay on the device.
template <rondo::Platform P>
class Trainer {
 public:
  Trainer(const Weights& initial, std::size_t batch) : step_{batch}, session_{rondo::open<P>(step_.graph)} {
    check(session_.upload(step_.net.w1, initial.w1));
    check(session_.upload(step_.net.b1, initial.b1));
    check(session_.upload(step_.net.w2, initial.w2));
    check(session_.upload(step_.net.b2, initial.b2));
  }

  /// One training step. Returns the batch's mean loss before it, in nats.
  float step(std::span<const float> pixels, std::span<const std::int32_t> labels, float rate) {
    float loss = 0.0F;
    check(session_.run_round(rondo::bind(step_.pixels, pixels), rondo::bind(step_.labels, labels),
                             rondo::bind(step_.rate, rate), rondo::bind(step_.loss, loss)));
    return loss;
  }

  [[nodiscard]] Weights weights() {
    Weights weights = random_weights(Random{0});  // for the sizes
    check(session_.download(step_.net.w1, weights.w1));
    check(session_.download(step_.net.b1, weights.b1));
    check(session_.download(step_.net.w2, weights.w2));
    check(session_.download(step_.net.b2, weights.b2));
    return weights;
  }

  [[nodiscard]] const rondo::TaskGraph& graph() const noexcept { return step_.graph; }

 private:
  void check(rondo::Status status) const {
    if (!status) throw rondo::Error(status.code(), session_.explain(status));
  }

  TrainingStep step_;
  rondo::RoundSession<P> session_;
};

/// Returns the probability of each class for each digit, digits.size() × 10, by a forward graph on the device.
template <rondo::Platform P>
[[nodiscard]] std::vector<float> classify(const Weights& weights, const Digits& digits) {
  const Inference inference{digits.size()};
  auto session = rondo::open<P>(inference.graph);
  const auto check = [&session](rondo::Status status) {
    if (!status) throw rondo::Error(status.code(), session.explain(status));
  };
  check(session.upload(inference.net.w1, weights.w1));
  check(session.upload(inference.net.b1, weights.b1));
  check(session.upload(inference.net.w2, weights.w2));
  check(session.upload(inference.net.b2, weights.b2));
  std::vector<float> probabilities(digits.size() * classes);
  check(session.run_round(rondo::bind(inference.pixels, digits.pixels),
                          rondo::bind(inference.probabilities, probabilities)));
  return probabilities;
}

}  // namespace digits
