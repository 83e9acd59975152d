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
#ifdef RONDO_CHECK_MEMORY
  // In Debug, a round refuses memory that was released.
  auto& platform = session.platform();
  const auto memory = platform.allocate(rondo::Bytes{64}, rondo::Bytes{64});
  if (!platform.release(memory).ok()) return 3;
  const rondo::DeviceSpan<int> gone{rondo::DevicePtr<int>{memory.address()}, x.size()};
  if (session.run_round(bind(negation.x, gone), bind(negation.y, y)).code() != rondo::Errc::stale_memory) return 4;
#endif
  std::printf("rondo %d.%d.%d ran %llu rounds on %s\n", rondo::version.major, rondo::version.minor,
              rondo::version.patch, static_cast<unsigned long long>(session.rounds()), rondo::SelectedPlatform::name);
}
