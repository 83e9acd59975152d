// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace rondo::search::detail {

/// How a node of the search chooses the section to decide.
enum class Branching : std::uint8_t {
  fewest_options,   ///< the one with the fewest options
  tightest,         ///< the one with the least space to waste
  lowest_fewest,    ///< one with the lowest floor; among these, the one with the fewest options
  lowest_tightest,  ///< one with the lowest floor; among these, the one with the least space to waste
};

/// How a node chooses the buffer to try first.
enum class Preference : std::uint8_t { size, duration, area, pressure };

/// One way to walk the search tree. A strategy affects how soon a plan is found, but not whether one is found.
struct SearchStrategy {
  Branching branching = Branching::lowest_fewest;
  Preference preference = Preference::size;
  double noise = 0;        ///< priorities are multiplied by a random factor between 1 - noise and 1 + noise
  std::uint64_t seed = 0;  ///< the seed of that noise
};

enum class SearchResult : std::uint8_t {
  found,       ///< offsets() is a plan within the capacity
  impossible,  ///< there is provably none
  gave_up,     ///< the limit of nodes or time was reached
};

/// The limits at which a search gives up.
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
