#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# spans.sh <include folder> <header> <g++>
#
# Including the header makes no std::span from a pointer or a range: g++ 12 takes 8 ms to check what an iterator must be
# for each type of pointer. rondo::Slice takes none. All inline functions are compiled, and their calls looked at.
set -euo pipefail
export LC_ALL=C

include=$1 header=$2 compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#include <%s>\n' "$header" >"$work/source.cpp"
if ! "$compiler" -std=c++20 -O0 -fkeep-inline-functions -I"$include" -c "$work/source.cpp" -o "$work/object"; then
  echo "$header cannot be compiled"
  exit 1
fi
functions=$(nm --demangle --defined-only "$work/object" | grep -cE ' [TWVu] ' || true)
made=$(nm --demangle --defined-only "$work/object" | grep -oE 'std::span<.*>::span<.*' | sort -u || true)
echo "$header: $functions functions"
# None at all would mean that the compiler dropped them, not that they are cheap.
[ "$functions" -gt 0 ] || { echo "$header has no functions to look at"; exit 1; }
[ -z "$made" ] || { echo "$made" | sed 's/^/makes /'; exit 1; }
