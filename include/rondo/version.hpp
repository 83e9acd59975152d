// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rondo {

/// The version of these headers, by semantic versioning. The build system reads the three numbers from here.
struct Version {
  int major = 0;
  int minor = 2;
  int patch = 0;
};

inline constexpr Version version{};

}  // namespace rondo
