// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace rondo::search::detail {

/// The choice of the section that a node of the search decides.
enum class Branching : std::uint8_t {
  fewest_options,   ///< the one with the fewest ways to go on
  tightest,         ///< the one with the least room to waste
  lowest_fewest,    ///< a lowest one; among these the one with the fewest ways to go on
  lowest_tightest,  ///< a lowest one; among these the one with the least room to waste
};

/// The choice of the buffer that a node tries first.
enum class Preference : std::uint8_t { size, duration, area, pressure };

/// One way to walk the search tree. A strategy changes how soon a plan is found, never whether one is.
struct SearchStrategy {
  Branching branching = Branching::lowest_fewest;
  Preference preference = Preference::size;
  double noise = 0;        ///< priorities are scaled by a random factor of 1 - noise to 1 + noise
  std::uint64_t seed = 0;  ///< of that noise
};

enum class SearchResult : std::uint8_t {
  found,       ///< offsets() is a plan within the capacity
  impossible,  ///< proved: there is none
  gave_up,     ///< the limit of nodes or time was reached
};

/// When to give up.
struct SearchLimit {
  std::uint64_t nodes = 0;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  const std::atomic<bool>* cancelled = nullptr;
};

/// A 64-bit mixing function (multiply and shift-xor, as in splitmix64).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

}  // namespace rondo::search::detail
