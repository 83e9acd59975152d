// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Of `cases` random ones those that a sanitized run can afford: every sixth.
constexpr int scaled(int cases) {
#ifdef RONDO_TEST_SANITIZED
  return (cases + 5) / 6;
#else
  return cases;
#endif
}
