#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# build.sh <arch> [output [source]]
#
# Builds saxpy.o for the device: <arch> is dav-c220-vec (a2a3) or dav-c310-vec (a5). ASCEND_HOME_PATH is where the
# vendor's toolkit lies; its set_env.sh sets it. `source` is another kernel, such as Rondo's refresh kernel:
#
#   build.sh dav-c220-vec refresh.o ../../../include/rondo/platform/onboard/device/refresh.cpp
set -euo pipefail
arch=${1:?usage: build.sh dav-c220-vec|dav-c310-vec [output [source]]}
output=${2:-saxpy.o}
toolkit=${ASCEND_HOME_PATH:?source the set_env.sh of the toolkit first}
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source=${3:-$here/saxpy.cpp}

includes=()
for folder in tikcpp/tikcfw tikcpp/tikcfw/impl tikcpp/tikcfw/interface include; do
  includes+=(-I "$toolkit/compiler/$folder" -I "$toolkit/$folder")
done
"$toolkit/bin/bisheng" -c -x cce -O2 -std=c++17 --cce-aicore-only --cce-aicore-arch="$arch" --cce-auto-sync \
  -mllvm -cce-aicore-stack-size=0x8000 -mllvm -cce-aicore-function-stack-size=0x8000 \
  "${includes[@]}" "$source" -o "$output.unlinked"
"$toolkit/bin/ld.lld" -m aicorelinux -Ttext=0 -static "$output.unlinked" -o "$output"
rm "$output.unlinked"
echo "$output"
