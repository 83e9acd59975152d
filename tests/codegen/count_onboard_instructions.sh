#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# count_onboard_instructions.sh <onboard_instructions> [--check [onboard.md] | --refreshes [onboard.md]]
#
# Rondo's own instructions per onboard round, counted by callgrind: those of the program itself, without those of the
# runtime (here the stand-in) and of memcpy. For k = 1, 4 and 16 tensors of 4 KiB that are copied in and out, bindings
# checked each round or prebound; and for k inputs and k outputs, checked. With --check: fails above 400 + 40 for each
# bound pair, of which there are k, and 2 k where inputs and outputs are different tensors. With --refreshes: per
# refresh of an args table instead, by mechanism, slots, and how many of 64 bases move. With onboard.md, which has counts
# of g++ 12, fails as well if a count is not the page's, within 2 % or 1.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/figures.sh"
program=$(realpath "$1")  # callgrind names the program by its whole path
check=${2-}
page=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

bad=0
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
    # The page shows no table of the last size.
    [ -z "$page" ] || [ $slots -ne 10000 ] || continue
    declare -A counted=([segment_copy]='' [device_op]='' [in_launch]='')
    for moved in 0 1 6 64; do
      for by in "${!counted[@]}"; do counted[$by]+=" $(count $by:$moved $slots)"; done
      printf '%7d %7d %12d %9d %9d\n' $slots $moved "${counted[segment_copy]##* }" "${counted[device_op]##* }" \
        "${counted[in_launch]##* }"
    done
    [ -n "$page" ] || continue
    figures=$(figures_of "$page" '| slots | bases that move | `segment_copy` |')
    read -r _ _ idle <<<"$(awk '$1 == "any"' <<<"$figures")"
    read -r _ _ _ _ moving <<<"$(awk -v slots=$slots '$1 == slots' <<<"$figures")"
    # As the page has them: first without moves, then of one mechanism after the other.
    read -ra a <<<"${counted[segment_copy]}"; read -ra b <<<"${counted[device_op]}"; read -ra c <<<"${counted[in_launch]}"
    agree "$slots slots, nothing moves" "${a[0]} ${b[0]} ${c[0]}" "$idle" || bad=1
    agree "$slots slots" "${a[*]:1} ${b[*]:1} ${c[*]:1}" "$moving" || bad=1
  done
  exit $bad
fi
printf '%4s %9s %7s %6s\n' k case counted most
for k in 1 4 16; do
  counted=$k
  for which in checked prebound one_way; do
    pairs=$k
    [ $which != one_way ] || pairs=$((2 * k))
    figure=$(count $which $k) most=$((400 + 40 * pairs))
    printf '%4d %9s %7d %6d\n' $k $which "$figure" $most
    # A count near zero means that the function was not found, not that it is free.
    [ "$figure" -ge $((20 * k)) ] || { echo "k = $k, $which: the round was not counted"; bad=1; }
    [ "$figure" -le $most ] || { echo "k = $k, $which: a round takes more than $most"; bad=1; }
    counted+=" $figure"
  done
  [ -n "$page" ] || continue
  published=$(figures_of "$page" '| k | k inouts, checked each round |' | awk -v k=$k '$1 == k')
  agree "k = $k, onboard.md" "$counted" "$published" || bad=1
done
[ -z "$check" ] || exit $bad
