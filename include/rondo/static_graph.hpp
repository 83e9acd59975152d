// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Include this in programs with graphs that the compiler knows, see rondo::static_graph.
#ifndef RONDO_STATIC_GRAPHS
#define RONDO_STATIC_GRAPHS  // see detail/compiled.hpp
#endif
// IWYU pragma: begin_exports
#include <rondo/rondo.hpp>
#include <rondo/session/open_static.hpp>
// IWYU pragma: end_exports
