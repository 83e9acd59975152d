// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <range/v3/algorithm/sort.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/chunk.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

/// Statistics of many times measured one after the other. Functions sort copies, so the order does not matter.
namespace rondo::observe::detail::bench {

/// The value below which a share of the values lies, with linear interpolation between two values: 0.5 gives the
/// median. Returns 0 if there are no values.
[[nodiscard]] inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  ranges::sort(values);
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}
[[nodiscard]] inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

/// The mean of the values that remain when `share` of them is removed at each end.
[[nodiscard]] inline double trimmed_mean(std::vector<double> values, double share = 0.1) {
  if (values.empty()) return 0;
  ranges::sort(values);
  const auto cut = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  const std::size_t kept = values.size() - 2 * cut;
  return ranges::accumulate(values | ranges::views::drop(cut) | ranges::views::take(kept), 0.0) /
         static_cast<double>(kept);
}

/// For each session, the medians of batches of consecutive rounds.
using Batches = std::vector<std::vector<double>>;

/// Divides one session's times into `count` batches, the last with the remainder, and returns their medians.
[[nodiscard]] inline std::vector<double> batch_medians(const std::vector<double>& times, std::size_t count) {
  namespace views = ranges::views;
  if (times.empty()) return {};
  count = std::clamp<std::size_t>(count, 1, times.size());
  const std::size_t size = times.size() / count;
  const auto of = [](auto&& batch) { return median(batch | ranges::to<std::vector>); };
  auto medians =
      times | views::take(size * (count - 1)) | views::chunk(size) | views::transform(of) | ranges::to<std::vector>;
  medians.push_back(of(times | views::drop(size * (count - 1))));
  return medians;
}

/// A run in comparison with an earlier one: the ratio of their medians, and the bounds of its uncertainty.
struct Ratio {
  double value = 0;  ///< 0: no ratio, since one of the two took no time
  double low = 0;
  double high = 0;

  [[nodiscard]] bool exists() const noexcept { return value > 0; }
  /// Whether such a ratio is unlikely if the runs do not differ.
  [[nodiscard]] bool is_significant() const noexcept { return exists() && (low > 1 || high < 1); }
};

/// The precision of the times, and the state of the machine when they were measured.
struct Uncertainty {
  double granule = 0;  ///< the least difference between two readings of the clock, in nanoseconds
  double machine = 1;  ///< the time of a fixed piece of work, divided by its time in the earlier run
};

/// Uses the bootstrap in two levels: sessions are drawn with replacement, then batches of each. So differences between
/// sessions (where memory was placed, what else ran) widen the bounds as much as differences between batches. Then
/// applies the uncertainty: each median may be wrong by a granule, and a change in the machine's speed may explain as
/// much of the ratio. `confidence`: the share of the drawn ratios within the bounds. The same batches give the same
/// bounds.
[[nodiscard]] inline Ratio compare(const Batches& now, const Batches& before, const Uncertainty& uncertainty = {},
                                   double confidence = 0.99) {
  const double above = median(now | ranges::views::join | ranges::to<std::vector>);
  const double base = median(before | ranges::views::join | ranges::to<std::vector>);
  if (base <= 0 || above <= 0) return {};
  std::mt19937_64 random{20260};
  const auto draw = [&random](const Batches& batches) {
    const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    std::vector<double> all;
    for (std::size_t s = 0; s < batches.size(); ++s) {
      const auto& session = batches[below(batches.size())];
      for (std::size_t b = 0; b < session.size(); ++b) all.push_back(session[below(session.size())]);
    }
    return median(std::move(all));
  };
  std::vector<double> ratios;
  for (int i = 0; i < 2000; ++i) {
    const double divisor = draw(before);
    if (divisor > 0) ratios.push_back(draw(now) / divisor);
  }
  const double tail = (1 - confidence) / 2;
  const double off = uncertainty.granule / base + uncertainty.granule / above;
  const double faster = std::min(1.0, uncertainty.machine), slower = std::max(1.0, uncertainty.machine);
  return {above / base, quantile(ratios, tail) * (1 - off) / slower, quantile(ratios, 1 - tail) * (1 + off) / faster};
}

}  // namespace rondo::observe::detail::bench
