#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# budget.sh <include folder> <header> <lines> <compiler>
#
# Checks that the header has at most <lines> lines after the preprocessor, and that none of the most expensive headers
# is reachable.
set -euo pipefail
export LC_ALL=C

include=$1 header=$2 budget=$3 compiler=$4
forbidden="range/v3/[^ ]*|ranges|chrono|functional|iostream|istream|sstream|fstream|iomanip|regex|filesystem|future|random|map|unordered_map|set|deque"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#include <%s>\n' "$header" >"$work/source.cpp"
if ! "$compiler" -std=c++20 -I"$include" -E -MD -MF "$work/reached" "$work/source.cpp" >"$work/text"; then
  echo "$header cannot be preprocessed"
  exit 1
fi

status=0
lines=$(wc -l <"$work/text")
echo "$header: $lines lines after the preprocessor, of $budget"
if [ "$lines" -gt "$budget" ]; then
  echo "$header is above the budget of $budget lines"
  status=1
fi
# A standard header is a path that ends in its name; Rondo's own end in .hpp.
found=$(tr -s ' \\' '\n' <"$work/reached" | grep -oE "/($forbidden)\$" | sed 's|^/||' | sort -u || true)
for name in $found; do
  echo "$header reaches <$name>"
  status=1
done
exit $status
