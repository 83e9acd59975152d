#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# Installs Rondo into a folder of its own, then builds a separate project that finds it there.
source "$(dirname "$0")/common.sh"

prefix=$WORK/prefix
"$CMAKE" --install "$BUILD" --prefix "$prefix" >install.log 2>&1 || { cat install.log; fail "installing"; }
# The interface for C comes with its library, RONDO_C_LIBRARY.
headers_in() { (cd "$1/include" && find . -type f -not -path './rondo/c/*' -exec cksum {} + | sort -k 3); }
diff <(headers_in "$ROOT") <(headers_in "$prefix") || fail "what is installed is not what include/ holds"
if grep -rlF -e "$ROOT" -e "$BUILD" "$prefix"; then fail "an installed file names the source or build folder"; fi

expect_platform "rondo $VERSION ran 2 rounds on a2a3_sim" -DCMAKE_PREFIX_PATH="$prefix" "${bare[@]}"
expect_product -DCMAKE_PREFIX_PATH="$prefix"
expect_no_product_on_a_bare_machine -DCMAKE_PREFIX_PATH="$prefix"
expect_onboard_platform_without_device -DCMAKE_PREFIX_PATH="$prefix"
expect_cuda_without_device -DCMAKE_PREFIX_PATH="$prefix"
expect_unknown_platform -DCMAKE_PREFIX_PATH="$prefix"

# A version that is not this one is not found.
if configure build-version "$ROOT/tests/consumer/project" -DCMAKE_PREFIX_PATH="$prefix" -DWANTED=99.0 >version.log 2>&1; then
  fail "version 99.0 was found"
fi
