// function: named
// allow: mem
// expect: call of operator new(unsigned long)
// expect: call of memcpy
// expect: call of abort
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
// A call two functions down, a call that an allowed name is only a part of, and one on a cold path.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

static __attribute__((noinline)) void* deeper(std::size_t n) {
  asm volatile("");
  if (n == 0) std::abort();
  return ::operator new(n);
}

inline __attribute__((noinline)) void* deep(std::size_t n) {
  asm volatile("");
  return deeper(n + 1);
}

extern "C" void* named(const char* from, std::size_t n) {
  char* to = static_cast<char*>(deep(n));
  std::memcpy(to, from, n);
  return to;
}
