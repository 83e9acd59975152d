// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The profiler's ranges, which are in a library of their own. The stand-in's machine records them.

#include <cstdint>

extern "C" {
std::uint64_t rondo_stand_in_range_start();
void rondo_stand_in_range_end(std::uint64_t range);

std::uint64_t mstxRangeStartA(const char*, void*) { return rondo_stand_in_range_start(); }
void mstxRangeEnd(std::uint64_t range) { rondo_stand_in_range_end(range); }
}
