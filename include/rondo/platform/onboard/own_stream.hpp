// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/device.hpp>

namespace rondo::platform::onboard {

/// While it lives, work goes to the session's own stream, as in set-up; afterwards to the caller's, if there is one,
/// or, if told so, to the one before.
class OnOwnStream {
 public:
  explicit OnOwnStream(Device& device, bool goes_back = false) noexcept
      : device_{device}, is_callers_next_{!goes_back || device.stream() == device.callers_stream()} {
    device_.use_callers_stream(false);
  }
  OnOwnStream(const OnOwnStream&) = delete;
  OnOwnStream& operator=(const OnOwnStream&) = delete;
  ~OnOwnStream() { device_.use_callers_stream(is_callers_next_); }

 private:
  Device& device_;
  bool is_callers_next_;
};

}  // namespace rondo::platform::onboard
