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

/// A call that records how long it took: the program calls entry() instead of the kernel, with this object as its args.
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

/// Compares the costs of calls in timed rounds ("looks") with the costs for which the schedule was made, and reports
/// when another schedule may be better: after several differing looks in a row. Their number doubles each time the last
/// advice was recent, so costs that vary all the time are averaged.
///
/// Thread safety: none. Cost: O(calls) for each look, no allocation.
class CostWatch {
 public:
  /// A look differs if at least this share of the total cost has changed.
  static constexpr double least_change = 0.12;
  /// The number of differing looks in a row that are required: initially, and at most.
  static constexpr std::uint32_t least_looks = 2;
  static constexpr std::uint32_t most_looks = 8;
  /// After this many looks that agree, `least_looks` suffice again.
  static constexpr std::uint32_t calm_looks = 24;

  explicit CostWatch(std::size_t calls) : expected_(calls), sum_(calls) {}

  /// Sets the costs for which the current schedule was made.
  void expect(std::span<const double> costs) noexcept {
    std::copy(costs.begin(), costs.end(), expected_.begin());
    has_advised_ = false;
    forget();
  }
  /// Evaluates the costs of one round. @returns whether to search for a schedule for costs()
  bool look(std::span<const double> costs) noexcept {
    if (std::exchange(has_advised_, false)) forget();  // not followed: start again, since the sum holds a mean
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
  /// The mean costs of the looks that made look() return true; valid until expect() or look() is called.
  [[nodiscard]] std::span<const double> costs() const noexcept { return sum_; }

 private:
  void forget() noexcept {
    if (differing_ == 0) return;
    differing_ = 0;
    std::fill(sum_.begin(), sum_.end(), 0.0);
  }

  std::vector<double> expected_;  ///< nanoseconds, by call
  std::vector<double> sum_;       ///< sum of the costs of the consecutive differing looks
  std::uint32_t differing_ = 0;
  std::uint32_t agreeing_ = calm_looks;
  std::uint32_t needed_ = least_looks;
  bool has_advised_ = false;  ///< whether `sum_` is a mean
};

}  // namespace rondo::platform::sim
