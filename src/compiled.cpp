// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The library rondo::compiled: the one translation unit that has the bodies of set-up.
#ifndef RONDO_COMPILED
#define RONDO_COMPILED
#endif
#define RONDO_COMPILES_BODIES
#include <rondo/graph/deal.hpp>
#include <rondo/graph/orchestrated.hpp>
#include <rondo/rondo.hpp>
