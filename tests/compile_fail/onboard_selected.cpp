// expect: rondo: the onboard platforms do not exist yet; choose RONDO_PLATFORM=a2a3_sim or a5_sim
// flags: -URONDO_PLATFORM -DRONDO_PLATFORM=a5_onboard
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/select.hpp>

rondo::SelectedPlatform platform{{}};
