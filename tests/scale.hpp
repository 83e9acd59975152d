// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether a sanitizer is active, which makes everything several times slower.
#ifdef RONDO_TEST_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// The number of random cases to run: `cases`, or a sixth of them under a sanitizer.
constexpr int scaled(int cases) { return sanitized ? (cases + 5) / 6 : cases; }
