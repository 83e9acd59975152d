// expect: is not a member of 'rondo::platform::Names' || no type named 'a3_sim' in 'rondo::platform::Names' || does not name a type || 'rondo::platform::Names'
// flags: -URONDO_PLATFORM -DRONDO_PLATFORM=a3_sim
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/select.hpp>

rondo::SelectedPlatform platform{{}};
