// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rondo's refresh kernel, from its source for the device, over the part of Ascend C that ascend_c/ has.

#include <rondo/platform/onboard/device/refresh.cpp>

#include "control.hpp"

extern "C" void rondo_stand_in_refresh(std::int64_t* args) {
  const auto at = [&](int word) { return reinterpret_cast<GM_ADDR>(args[word]); };
  const auto number = [&](int word) { return static_cast<std::uint64_t>(args[word]); };
  rondo_refresh(at(0), at(1), number(2), at(3), number(4), at(5), number(6), at(7));
}
