// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the bodies of set-up functions are. Header-only programs compile them. RONDO_COMPILED, which linking to the
// CMake target rondo::compiled defines, leaves them to that library. It chooses only whether a body is seen or linked:
// it changes no layout and no body, so both kinds of translation units may meet in one program.
#if defined(RONDO_COMPILED) && !defined(RONDO_COMPILES_BODIES)
#define RONDO_HAS_BODIES 0
#else
#define RONDO_HAS_BODIES 1
#endif

// Stands before each such body and before its first declaration.
#ifdef RONDO_COMPILED
#define RONDO_INLINE
#else
#define RONDO_INLINE inline
#endif
