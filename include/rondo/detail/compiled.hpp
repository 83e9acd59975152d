// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Header-only programs compile the bodies of set-up. RONDO_COMPILED, defined by linking to the CMake target
// rondo::compiled, leaves them to that library. It changes no layout and no body, so both kinds of translation units
// may meet in one program.
#if defined(RONDO_COMPILED) && !defined(RONDO_COMPILES_BODIES)
#define RONDO_HAS_BODIES 0
#else
#define RONDO_HAS_BODIES 1
#endif

// Precedes each such body and its first declaration.
#ifdef RONDO_COMPILED
#define RONDO_INLINE
#else
#define RONDO_INLINE inline
#endif
