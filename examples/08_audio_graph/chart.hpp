// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../02_digits/svg.hpp"

#include <rondo/observe/deadlines.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace audio {

/// The times of rounds in columns of equal width on a logarithmic scale, eight columns for a factor of two.
class Columns {
 public:
  static constexpr int per_octave = 8;
  static constexpr double least_us = 1;

  Columns(const rondo::observe::Histogram& times, double ns_per_tick) {
    times.for_each([&](std::uint64_t begin, std::uint64_t end, std::uint64_t count) {
      const double us = 0.5 * static_cast<double>(begin + end) * ns_per_tick / 1000;
      const double column = std::floor(per_octave * std::log2(std::max(us, least_us) / least_us));
      const auto c = static_cast<std::size_t>(column);
      if (counts_.size() <= c) counts_.resize(c + 1);
      counts_[c] += count;
    });
  }
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  [[nodiscard]] static double begin_us(std::size_t column) {
    return least_us * std::exp2(static_cast<double>(column) / per_octave);
  }

 private:
  std::vector<std::uint64_t> counts_;
};

/// Prints a bar for each column with at least one round; its length is the logarithm of the count.
inline void print(const Columns& columns, double limit_us) {
  bool is_past = false;
  for (std::size_t c = 0; c < columns.counts().size(); ++c) {
    if (!is_past && Columns::begin_us(c) > limit_us) {
      std::printf("%10.1f µs  ---------------- the deadline\n", limit_us);
      is_past = true;
    }
    const auto count = static_cast<double>(columns.counts()[c]);
    if (count == 0) continue;
    const auto length = static_cast<std::size_t>(1 + 8 * std::log10(count));
    std::printf("%10.1f µs  %-42s %.0f\n", Columns::begin_us(c), std::string(length, '#').c_str(), count);
  }
  if (!is_past) std::printf("%10.1f µs  ---------------- the deadline\n", limit_us);
}

inline std::string draw(const Columns& columns, const rondo::observe::DeadlineReport& report) {
  using digits::number;
  constexpr double left = 70, right = 30, top = 92, bottom = 58, width = 900, height = 420;
  const double limit_us = report.limit_ns / 1000;
  const double last_us = std::max(2 * limit_us, 1.2 * report.max_ns / 1000);
  const auto most = static_cast<double>(*std::max_element(columns.counts().begin(), columns.counts().end()));
  const double decades = std::max(1.0, std::ceil(std::log10(most) + 0.05));
  const auto x = [&](double us) {
    return left + (width - left - right) * std::log(us / Columns::least_us) / std::log(last_us / Columns::least_us);
  };
  const auto y = [&](double count) {
    // One round has a bar, too.
    return height - bottom - (height - top - bottom) * (std::log10(count) + 0.3) / (decades + 0.3);
  };
  const double floor = height - bottom;

  digits::Svg svg(static_cast<int>(width), static_cast<int>(height), "Round times of the audio graph",
                  "A histogram of round times on logarithmic scales, with the deadline of a block.");
  svg.rect(0, 0, width, height, "fill=\"#ffffff\"");
  svg.text({left, 34}, "Time of a block of 64 frames", {.size = 19, .colour = "#1f2933", .weight = 600});
  svg.text({left, 58},
           number(static_cast<double>(report.rounds), 0) + " rounds, " + number(static_cast<double>(report.missed), 0) +
               " missed · p50 " + number(report.p50_ns / 1000, 1) + " µs · p99 " + number(report.p99_ns / 1000, 1) +
               " µs · p99.9 " + number(report.p999_ns / 1000, 1) + " µs · max " + number(report.max_ns / 1000, 1) +
               " µs",
           {});
  svg.text({left - 10, top - 18}, "rounds", {.anchor = "end"});
  for (double d = 0; d <= decades; ++d) {
    const double at = y(std::pow(10, d));
    svg.line({left, at}, {width - right, at}, "stroke=\"#e4e7eb\"");
    svg.text({left - 10, at + 4}, number(std::pow(10, d), 0), {.anchor = "end"});
  }
  for (std::size_t c = 0; c < columns.counts().size(); ++c) {
    if (columns.counts()[c] == 0) continue;
    const double begin = x(Columns::begin_us(c)), end = x(Columns::begin_us(c + 1));
    const double at = y(static_cast<double>(columns.counts()[c]));
    svg.rect(begin + 0.5, at, std::max(end - begin - 1, 1.0), floor - at,
             Columns::begin_us(c) > limit_us ? "fill=\"#c52707\"" : "fill=\"#2680c2\"");
  }
  svg.line({left, floor}, {width - right, floor}, "stroke=\"#52606d\"");
  for (double us = 1; us < last_us; us *= 10) {
    for (const double m : {1.0, 2.0, 5.0}) {
      if (us * m > last_us) continue;
      svg.line({x(us * m), floor}, {x(us * m), floor + 5}, "stroke=\"#52606d\"");
      svg.text({x(us * m), floor + 20}, number(us * m, 0), {.anchor = "middle"});
    }
  }
  svg.text({(left + width - right) / 2, height - 14}, "microseconds", {.anchor = "middle"});
  svg.line({x(limit_us), top - 8}, {x(limit_us), floor},
           "stroke=\"#c52707\" stroke-width=\"2\" stroke-dasharray=\"6 4\"");
  svg.text({x(limit_us) - 8, top + 4}, "deadline " + number(limit_us / 1000, 2) + " ms",
           {.colour = "#c52707", .anchor = "end"});
  return svg.finish();
}

}  // namespace audio
