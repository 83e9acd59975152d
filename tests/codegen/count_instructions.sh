#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# count_instructions.sh <round_instructions> [--check [README.md]]
#
# Rondo's own instructions per round, counted by callgrind; memcpy and the kernel are left out. For k = 1, 4 and 16
# tensors of 4 KiB that are copied in and out, next to a hand-written round. With --check: fails if a checked round
# takes more than the hand-written one + 32 + 8k, a prebound one more than it + 24 + k, or one of a known shape more
# than a checked one + 24 + 14k. Then for the same tensors in device memory, which is not copied: memory that stays the
# same from round to round, memory all of which moves, and the latter prebound: no more than 48 + 21k, 100 + 50k and
# 48 + 14k. Last, k inputs and k outputs with two rounds in flight, submitted and delivered, over a queue that does
# nothing: no more than 112 + 109k, and prebound 110 + 82k. These limits hold for every version of g++. With README.md,
# the counts are also those of its table, and those of the table below, within 2 % or 1: both are of g++ 12.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/figures.sh"
program=$1
check=${2-}
readme=${3-}
# What README.md leaves out: the columns from `shaped` on.
declare -A others=([1]='64 54 111 50 162 125' [4]='159 102 249 96 419 287' [16]='624 360 845 240 1457 935')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# count <case> <k>: instructions per round, rounded. Whole runs of two lengths are subtracted, so set-up drops out.
count() {
  local rounds total=()
  for rounds in 100 1100; do
    valgrind --tool=callgrind --callgrind-out-file="$work/out" --toggle-collect='*measured*' "$program" "$1" "$2" 4096 \
      "$rounds" >/dev/null 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
    total+=("$(callgrind_annotate --threshold=100 "$work/out" |
      awk '/^ *[0-9,]+ \(.*[:\/]/ && !/memcpy|memmove|touch/ { gsub(",", "", $1); sum += $1 } END { print sum + 0 }')")
  done
  echo $(((total[1] - total[0] + 500) / 1000))
}

bad=0
row='%4s %8s %8s %9s %6s %7s %6s %6s %15s %10s %19s\n'
printf "$row" k raw checked prebound null shaped stays moves prebound_moves submitted submitted_prebound
for k in 1 4 16; do
  raw=$(count raw $k) checked=$(count rondo $k) prebound=$(count prebound $k) null=$(count null $k) shaped=$(count shaped $k)
  stays=$(count stays $k) moves=$(count moves $k) prebound_moves=$(count prebound_moves $k)
  submitted=$(count submitted $k) submitted_prebound=$(count submitted_prebound $k)
  printf "$row" $k "$raw" "$checked" "$prebound" "$null" "$shaped" "$stays" "$moves" "$prebound_moves" "$submitted" "$submitted_prebound"
  # A count near zero means that the function was not found, not that it is free.
  for figure in "$raw" "$checked" "$prebound" "$null" "$shaped" "$stays" "$moves" "$prebound_moves" "$submitted" "$submitted_prebound"; do
    [ "$figure" -gt 0 ] || { echo "k = $k: a round was not counted"; bad=1; }
  done
  [ "$raw" -ge $((10 + 10 * k)) ] || { echo "k = $k: the hand-written round was not counted"; bad=1; }
  [ "$checked" -le $((raw + 32 + 8 * k)) ] || { echo "k = $k: a checked round takes more than $((raw + 32 + 8 * k))"; bad=1; }
  [ "$prebound" -le $((raw + 24 + k)) ] || { echo "k = $k: a prebound round takes more than $((raw + 24 + k))"; bad=1; }
  [ "$shaped" -le $((checked + 24 + 14 * k)) ] || { echo "k = $k: a known shape takes more than $((checked + 24 + 14 * k))"; bad=1; }
  [ "$stays" -le $((48 + 21 * k)) ] || { echo "k = $k: device memory that stays takes more than $((48 + 21 * k))"; bad=1; }
  [ "$moves" -le $((100 + 50 * k)) ] || { echo "k = $k: device memory that moves takes more than $((100 + 50 * k))"; bad=1; }
  [ "$prebound_moves" -le $((48 + 14 * k)) ] || { echo "k = $k: moving prebound takes more than $((48 + 14 * k))"; bad=1; }
  [ "$submitted" -le $((112 + 109 * k)) ] || { echo "k = $k: a submitted round takes more than $((112 + 109 * k))"; bad=1; }
  [ "$submitted_prebound" -le $((110 + 82 * k)) ] || { echo "k = $k: submitted prebound takes more than $((110 + 82 * k))"; bad=1; }
  [ -n "$readme" ] || continue
  published=$(figures_of "$readme" '| k | by hand |' | awk -v k=$k '$1 == k')
  agree "k = $k, README.md" "$k $raw $checked $prebound $null" "$published" || bad=1
  agree "k = $k, from shaped on" "$shaped $stays $moves $prebound_moves $submitted $submitted_prebound" "${others[$k]}" || bad=1
done
[ -z "$check" ] || exit $bad
