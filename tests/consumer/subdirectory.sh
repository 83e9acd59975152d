#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the separate project with Rondo added as a folder.
source "$(dirname "$0")/common.sh"

# The default platform is in compiled.sh and fetch_content.sh, which add the folder as well.
expect_platform "rondo $VERSION ran 2 rounds on a5_sim" -DRONDO_SOURCE_DIR="$ROOT" "${bare[@]}" -DRONDO_PLATFORM=a5_sim
if grep -qE '^RONDO_BUILD_(TESTS|BENCHES|EXAMPLES):BOOL=ON' build/CMakeCache.txt; then
  fail "a project that adds Rondo is made to build its tests, benchmarks or examples"
fi
expect_unknown_platform -DRONDO_SOURCE_DIR="$ROOT"
expect_product -DRONDO_SOURCE_DIR="$ROOT" -DRONDO_PRODUCTS=search
expect_no_product_on_a_bare_machine -DRONDO_SOURCE_DIR="$ROOT"
