// flags: -URONDO_PLATFORM -DRONDO_PLATFORM=host
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The README's program, unchanged, on the host.
#include "../../examples/01_saxpy.cpp"

static_assert(std::is_same_v<rondo::SelectedPlatform, rondo::Host>);
