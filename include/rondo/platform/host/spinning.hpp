// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/sim/waiting.hpp>

#include <algorithm>
#include <cstdint>

namespace rondo::platform::host {

/// The longest time to spin that can be set, in microseconds.
inline constexpr std::uint32_t most_spin_us = 1'000'000;

/// Returns limits with which threads spin for about `us` microseconds before they sleep. Rounds read no clock, so the
/// time is counted in pauses; this function measures how long a pause takes, which needs some tens of microseconds.
/// @throws Error invalid_argument
[[nodiscard]] inline sim::SpinLimits spin_for(std::uint32_t us) {
  if (us > most_spin_us) {
    throw Error(Errc::invalid_argument,
                Error::Text{"host: options.spin_us is ", us, "; the most is ", most_spin_us,
                            ", one second; session.platform().keep_awake(true) keeps the threads of a Pool awake"});
  }
  constexpr std::uint64_t pauses = 100;
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t start = sim::now_ns();
    for (std::uint64_t p = 0; p < pauses; ++p) sim::pause();
    least = std::min(least, sim::now_ns() - start);
  }
  const std::uint64_t count = std::uint64_t{us} * 1000 * pauses / std::max<std::uint64_t>(least, 1);
  const auto limit = static_cast<unsigned>(std::min<std::uint64_t>(count, 0xFFFF'FFFE));
  return {limit, limit};
}

}  // namespace rondo::platform::host
