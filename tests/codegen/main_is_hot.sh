#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# main_is_hot.sh <source> <objdump> <compiler> <flags>...
#
# Checks that a function that opens a session and runs rounds is in the ordinary text section, where loops are
# optimised. Compilers take a function for cold, and compile all of it for size, if each path through it calls a
# function that is declared cold, so set-up must not be declared cold.
set -euo pipefail
source=$1 objdump=$2
shift 2
object=$(mktemp --suffix=.o)
trap 'rm -f "$object"' EXIT
"$@" -c "$source" -o "$object"
section=$("$objdump" -t "$object" | awk '$NF == "main" { print $(NF - 2) }')
case $section in
  .text | .text.startup | .text.startup.* | .text.hot*) ;;
  *) echo "main of $source is in ${section:-no section}: something that set-up calls is declared cold" && exit 1 ;;
esac
