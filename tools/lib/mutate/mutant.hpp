// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

/// Every source that tools/mutate compiles includes this first. RONDO_MUTANT is the number of the mutant that the
/// program runs; -1: none, and the mutants that it reaches are written to the file RONDO_MUTANTS_REACHED.
namespace rondo_mutants {

inline constexpr int most = 20'000;
inline std::atomic<bool> reached[most];

inline void write_reached() {
  std::FILE* const file = std::fopen(std::getenv("RONDO_MUTANTS_REACHED"), "w");
  if (file == nullptr) return;
  for (int i = 0; i < most; ++i) {
    if (reached[i].load(std::memory_order_relaxed)) std::fprintf(file, "%d\n", i);
  }
  std::fclose(file);
}

inline int read_number() {
  const char* const text = std::getenv("RONDO_MUTANT");
  const int number = text == nullptr ? -2 : std::atoi(text);
  if (number == -1) std::atexit(write_reached);
  return number;
}
inline const int number = read_number();

constexpr bool is(int mutant) noexcept {
  if (__builtin_is_constant_evaluated()) return false;
  if (number == -1) reached[mutant].store(true, std::memory_order_relaxed);
  return number == mutant;
}

}  // namespace rondo_mutants
#define RONDO_M(mutant) ::rondo_mutants::is(mutant)
