// function: named
// expect: rdtsc
// expect: lock
// expect: xchg
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
// Clocks are read and locks are taken without a call, too.
#include <atomic>

extern "C" unsigned long long named(std::atomic<int>& a) {
  a.fetch_add(1);
  a.store(2);
  return __builtin_ia32_rdtsc();
}
