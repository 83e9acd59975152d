// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// How a test talks to the stand-in for the library of collectives (libhccl.so of this folder).
extern "C" {
/// How many collectives this process has put on streams.
std::uint64_t rondo_stand_in_hccl_calls();
/// How long a rank waits for the others, on the device and when a communicator is made.
void rondo_stand_in_hccl_patience(std::uint64_t ms);
}
