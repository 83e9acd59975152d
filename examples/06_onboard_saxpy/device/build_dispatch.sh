#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# build_dispatch.sh <chip> [output [source]]
#
# Builds dispatch.o for the device: <chip> is c220 (a2a3) or c310 (a5). The source is compiled twice, for cube and for
# vector cores, and the two become one binary, whose kernel rondo_dispatch has an entry for each. ASCEND_HOME_PATH is
# where the vendor's toolkit lies; its set_env.sh sets it.
set -euo pipefail
chip=${1:?usage: build_dispatch.sh c220|c310 [output [source]]}
output=${2:-dispatch.o}
toolkit=${ASCEND_HOME_PATH:?source the set_env.sh of the toolkit first}
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
source=${3:-$here/dispatch.cpp}

includes=(-I "$here/../../../include")
for folder in tikcpp/tikcfw tikcpp/tikcfw/impl tikcpp/tikcfw/interface include; do
  includes+=(-I "$toolkit/compiler/$folder" -I "$toolkit/$folder")
done
compile() {  # <cube|vec> <aic|aiv>
  "$toolkit/bin/bisheng" -c -x cce -O2 -std=c++17 --cce-aicore-only --cce-aicore-arch="dav-$chip-$1" --cce-auto-sync \
    -mllvm -cce-aicore-stack-size=0x8000 -mllvm -cce-aicore-function-stack-size=0x8000 \
    "-Drondo_dispatch=rondo_dispatch_mix_$2" "${includes[@]}" "$source" -o "$output.$2"
}
compile cube aic
compile vec aiv
"$toolkit/bin/ld.lld" -m aicorelinux -Ttext=0 -static "$output.aic" "$output.aiv" -o "$output"
rm "$output.aic" "$output.aiv"
echo "$output"
