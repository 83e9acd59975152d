#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# same_code.sh <source> <objdump> <compiler> <flag>...
#
# Checks that a session whose observer receives all events and does nothing compiles to the same code as one without an
# observer: observing costs no instruction where it is not used. The code with an observer that does something must
# differ; otherwise this would compare nothing.
set -euo pipefail
source=$1 objdump=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for observer in NoObserver Nothing Something; do
  "$@" -DOBSERVER=$observer -c "$source" -o "$work/$observer.o"
  "$objdump" -dC --no-show-raw-insn "$work/$observer.o" | tail -n +3 |
    sed -E -e "s/\(anonymous namespace\)::(Nothing|Something)/rondo::NoObserver/g" \
      -e "s/<_Z[^>+]*/<a name that objdump cannot read/g" |
    # The order of functions, and so their addresses, may differ, and so may the padding between them.
    sed -E -e 's/^ +[0-9a-f]+:\s*//' -e 's/(^|[ #])[0-9a-f]+ </\1</' -e '/^(cs )?(nop|data16|xchg +%ax,%ax)/d' |
    awk 'BEGIN { RS = "" } { gsub("\n", "\001"); print }' | sort | tr '\001' '\n' |
    # The order of the two registers of a comparison may differ.
    awk 'match($0, /cmp +%[a-z0-9]+,%[a-z0-9]+$/) {
           split(substr($0, RSTART + 3), of, /[ ,]+/)
           $0 = substr($0, 1, RSTART + 2) " " (of[2] < of[3] ? of[2] "," of[3] : of[3] "," of[2])
         } { print }' >"$work/$observer"
done
grep -q '<static_round>:' "$work/NoObserver" || { echo "the rounds are not in the code"; exit 1; }
if ! diff -u "$work/NoObserver" "$work/Nothing" >"$work/difference"; then
  head -40 "$work/difference"
  echo "an observer that does nothing changes the code"
  exit 1
fi
if cmp -s "$work/NoObserver" "$work/Something"; then
  echo "an observer that counts changes nothing: the hooks are not called"
  exit 1
fi
echo "$(wc -l <"$work/NoObserver") lines of code, the same for both"
