// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/types.hpp>
#include <rondo/update/refresher.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::observe {

/// Reads no clock: rounds do not either.
struct NoClock {
  static constexpr bool is_clock = false;
};

/// Counts rounds and what refreshed their args; for Policies::Observe. With a `Clock` that has `static std::uint64_t
/// now() noexcept` in nanoseconds, see steady_clock.hpp, also the time that refreshes take.
///
/// Lifetime: the session's; read it by session.observer(). Cost: a few additions per round; nothing where it is absent.
template <class Clock = NoClock>
struct CountersWith {
  std::uint64_t rounds = 0;
  std::uint64_t failed_rounds = 0;
  std::uint64_t refreshes[update_level_count] = {};        ///< by strategy; none: asked, nothing to do
  std::uint64_t mechanisms[update::mechanism_count] = {};  ///< by mechanism
  std::uint64_t slots = 0;                                 ///< addresses computed
  std::uint64_t bytes = 0;                                 ///< copied for it, or carried by launches
  std::uint64_t refresh_ns = 0;                            ///< with a clock

  void round_begins(RoundIndex) noexcept {}
  void round_ends(RoundIndex, Status status) noexcept { ++(status.ok() ? rounds : failed_rounds); }
  void refresh_begins() noexcept {
    if constexpr (!requires { Clock::is_clock; }) began_ = Clock::now();
  }
  void refreshed(const update::Refreshed& r) noexcept {
    if constexpr (!requires { Clock::is_clock; }) {
      if (began_ != 0) refresh_ns += Clock::now() - began_;
    }
    ++refreshes[static_cast<std::size_t>(r.level)];
    ++mechanisms[static_cast<std::size_t>(r.mechanism)];
    slots += r.slots;
    bytes += r.bytes;
  }

 private:
  std::uint64_t began_ = 0;
};
using Counters = CountersWith<>;

}  // namespace rondo::observe
