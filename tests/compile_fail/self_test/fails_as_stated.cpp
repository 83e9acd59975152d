// expect: these words are no compiler's || chalk is no cheese
// expect: flags reach the compiler
// flags: -DCHALK=1 -DCHEESE=2
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
static_assert(CHALK == CHEESE, "chalk is no cheese");
static_assert(CHALK + CHEESE != 3, "flags reach the compiler");
