#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds the separate project with rondo::compiled, in whole and in part, from the source folder and installed. The
# library is compiled once, in a configuration in which its sessions do not check memory; those of the program that links
# the installed library, in Debug, do.
source "$(dirname "$0")/common.sh"

expect_platform "rondo $VERSION ran 2 rounds on a2a3_sim" -DRONDO_SOURCE_DIR="$ROOT" "${bare[@]}" \
  -DCMAKE_BUILD_TYPE=None -DRONDO_COMPILED_LIBRARY=ON -DRONDO_INSTALL=ON -DCOMPILED=all
expect_again "rondo $VERSION ran 2 rounds on a2a3_sim" -DCMAKE_BUILD_TYPE=None -DCOMPILED=graph

prefix=$WORK/prefix
"$CMAKE" --install build --prefix "$prefix" >library.log 2>&1 || { cat library.log; fail "installing the library"; }
expect_platform "rondo $VERSION ran 2 rounds on a2a3_sim" -DCMAKE_PREFIX_PATH="$prefix" "${bare[@]}" -DCOMPILED=all
