// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/args/sample.hpp>

#include <cstdio>

int main() {
  sample::Ring<int> ring;
  for (const int a : {12, 1, 7, 3, 5}) {
    for (const int b : {5, 7, 9, 14, 21}) std::printf("%d ", ring.pick(a, b));
    std::printf("%d\n", ring.sum(3));
    const bool is_put = ring.put(a);
    std::printf("%d %d %d %d %d:", is_put, ring.is_full(), ring.at, ring.flag.load(), ring.sum(2));
    for (const int item : ring.items) std::printf(" %d", item);
    std::printf("\n");
    if (ring.at > 4) break;
  }
  for (int a = 0; a < 20; ++a) std::printf("%d ", ring.pick(a, 0));
}
