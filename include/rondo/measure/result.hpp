// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/fault.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

/// The values that go from builder to runner to caller. All times are seconds.
namespace rondo::measure {

/// The result of building a candidate: an artifact, or a fault and a text about it.
template <class Artifact>
struct Built {
  Fault fault = Fault::none;
  std::string text;
  std::optional<Artifact> artifact;  ///< there unless `fault` says why not
  double seconds = 0;                ///< building alone, without waiting for a turn
};

/// The result of running an artifact.
struct Measured {
  Fault fault = Fault::none;
  std::string text;
  std::vector<double> seconds;         ///< one round by the host's clock, once for each repeat
  std::vector<double> device_seconds;  ///< the same by the device's own clock, where it has one
  double run_seconds = 0;              ///< all that running took, without waiting for a turn

  [[nodiscard]] bool ok() const noexcept { return fault == Fault::none; }
  /// The shortest repeat; infinity if there is none.
  [[nodiscard]] double best() const noexcept {
    double least = std::numeric_limits<double>::infinity();
    for (const double s : seconds) least = std::min(least, s);
    return least;
  }
  /// The middle repeat; infinity if there is none.
  [[nodiscard]] double median() const {
    if (seconds.empty()) return std::numeric_limits<double>::infinity();
    std::vector<double> sorted = seconds;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
  }
};

/// The number of a candidate of a measurer, counted from 1 in the order of submission.
using Ticket = std::uint64_t;

/// All that is known of one candidate in the end.
struct Result : Measured {
  Ticket ticket = 0;
  double build_seconds = 0;
};

/// Called once for each job that was accepted; must not throw.
template <class Artifact>
using OnBuilt = std::function<void(Built<Artifact>)>;
using OnMeasured = std::function<void(Measured)>;

}  // namespace rondo::measure
