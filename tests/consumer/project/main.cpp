// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "negate.hpp"

#include <array>
#include <cstdio>
#include <thread>

int main() {
  // What Rondo depends on reaches its users: threads to link with.
  std::array<int, 4> x{}, y{};
  std::thread worker{[&x] { x = {0, 1, 2, 3}; }};
  worker.join();

  const Negation negation = make_negation();
  auto session = rondo::open<rondo::SelectedPlatform>(negation.graph);
  for (int round = 0; round < 2; ++round) {
    if (!session.run_round(bind(negation.x, x), bind(negation.y, y))) return 1;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (y[i] != -x[i]) return 2;
      x[i] += 10;
    }
  }
  std::printf("rondo %d.%d.%d ran %llu rounds on %s\n", rondo::version.major, rondo::version.minor,
              rondo::version.patch, static_cast<unsigned long long>(session.rounds()), rondo::SelectedPlatform::name);
}
