// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

/// Every source that tools/mutate compiles includes this first. RONDO_MUTANT is the number of the mutant that the
/// program runs; -1: none, and the file RONDO_MUTANTS_REACHED tells which mutants it reaches. Each line of that file
/// has the seconds and the name of a test case, and the numbers of the mutants that it reaches, separated by tabs; the
/// last line has those that the program reaches outside of test cases.
namespace rondo_mutants {

inline constexpr int most = 20'000;
inline std::atomic<bool> reached[most];

/// Writes what was reached since the last call. Thread safe if the threads that are counted have ended.
inline void write_reached(double seconds, const char* name) {
  static std::FILE* const file = std::fopen(std::getenv("RONDO_MUTANTS_REACHED"), "w");
  if (file == nullptr) return;
  std::fprintf(file, "%f\t%s\t", seconds, name);
  for (int i = 0; i < most; ++i) {
    if (reached[i].exchange(false, std::memory_order_relaxed)) std::fprintf(file, "%d ", i);
  }
  std::fprintf(file, "\n");
  std::fflush(file);
}

inline int read_number() {
  const char* const text = std::getenv("RONDO_MUTANT");
  const int number = text == nullptr ? -2 : std::atoi(text);
  if (number == -1) std::atexit([] { write_reached(0, ""); });
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
