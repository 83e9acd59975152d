#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# check_digits.sh <program>
#
# Runs the digits example as a user would, in a folder far from its data (here), and checks what it promises: the accuracy in
# its last line, at least 0.95, the same for the same seed, and a picture that a browser can read.
set -euo pipefail
export LC_ALL=C
program=$1
rm -f digits.svg

fail() { echo "failed: $*"; exit 1; }

"$program" >first.txt || { cat first.txt; fail "the default run"; }
last=$(tail -n 1 first.txt)
echo "its last line: $last"
[[ $last =~ ^accuracy\ (0\.[0-9]+|1\.0+)$ ]] || fail "the last line must be 'accuracy <number>'"
awk -v accuracy="${BASH_REMATCH[1]}" 'BEGIN { exit !(accuracy >= 0.95) }' || fail "the accuracy is below 0.95"

[ -s digits.svg ] || fail "it left no digits.svg"
python3 -c 'import xml.dom.minidom as x; assert x.parse("digits.svg").documentElement.tagName == "svg"' \
  || fail "digits.svg is not SVG"

"$program" >second.txt || fail "a second run in the same folder"
[ "$(tail -n 1 second.txt)" = "$last" ] || fail "a second run ends differently: $(tail -n 1 second.txt)"
"$program" --rounds 50 --batch 16 --seed 7 >short.txt || fail "--rounds 50 --batch 16 --seed 7"
[[ $(tail -n 1 short.txt) == accuracy\ * ]] || fail "a short run ends with: $(tail -n 1 short.txt)"

"$program" --help >help.txt || fail "--help"
for option in --rounds --batch --seed --platform-info --help; do
  grep -qe "$option" help.txt || fail "--help does not name $option"
done
[ -n "$("$program" --platform-info)" ] || fail "--platform-info says nothing"
for wrong in --no-such-option "--rounds -1" "--batch 0" "--seed x"; do
  read -ra arguments <<<"$wrong"
  if "$program" "${arguments[@]}" >wrong.txt 2>&1; then fail "$wrong is accepted"; fi
  [ -s wrong.txt ] || fail "$wrong is refused without a word"
done
