#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# check.sh <source> <compiler> <flag>...
#
# Compiles <source>, which must fail and say why. The directives are the file's first comment lines:
#   // expect: <text>            the first line; the compiler's messages must contain <text>
#   // expect: <text> || <text>  one of them, where compilers use words of their own
#   // flags: <flag>...          further flags for this file
# Further expect lines may follow; each must be met. A file called *_control.cpp must compile instead: it shows that the
# other files fail for their own mistakes and not for the way in which they are compiled.
set -euo pipefail
export LC_ALL=C

source=$1
shift
name=${source##*/}

fail() {
  echo "$name $1"
  [ $# -lt 2 ] || printf -- '---- the compiler said:\n%s\n' "$2"
  exit 1
}

head=$(sed '/^\/\//!q' "$source")
mapfile -t expected < <(sed -n 's|^// expect: *||p' <<<"$head")
read -ra flags < <(sed -n 's|^// flags: *||p' <<<"$head" | tr '\n' ' '; echo)

# Messages leave out source lines, since otherwise a text in the source would count as a message.
case $("$1" --version) in
  *clang*) flags+=(-fno-caret-diagnostics) ;;
  *) flags+=(-fno-diagnostics-show-caret) ;;
esac

status=0
output=$("$@" "${flags[@]}" -Werror=unused-result -fsyntax-only "$source" 2>&1) || status=$?

if [[ $name == *_control.cpp ]]; then
  [ "$status" -eq 0 ] || fail "does not compile; a control must compile" "$output"
  echo "$name compiles"
  exit 0
fi

first=$(head -n 1 "$source")
[[ $first == "// expect: "?* ]] || fail "states no reason: its first line must be '// expect: <text>'"
[ "$status" -ne 0 ] || fail "compiles, but must not; expected: ${expected[0]}"
for line in "${expected[@]}"; do
  found=no
  while [ -n "$line" ]; do
    text=${line%% || *}
    if [[ $output == *"$text"* ]]; then
      found=yes
      echo "$name fails to compile as stated: $text"
      break
    fi
    [[ $line == *" || "* ]] || break
    line=${line#* || }
  done
  [ "$found" = yes ] || fail "fails to compile, but not for the stated reason: $line" "$output"
done
