#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# count.sh <folder> <build folder> <ctest>
#
# Checks that ctest knows a test for every file here, and that at least one is a control, so that a glob that finds
# nothing fails.
set -euo pipefail

files=$(find "$1" -maxdepth 1 -name '*.cpp' | wc -l)
controls=$(find "$1" -maxdepth 1 -name '*_control.cpp' | wc -l)
tests=$("$3" --test-dir "$2" -N -R '^compile_fail/' | grep -c 'compile_fail/' || true)

echo "$files files, $controls of them controls; $tests tests"
[ "$files" -eq "$tests" ] || { echo "each file must be one test"; exit 1; }
[ "$controls" -gt 0 ] || { echo "there must be a control that compiles"; exit 1; }
