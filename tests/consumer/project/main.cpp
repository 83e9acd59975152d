// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/error.hpp>
#include <rondo/types.hpp>
#include <rondo/version.hpp>

#include <range/v3/view/iota.hpp>

#include <cstdio>
#include <thread>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#ifdef RONDO_PLATFORM
#define CHOSEN TEXT(RONDO_PLATFORM)
#else
#define CHOSEN "not set"
#endif

int main() {
  // What Rondo depends on reaches its users: range-v3's headers, and threads to link with.
  int sum = 0;
  std::thread worker{[&sum] {
    for (const int i : ranges::views::iota(0, 4)) sum += i;
  }};
  worker.join();
  if (sum != 6 || !rondo::Status{}.ok()) return 1;

  std::printf("rondo %d.%d.%d, RONDO_PLATFORM %s\n", rondo::version.major, rondo::version.minor, rondo::version.patch,
              CHOSEN);
}
