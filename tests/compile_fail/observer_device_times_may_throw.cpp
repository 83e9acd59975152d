// expect: rondo: the observer declares Event::device_times; write `void device_time(rondo::RoundIndex, double ns) noexcept;`
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/session/observer.hpp>

struct Mine : rondo::NoObserver {
  static constexpr rondo::Events events{rondo::Event::device_times};
  void device_time(rondo::RoundIndex, double) {}
};
static_assert(rondo::check_observer<Mine>());
