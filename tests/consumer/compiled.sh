#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the separate project with rondo::compiled, in whole and in part, from the source folder and installed.
source "$(dirname "$0")/common.sh"

for part in all graph; do
  expect_platform "rondo $VERSION ran 2 rounds on a2a3_sim" -DRONDO_SOURCE_DIR="$ROOT" "${bare[@]}" -DCOMPILED=$part
done

prefix=$WORK/prefix
configure library "$ROOT" -DRONDO_COMPILED_LIBRARY=ON -DRONDO_BUILD_TESTS=OFF -DRONDO_BUILD_BENCHES=OFF \
  -DRONDO_BUILD_EXAMPLES=OFF -DRONDO_BUILD_TOOLS=OFF "${bare[@]}" >library.log 2>&1 || { cat library.log; fail "configuring the library"; }
"$CMAKE" --build library >library.log 2>&1 || { cat library.log; fail "building the library"; }
"$CMAKE" --install library --prefix "$prefix" >library.log 2>&1 || { cat library.log; fail "installing the library"; }
expect_platform "rondo $VERSION ran 2 rounds on a2a3_sim" -DCMAKE_PREFIX_PATH="$prefix" "${bare[@]}" -DCOMPILED=all
