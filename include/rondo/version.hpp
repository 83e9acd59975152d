// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rondo {

/// The version of these headers, by semantic versioning. The build system reads the three numbers from here.
struct Version {
  /// Changes with what no longer works as it did.
  int major = 0;
  /// Changes with what is new.
  int minor = 1;
  /// Changes with what was mended.
  int patch = 0;
};

/// All three as text.
inline constexpr Version version{};

}  // namespace rondo
