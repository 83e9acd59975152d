// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

/// The source of the random numbers of all tests: one seed of 64 bits, which the environment variable RONDO_SEED sets.
/// It is 0 by default, so that a test does the same each time. A program of tests prints the seed when a test case
/// fails that drew random numbers, or any test case in a run whose seed is not 0 (unit/main.cpp).
namespace rondo::test {

/// The seed that a text holds, in decimal or, after 0x, in hexadecimal. Ends the program if it holds none.
inline std::uint64_t parse_seed(const char* text) {
  char* end = nullptr;
  const std::uint64_t seed = std::strtoull(text, &end, 0);
  if (end != text && *end == '\0' && *text != '-') return seed;
  std::fprintf(stderr, "RONDO_SEED is '%s'; it must be an integer\n", text);
  std::exit(2);
}

/// The seed of this run.
inline std::uint64_t run_seed() {
  static const std::uint64_t seed = [] {
    const char* const text = std::getenv("RONDO_SEED");
    return text == nullptr ? 0 : parse_seed(text);
  }();
  return seed;
}

/// Whether the running test case drew random numbers. The program's listener clears it when a test case starts.
inline std::atomic<bool>& draws_random() {
  static std::atomic<bool> draws{false};  // threads of a stand-in draw as well
  return draws;
}

/// The seed of one of a run's generators, identified by `stream`; `stream` itself in a run of seed 0.
inline std::uint64_t seed_of(std::uint64_t stream) {
  draws_random() = true;
  std::uint64_t x = run_seed();
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;  // neighbouring seeds differ in half of their bits
  x = (x ^ x >> 27) * 0x94D049BB133111EBU;
  return stream ^ x ^ x >> 31;
}

/// A generator that starts at `seed_of(stream)`.
template <class Engine = std::mt19937>
[[nodiscard]] Engine make_random(std::uint64_t stream) {
  return Engine{static_cast<typename Engine::result_type>(seed_of(stream))};
}

}  // namespace rondo::test
