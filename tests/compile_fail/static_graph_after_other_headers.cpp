// expect: rondo: with rondo::compiled, include <rondo/static_graph.hpp> first, or define RONDO_STATIC_GRAPHS
// flags: -DRONDO_COMPILED
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/rondo.hpp>
#include <rondo/static_graph.hpp>
