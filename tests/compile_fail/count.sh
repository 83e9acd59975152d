#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# count.sh <folder> <build folder> <ctest>
#
# Every file here is a test that ctest knows, and at least one is a control: a glob that finds nothing passes no test.
set -euo pipefail

files=$(find "$1" -maxdepth 1 -name '*.cpp' | wc -l)
controls=$(find "$1" -maxdepth 1 -name '*_control.cpp' | wc -l)
tests=$("$3" --test-dir "$2" -N -R '^compile_fail/' | grep -c 'compile_fail/' || true)

echo "$files files, $controls of them controls; $tests tests"
[ "$files" -eq "$tests" ] || { echo "each file must be one test"; exit 1; }
[ "$controls" -gt 0 ] || { echo "there must be a control that compiles"; exit 1; }
