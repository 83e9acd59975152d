// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "space.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace tune {

/// Chooses the next configuration: random ones first, then children of the best so far. It works without generations,
/// so it never waits for a candidate that is still being measured.
class Search {
 public:
  Search(std::size_t random_first, std::uint64_t seed) : random_first_{random_first}, random_{seed} {}

  /// A configuration that was not tried yet; nothing if all were.
  [[nodiscard]] std::optional<Config> next() {
    if (tried_.size() >= Config::count) return std::nullopt;
    for (int attempt = 0; attempt < 64; ++attempt) {
      const Config config = tried_.size() < random_first_ || best_.size() < 2 ? Config::random(random_) : child();
      if (take(config)) return config;
    }
    for (std::size_t n = random_() % Config::count;; n = (n + 1) % Config::count) {
      if (const Config config = Config::numbered(n); take(config)) return config;
    }
  }

  /// Marks the configuration as tried. Returns false if it already was.
  bool take(const Config& config) { return tried_.insert(config.name()).second; }

  /// Adds a measured time to the population, which consists of the best few.
  void note(const Config& config, double seconds) {
    const auto place =
        std::find_if(best_.begin(), best_.end(), [seconds](const auto& b) { return seconds < b.seconds; });
    best_.insert(place, {config, seconds});
    if (best_.size() > population) best_.pop_back();
  }

 private:
  static constexpr std::size_t population = 12;
  struct Scored {
    Config config;
    double seconds;
  };

  /// Draws two of the population and returns the better one.
  [[nodiscard]] const Config& parent() {
    return best_[std::min(random_() % best_.size(), random_() % best_.size())].config;
  }
  [[nodiscard]] Config child() {
    const Config base = parent();
    if (random_() % 2 == 0) return base.mutated(random_);
    return base.crossed(parent(), random_).mutated(random_);
  }

  std::size_t random_first_;
  std::mt19937_64 random_;
  std::set<std::string> tried_;
  std::vector<Scored> best_;  ///< in ascending order of their times
};

}  // namespace tune
