// function: tail
// function: follows
// allow: memcpy
// allow: ours::allowed\(int\)
// indirect: 2
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
// Everything the check must let pass: allowed calls by either name, calls that are followed to their end, jumps within
// a function, a switch, and as many indirect calls as stated, one of them in tail position.
#include <cstddef>
#include <cstring>

namespace ours {
void allowed(int);
}

extern "C" void not_reached();
void elsewhere() { not_reached(); }

static __attribute__((noinline)) int local(int n) {
  asm volatile("");
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    asm volatile("" : "+r"(sum));
    sum += i;
  }
  return sum;
}

extern "C" int follows(char* to, const char* from, std::size_t n, int (*f)(int)) {
  std::memcpy(to, from, n);
  switch (n) {
    case 0: return local(3);
    case 1: return 7;
    case 2: ours::allowed(5); return 8;
    case 3: return 11;
    case 4: to[0] = 1; return 13;
    case 5: return 29;
    default: return f(1) + local(2);
  }
}

extern "C" int tail(int (*f)(int)) { return f(2); }
