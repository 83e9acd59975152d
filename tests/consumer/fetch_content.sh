#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the separate project with Rondo fetched by FetchContent, without a network: CMake is told where the fetched
# sources are.
source "$(dirname "$0")/common.sh"

expect_platform "rondo $VERSION ran 2 rounds on a2a3_sim" -DRONDO_FETCH=ON -DFETCHCONTENT_SOURCE_DIR_RONDO="$ROOT"
if grep -qE '^RONDO_BUILD_(TESTS|BENCHES|EXAMPLES|TOOLS):BOOL=ON' build/CMakeCache.txt; then
  fail "a project that fetches Rondo is made to build its tests, benchmarks, examples or tools"
fi
if [ -e build/CPackConfig.cmake ]; then fail "a project that fetches Rondo gets its packaging"; fi
cmake --install build --prefix installed >/dev/null
if [ -e installed/include/rondo ]; then fail "a project that fetches Rondo installs it"; fi
