// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The functions by which a test controls the stand-in for the library of collectives (libhccl.so of this folder).
extern "C" {
/// The number of collectives that this process has put on streams.
std::uint64_t rondo_stand_in_hccl_calls();
/// The milliseconds that a rank waits for the others at first: eleven days, longer than any machine is busy.
inline constexpr std::uint64_t rondo_stand_in_hccl_usual_patience = 1'000'000'000;
/// Sets for how many milliseconds a rank waits for the others, on the device and when a communicator is made.
void rondo_stand_in_hccl_patience(std::uint64_t ms);
}
