#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# main_is_hot.sh <source> <objdump> <compiler> <flags>...
#
# A program that opens a session and runs rounds in one function has that function in the ordinary text, where loops are
# optimised. Compilers take a function for cold, and compile all of it for size, where each way through it calls a
# function that is declared cold: set-up must not be.
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
