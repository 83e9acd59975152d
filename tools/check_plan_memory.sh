#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# check_plan_memory.sh <plan_memory> <lifetimes>: checks what the tool promises, in the way in which users call it.
set -euo pipefail
tool=$1
data=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "plan_memory: $*" >&2; exit 1; }
last_line() { tail -n 1; }

line=$("$tool" "$data/resnet50_224_b1_f32.csv" --fast --offsets "$work/offsets.csv" --svg "$work/plan.svg" | last_line)
[[ $line =~ ^arena\ ([0-9]+)\ lower_bound\ ([0-9]+)\ ratio\ ([0-9.]+)\ seconds\ [0-9.]+$ ]] || fail "last line: $line"
[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ] || fail "a network's plan misses its lower bound: $line"
grep -q "<svg" "$work/plan.svg" || fail "no picture"

# The written file can be read back with its offsets fixed, and needs the same arena.
again=$("$tool" "$work/offsets.csv" --fast | last_line)
[ "${again%% ratio*}" = "${line%% ratio*}" ] || fail "read back: $again, written: $line"

# Between the two stretches of time in which a buffer is used, another buffer can use its bytes.
printf 'id,lower,upper,size,gaps\nx,0,9,16,3-6\ny,3,6,16,\n' >"$work/gaps.csv"
line=$("$tool" "$work/gaps.csv" --fast | last_line)
[[ $line == "arena 16 "* ]] || fail "gaps: $line"

# If the capacity is too small, the exit code is 2.
rc=0; "$tool" "$data/resnet50_224_b1_f32.csv" --fast --capacity 1000 >"$work/out" 2>&1 || rc=$?
[ $rc -eq 2 ] || fail "exit code $rc for a capacity that is too small"

# Budgets have units.
for budget in 0.5 500ms "1 s" 0.01min 200us; do
  "$tool" "$data/resnet50_224_b1_f32.csv" --budget "$budget" >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "--budget $budget"; }
done
for budget in -1s 5parsecs "" 2e9s; do
  if "$tool" "$data/resnet50_224_b1_f32.csv" --budget "$budget" >"$work/out" 2>&1; then fail "accepted --budget '$budget'"; fi
  [ -s "$work/out" ] || fail "--budget '$budget' is refused without a word"
done

# Bad input gives a message that names line and field, and a failure.
refuse() {
  printf "$1" >"$work/bad.csv"
  if "$tool" "$work/bad.csv" --fast >"$work/out" 2>&1; then fail "accepted: $1"; fi
  grep -Eq "$2" "$work/out" || { cat "$work/out" >&2; fail "no word of '$2' for: $1"; }
}
refuse '' 'empty'
refuse 'id,lower,upper\n0,0,1\n' 'size'
refuse 'id,lower,upper,size\n0,0,1,x\n' 'line 2.*size'
refuse 'id,lower,upper,size\n0,0,1,-4\n' 'line 2.*size'
refuse 'id,lower,upper,size\n0,5,1,4\n' 'line 2'
refuse 'id,lower,upper,size\n0,0,1,4\n0,0,1,4\n' 'line 3.*id'
refuse 'id,lower,upper,size\n0,0,1,99999999999999999999\n' 'line 2.*size'
refuse 'id,lower,upper,size,alignment\n0,0,1,4,3\n' 'line 2.*alignment'
printf 'id,lower,upper,size\r\n0,-3,1,0\r\n1,2,2,8\r\n2,0,4,16' >"$work/legal.csv"
[[ $("$tool" "$work/legal.csv" --fast | last_line) == "arena 16 "* ]] || fail "CRLF, empty buffers, no final newline"
# What cannot be written is a failure.
if "$tool" "$work/legal.csv" --fast >/dev/full 2>"$work/out"; then fail "succeeds although its output is lost"; fi
grep -q "standard output: it cannot be written" "$work/out" || { cat "$work/out" >&2; fail "no word about its output"; }
for wrong in "--svg ''" "--svg x --offsets x" "--capacity -5"; do
  if (cd "$work" && eval "'$tool' legal.csv --fast $wrong") >"$work/out" 2>&1; then fail "accepted $wrong"; fi
done
if "$tool" "$work" >"$work/out" 2>&1; then fail "a folder passes for lifetimes"; fi
grep -q "Is a directory" "$work/out" || { cat "$work/out" >&2; fail "no word about the folder"; }
echo "plan_memory keeps its promises"
