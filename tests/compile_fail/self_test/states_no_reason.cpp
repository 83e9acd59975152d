// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
// expect: chalk is no cheese
static_assert(false, "chalk is no cheese");
