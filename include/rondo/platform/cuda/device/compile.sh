#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0

# compile.sh [<clang++>] > refresh_ptx.hpp
#   Compiles refresh.cu to PTX and prints it as a header. The PTX runs on sm_70 and later, with drivers for CUDA 10.0 and
#   later. tests/cuda compares what it prints with the header that is checked in.
set -eu
here=$(dirname "$0")
compiler=${1:-clang++-19}
cat <<'HEADER'
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Written by device/compile.sh; change refresh.cu instead.
namespace rondo::platform::cuda {

inline constexpr char refresh_ptx[] = R"ptx(
HEADER
"$compiler" -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 --cuda-feature=+ptx63 -nocudainc -nocudalib \
  -Wno-unknown-cuda-version -std=c++20 -O3 -S -o - "$here/refresh.cu" |
  sed -e 's,[[:space:]]*//.*$,,' -e '/^[[:space:]]*$/d'
cat <<'FOOTER'
)ptx";

}  // namespace rondo::platform::cuda
FOOTER
