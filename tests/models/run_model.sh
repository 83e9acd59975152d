#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# run_model.sh right|wrong <model> [<define>...]: examines every interleaving of a model, and exits with 0 if the model
# is found right, or wrong, as the first argument says. Exits with 77 without spin; under CI that is a failure.
set -euo pipefail
expected=$1 model=$(realpath "$2")
shift 2
if ! command -v spin >/dev/null; then
  echo "spin was not found; Debian has it as the package spin"
  [ -z "${CI:-}${RONDO_REQUIRE_ALL:-}" ] || exit 1
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
defines=()
for define in "$@"; do defines+=("-D$define"); done
cp "$model" model.pml
spin "${defines[@]}" -a model.pml >spin.txt 2>&1 || { cat spin.txt; exit 1; }
# A wrong model is found wrong quickly, so that compiling takes longer than running.
gcc -w "$([ "$expected" = right ] && echo -O1 || echo -O0)" -DSAFETY -DCOLLAPSE -o pan pan.c
./pan -m1000000 >pan.txt 2>&1 || true
grep -E '^pan:|states, stored|errors:' pan.txt || { cat pan.txt; exit 1; }
if grep -qE 'max search depth too small|out of memory' pan.txt && [ "$expected" = right ]; then
  echo "Not every interleaving was looked at"
  exit 1
fi
if grep -q 'errors: 0' pan.txt; then found=right; else found=wrong; fi
if [ "$found" != "$expected" ]; then
  echo "The model is found $found and should be found $expected"
  [ "$found" = right ] || spin "${defines[@]}" -t -p -k model.pml.trail model.pml | grep -v '(else)' | tail -60
  exit 1
fi
