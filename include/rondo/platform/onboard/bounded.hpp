// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/codes.hpp>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <thread>

namespace rondo::platform::onboard {

/// Makes a call that may never return, on a thread of its own, and waits for `limit_ms` milliseconds at most. If the
/// limit passes, the thread continues unattended, so `call` must own everything that it uses. Errors: code_timed_out if
/// the limit has passed or no thread can be started. Cost: used in teardown only.
template <class Call>
[[nodiscard]] AclError bounded(std::int64_t limit_ms, Call call) noexcept {
  struct Answer {
    std::atomic<bool> is_there{false};
    AclError code = code_timed_out;
  };
  try {
    const auto answer = std::make_shared<Answer>();
    std::thread([answer, call] {
      answer->code = call();
      answer->is_there.store(true, std::memory_order_release);
    }).detach();
    for (std::int64_t waited_us = 0; !answer->is_there.load(std::memory_order_acquire); waited_us += 200) {
      if (waited_us >= limit_ms * 1000) return code_timed_out;
      const timespec pause{0, 200'000};
      (void)nanosleep(&pause, nullptr);
    }
    return answer->code;
  } catch (...) {
    return code_timed_out;
  }
}

}  // namespace rondo::platform::onboard
