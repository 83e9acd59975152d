#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# check_replay.sh <replay>: checks what the tool promises, in the way in which users call it.
set -euo pipefail
tool=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dump=$work/step

fail() { echo "replay: $*" >&2; exit 1; }
# expect <exit code> <argument>...: what the tool prints is in $work/out
expect() {
  local want=$1 rc=0
  shift
  "$tool" "$@" >"$work/out" 2>&1 || rc=$?
  [ $rc -eq "$want" ] || { cat "$work/out"; fail "exit code $rc, not $want: $*"; }
}
says() { grep -qF -- "$1" "$work/out" || { cat "$work/out"; fail "does not say: $1"; }; }

expect 0 "$dump" --example
says "16 of 16 tasks give what the dump has"
for platform in a2a3_sim a5_sim; do
  for engine in inline pool checked; do
    expect 0 "$dump" --platform $platform --engine $engine --chain --relative 0 --absolute 0
    says "16 of 16"
  done
done
expect 0 "$dump" --list
says "task 15 (descend, vector, blocks 1) reads b1 db1 rate writes b1"

# The tool finds a changed number in a file, and its place.
python3 - "$dump" <<'PYTHON'
import json, struct, sys
dump = sys.argv[1]
manifest = json.load(open(dump + "/manifest.json"))
assert manifest["format"] == "rondo-dump"
task = next(t for t in manifest["tasks"] if t["kernel"] == "bias_softmax")
path = dump + "/" + task["written"][0]["file"]
data = bytearray(open(path, "rb").read())
(length,) = struct.unpack("<H", data[8:10])
struct.pack_into("<f", data, 10 + length + 4 * 23, 5.0)
open(path, "wb").write(data)
PYTHON
expect 2 "$dump" --task 3
says "task 3 (bias_softmax): p[2, 3] (element 23) is 0."
says "the dump has 5; 1 of 80 elements differ"
says "the first that differs is task 3 (bias_softmax)"
says "0 of 1 tasks give what the dump has"
expect 0 "$dump" --task 0 1 2
says "3 of 3"
expect 0 "$dump" --task 3 --absolute 5

expect 1 "$dump" --task 99
says "no task 99"
expect 1 "$work/nowhere"
says "manifest.json: the folder is no dump, or its manifest cannot be read: No such file or directory"
for wrong in -1 nan inf; do expect 105 "$dump" --relative $wrong; done
if "$tool" "$dump" --list >/dev/full 2>"$work/out"; then fail "succeeds although its output is lost"; fi
says "standard output: it cannot be written"
if "$tool" "$dump" --engine steam >/dev/null 2>&1; then fail "--engine steam is accepted"; fi
