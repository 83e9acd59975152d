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

/// The values that builder, runner and caller exchange. All times are in seconds.
namespace rondo::measure {

/// The result of building a candidate: an artifact, or a fault and a text that describes it.
template <class Artifact>
struct Built {
  Fault fault = Fault::none;
  std::string text;
  std::optional<Artifact> artifact;  ///< present if `fault` is none
  double seconds = 0;                ///< the build itself, without waiting for a turn
};

/// The result of running an artifact.
struct Measured {
  Fault fault = Fault::none;
  std::string text;
  std::vector<double> seconds;         ///< the time of one round by the host's clock, for each repeat
  std::vector<double> device_seconds;  ///< the same by the device's own clock, if it has one
  double run_seconds = 0;              ///< the whole run, without waiting for a turn

  [[nodiscard]] bool ok() const noexcept { return fault == Fault::none; }
  /// The shortest repeat; infinity if there is none.
  [[nodiscard]] double best() const noexcept {
    double least = std::numeric_limits<double>::infinity();
    for (const double s : seconds) least = std::min(least, s);
    return least;
  }
  /// The median repeat; infinity if there is none.
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

/// The final result of a candidate.
struct Result : Measured {
  Ticket ticket = 0;
  double build_seconds = 0;
};

/// Called once for each job that was accepted; must not throw.
template <class Artifact>
using OnBuilt = std::function<void(Built<Artifact>)>;
using OnMeasured = std::function<void(Measured)>;

}  // namespace rondo::measure
