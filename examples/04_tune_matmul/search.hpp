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

/// Which configuration to try next: random ones first, then children of the best so far. It needs no generations, so
/// that it never has to wait for a candidate that is still under way.
class Search {
 public:
  Search(std::size_t random_first, std::uint64_t seed) : random_first_{random_first}, random_{seed} {}

  /// One that was not tried yet; nothing when all were.
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

  /// Counts it as tried. False if it was before.
  bool take(const Config& config) { return tried_.insert(config.name()).second; }

  /// Takes a time into the population, which holds the best few.
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

  /// The better one of two takes part more often: the best of two draws.
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
