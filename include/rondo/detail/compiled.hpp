// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// In header-only programs, each translation unit compiles the bodies of set-up. Linking to the CMake target
// rondo::compiled defines RONDO_COMPILED, which leaves the bodies to that library. The macro changes no layout and no
// body, so one program may contain translation units of both kinds.
#if defined(RONDO_COMPILED) && !defined(RONDO_COMPILES_BODIES)
#define RONDO_HAS_BODIES 0
#else
#define RONDO_HAS_BODIES 1
#endif

// Precedes the first declaration and the definition of each such body.
#ifdef RONDO_COMPILED
#define RONDO_INLINE
#else
#define RONDO_INLINE inline
#endif

// Constant expressions that build graphs, see static_graph, need the bodies of TaskGraph in their translation unit.
// With rondo::compiled, a translation unit has them only if it includes static_graph.hpp before Rondo's other headers,
// or defines RONDO_STATIC_GRAPHS.
#if RONDO_HAS_BODIES || defined(RONDO_STATIC_GRAPHS)
#define RONDO_HAS_GRAPH_BODIES 1
#else
#define RONDO_HAS_GRAPH_BODIES 0
#endif
#if defined(RONDO_COMPILED) && !defined(RONDO_STATIC_GRAPHS)
#define RONDO_CONSTEXPR
#else
#define RONDO_CONSTEXPR constexpr
#endif
