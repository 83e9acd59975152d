// flags: -URONDO_PLATFORM -DRONDO_PLATFORM=a5_onboard
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>

static_assert(rondo::SelectedPlatform::Arch::max_blocks == 36);

void use(const rondo::TaskGraph& graph) { auto session = rondo::open<rondo::SelectedPlatform>(graph); }
