// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Comments with faults, and one without.
namespace rondo {

struct Bare {
  int member = 0;
};

/// Found for \nothing that doxygen knows.
struct Unknown {};

/// Takes <string> for a tag.
struct Tag {};

/// Good, but for a member.
struct Good {
  int silent = 0;
  int told = 0;  ///< of what it is
  Good() = default;
};

}  // namespace rondo
