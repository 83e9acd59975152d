// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/waiting.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rondo::platform::sim {

/// A call that records how long it took: entry() takes the place of the kernel, and its own address that of the args.
struct TimedCall {
  Inline::Call call;
  double ns = 0;

  static void entry(ArgWord* self) {
    auto& timed = *reinterpret_cast<TimedCall*>(self);  // NOLINT: handed over as the call's args
    const std::uint64_t start = now_ns();
    timed.call.entry(timed.call.args);
    timed.ns = static_cast<double>(now_ns() - start);
  }
};

/// Compares the costs of calls in some rounds with those that the schedule was made for, and says when another schedule
/// may be better. It waits for several looks in a row that differ. The number of them doubles each time its last advice
/// was recent, so that costs that go up and down all the time are taken at their mean.
///
/// Thread safety: none. Cost: O(calls) for each look, no allocation.
class CostWatch {
 public:
  /// The least part of all costs that must have changed for a look to differ.
  static constexpr double least_change = 0.12;
  /// The number of looks in a row that must differ, at first and at most.
  static constexpr std::uint32_t least_looks = 2;
  static constexpr std::uint32_t most_looks = 8;
  /// The number of looks that agree after which `least_looks` suffice again.
  static constexpr std::uint32_t calm_looks = 24;

  explicit CostWatch(std::size_t calls) : expected_(calls), sum_(calls) {}

  /// Sets the costs that the schedule is made for.
  void expect(std::span<const double> costs) noexcept {
    std::copy(costs.begin(), costs.end(), expected_.begin());
    has_advised_ = false;
    forget();
  }
  /// Takes the costs of one round. @returns whether a schedule for costs() should be searched
  bool look(std::span<const double> costs) noexcept {
    if (std::exchange(has_advised_, false)) forget();  // the advice was not taken, and its mean is no sum
    double change = 0;
    double total = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      change += std::abs(costs[i] - expected_[i]);
      total += std::max(costs[i], expected_[i]);
    }
    if (change <= least_change * total) {
      forget();
      if (++agreeing_ == calm_looks) needed_ = least_looks;
      return false;
    }
    for (std::size_t i = 0; i < costs.size(); ++i) sum_[i] += costs[i];
    if (++differing_ < needed_) return false;
    for (double& each : sum_) each /= differing_;
    needed_ = agreeing_ < calm_looks ? std::min(2 * needed_, most_looks) : least_looks;
    agreeing_ = 0;
    has_advised_ = true;
    return true;
  }
  /// The mean of the looks for which look() returned true; valid until expect() or look() is called.
  [[nodiscard]] std::span<const double> costs() const noexcept { return sum_; }

 private:
  void forget() noexcept {
    if (differing_ == 0) return;
    differing_ = 0;
    std::fill(sum_.begin(), sum_.end(), 0.0);
  }

  std::vector<double> expected_;  ///< nanoseconds, by call
  std::vector<double> sum_;       ///< of the looks in a row that differ
  std::uint32_t differing_ = 0;
  std::uint32_t agreeing_ = calm_looks;
  std::uint32_t needed_ = least_looks;
  bool has_advised_ = false;  ///< `sum_` is a mean
};

}  // namespace rondo::platform::sim
