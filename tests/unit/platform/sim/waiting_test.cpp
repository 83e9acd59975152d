// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/waiting.hpp>

#include <doctest/doctest.h>

#include <vector>

using rondo::platform::sim::Backoff;

TEST_CASE("a thread that waits looks for other work more and more rarely while it spins, and then at each check") {
  constexpr unsigned patience = Backoff::patience;
  constexpr unsigned spins = 4 * patience + 10;
  const auto looks_until = [](Backoff& backoff, unsigned end) {
    std::vector<unsigned> looks;
    for (unsigned check = 0; check <= end; ++check) {
      if (backoff.out_of_patience(spins)) looks.push_back(check);
      backoff.wait(2 * spins);  // never sleeps here
    }
    return looks;
  };
  Backoff backoff;
  CHECK(looks_until(backoff, spins + 2) ==
        std::vector<unsigned>{patience, 2 * patience, 4 * patience, spins + 1, spins + 2});
  backoff.reset();
  CHECK(looks_until(backoff, patience) == std::vector<unsigned>{0, patience});
}
