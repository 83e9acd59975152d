// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rondo's kernel that decides about loops, from its source for the device, over the Ascend C of ascend_c/.

#include <rondo/platform/onboard/device/decide.cpp>

#include "control.hpp"

extern "C" void rondo_stand_in_decide(std::int64_t* args) {
  rondo_decide(reinterpret_cast<GM_ADDR>(args[0]), reinterpret_cast<GM_ADDR>(args[1]),
               static_cast<std::uint64_t>(args[2]));
}
