#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# build_orchestrator.sh [output]
#
# Builds orchestrator.cpp for the device's AICPU, an aarch64 processor under Linux. CXX is a compiler for it that knows
# C++20 (g++ 12 or later); it brings its own C++ library along, since the device's is older.
set -euo pipefail
output=${1:-orchestrator.so}
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
"${CXX:-aarch64-linux-gnu-g++}" -std=c++20 -O2 -fPIC -shared -static-libstdc++ -static-libgcc \
  -I "$here/../../../include" "$here/orchestrator.cpp" -o "$output"
echo "$output"
