#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# count_onboard_instructions.sh <onboard_instructions> [--check | --refreshes]
#
# Rondo's own instructions per onboard round, counted by callgrind: those of the program itself, without those of the
# runtime (here the stand-in) and of memcpy. For k = 1, 4 and 16 tensors of 4 KiB that are copied in and out, bindings
# checked each round or prebound; and for k inputs and k outputs, checked. With --check: fails above 400 + 40 for each
# bound pair, of which there are k, and 2 k where inputs and outputs are different tensors. With --refreshes: per
# refresh of an args table instead, by mechanism, slots, and how many of 64 bases move.
set -euo pipefail
program=$1
check=${2-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

few=20 many=120
# count <case> <k>: instructions per round, rounded. Runs of two lengths are subtracted, so set-up drops out.
count() {
  local rounds total=()
  for rounds in $few $many; do
    valgrind --tool=callgrind --callgrind-out-file="$work/out" --toggle-collect='*measured*' "$program" "$1" "$2" \
      "$rounds" >/dev/null 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
    total+=("$(callgrind_annotate --threshold=100 "$work/out" | grep -F "[$program]" |
      awk '/^ *[0-9,]+ \(/ { gsub(",", "", $1); sum += $1 } END { print sum + 0 }')")
  done
  echo $(((total[1] - total[0] + (many - few) / 2) / (many - few)))
}

if [ "$check" = --refreshes ]; then
  few=4 many=14  # the stand-in computes all slots in each round
  printf '%7s %7s %12s %9s %9s\n' slots moved segment_copy device_op in_launch
  for slots in 100 400 1000 10000; do
    for moved in 0 1 6 64; do
      printf '%7d %7d %12d %9d %9d\n' $slots $moved "$(count segment_copy:$moved $slots)" \
        "$(count device_op:$moved $slots)" "$(count in_launch:$moved $slots)"
    done
  done
  exit 0
fi
bad=0
printf '%4s %9s %7s %6s\n' k case counted most
for k in 1 4 16; do
  for which in checked prebound one_way; do
    pairs=$k
    [ $which != one_way ] || pairs=$((2 * k))
    figure=$(count $which $k) most=$((400 + 40 * pairs))
    printf '%4d %9s %7d %6d\n' $k $which "$figure" $most
    # A count near zero means that the function was not found, not that it is free.
    [ "$figure" -ge $((20 * k)) ] || { echo "k = $k, $which: the round was not counted"; bad=1; }
    [ "$figure" -le $most ] || { echo "k = $k, $which: a round takes more than $most"; bad=1; }
  done
done
[ -z "$check" ] || exit $bad
