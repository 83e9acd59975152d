// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Whether a sanitizer looks on, which makes everything several times slower.
#ifdef RONDO_TEST_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

/// Of `cases` random ones those that a sanitized run can afford: every sixth.
constexpr int scaled(int cases) { return sanitized ? (cases + 5) / 6 : cases; }
