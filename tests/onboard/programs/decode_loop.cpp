// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The decode loop of the examples, on an onboard platform over the stand-in: RONDO_TEST_CHIP is A2A3 or A5. The device
// decides about the loop if RONDO_TEST_DEVICE_DECIDES is true; otherwise the host does.

#include "stand_in/over_stand_in.hpp"

#include <rondo/observe/clocks.hpp>
#include <rondo/rondo.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <string>

using ChipOverStandIn = stand_in::OverStandIn<rondo::arch::RONDO_TEST_CHIP, RONDO_TEST_DEVICE_DECIDES>;
#define SelectedPlatform ChipOverStandIn
#include "../../../examples/03_decode_loop/main.cpp"
