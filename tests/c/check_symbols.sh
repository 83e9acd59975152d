#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
# check_symbols.sh <librondo_c.so> <symbols.map> <rondo.h>
# Checks that the library exports the same functions as the map lists and the header declares.
set -euo pipefail
export LC_ALL=C

exported=$(nm -D --defined-only "$1" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | sort)
listed=$(sed -n '/global:/,/local:/s/^ *\([a-z_0-9]*\);.*/\1/p' "$2" | sort)
declared=$(grep -oE 'RONDO_C_API [^(]*\(' "$3" | grep -oE 'rondo_[a-z_0-9]+\(' | tr -d '(' | sort)
[ -n "$listed" ] || { echo "$2 lists no symbol"; exit 1; }

compare() {
  diff <(echo "$2") <(echo "$4") && return
  echo "$1 (<) and $3 (>) differ as shown; bring them together"
  exit 1
}
compare "$2" "$listed" "$1" "$exported"
compare "$2" "$listed" "$3" "$declared"
echo "$(wc -l <<<"$listed") symbols"
