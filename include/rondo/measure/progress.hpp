// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/result.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

namespace rondo::measure {

/// A readable duration with three significant digits: "417 ns", "1.23 ms", "12.3 s".
[[nodiscard]] inline std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "none";
  const char* unit = "ns";
  double value = seconds * 1e9;
  for (const char* larger : {"us", "ms", "s"}) {
    if (value < 999.5) break;
    value /= 1000;
    unit = larger;
  }
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
}

/// The progress of a search as a line of text:
///
///     37 of 96, 2.4/s, best 1.23 ms (i8 j64 k32 ikj), 3 errors (2 build, 1 run_timeout), 25 s left
///
/// When all recent candidates have failed, the line says so and gives the reason: "the last 12 all failed: ...". Thread
/// safety: all members from any thread.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// `total`: the number of candidates, not counting those measured by earlier runs; 0: unknown.
  explicit Progress(std::size_t total = 0, Clock::time_point start = Clock::now()) : total_{total}, start_{start} {}

  /// Sets the best result of earlier runs.
  void resume(const std::string& name, double seconds) {
    const std::lock_guard lock(mutex_);
    if (seconds < best_) best_ = seconds, best_name_ = name;
  }

  void add(const std::string& name, const Result& result) {
    const std::lock_guard lock(mutex_);
    if (result.fault == Fault::stopped) return;
    ++done_;
    ++faults_[static_cast<std::size_t>(result.fault)];
    if (result.fault != Fault::none) {
      ++consecutive_;
      last_fault_ = result.fault;
      last_text_ = result.text.substr(0, result.text.find('\n')).substr(0, 120);
      return;
    }
    consecutive_ = 0;
    if (result.best() < best_) best_ = result.best(), best_name_ = name;
  }

  [[nodiscard]] std::string line(Clock::time_point now = Clock::now()) const {
    const std::lock_guard lock(mutex_);
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    const double rate = elapsed > 0 ? static_cast<double>(done_) / elapsed : 0;
    std::string text = fmt::to_string(done_);
    if (total_ != 0) text += fmt::format(" of {}", total_);
    text += fmt::format(", {:.1f}/s", rate);
    text += std::isfinite(best_) ? fmt::format(", best {} ({})", format_seconds(best_), best_name_) : ", no best yet";
    text += errors();
    if (total_ > done_ && rate > 0) text += fmt::format(", {:.0f} s left", static_cast<double>(total_ - done_) / rate);
    if (consecutive_ >= flood) {
      text += fmt::format("; the last {} all failed, with {}: {}", consecutive_, to_string(last_fault_), last_text_);
    }
    return text;
  }

 private:
  static constexpr std::uint64_t flood = 10;  ///< consecutive faults that are reported as a general failure

  [[nodiscard]] std::string errors() const {
    std::vector<std::string> kinds;
    for (std::size_t f = 1; f < fault_count; ++f) {
      if (faults_[f] != 0) kinds.push_back(fmt::format("{} {}", faults_[f], to_string(static_cast<Fault>(f))));
    }
    if (kinds.empty()) return {};
    const std::uint64_t all = done_ - faults_[0];
    return fmt::format(", {} {} ({})", all, all == 1 ? "error" : "errors", fmt::join(kinds, ", "));
  }

  mutable std::mutex mutex_;
  std::size_t total_;
  Clock::time_point start_;
  std::uint64_t done_ = 0;
  std::uint64_t faults_[fault_count] = {};
  std::uint64_t consecutive_ = 0;
  Fault last_fault_ = Fault::none;
  std::string last_text_;
  double best_ = std::numeric_limits<double>::infinity();
  std::string best_name_;
};

}  // namespace rondo::measure
