// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What docs/platforms.md shows is the platform of example 07, which the conformance tests run on.

#include "docs/blocks.hpp"

#include <doctest/doctest.h>

TEST_CASE("Each block of docs/platforms.md stands in the toy platform") {
  docs::check_blocks("docs/platforms.md", "examples/07_toy_platform/toy_platform.hpp", 5);
}
