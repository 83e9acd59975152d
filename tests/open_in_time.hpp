// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

namespace rondo::test {

/// Calls `open()`, which opens a session whose waits have a short limit, until the opening itself takes no longer; on a
/// busy machine that may need several attempts. Only rounds that never end should run in such a session.
template <class Open>
[[nodiscard]] auto open_in_time(const Open& open) {
  for (;;) {
    try {
      return open();
    } catch (const Error& e) {
      if (e.code() != Errc::timed_out) throw;
    }
  }
}

}  // namespace rondo::test
