#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# killed_rank.sh <command that starts the tuner of killed_rank.cpp on three ranks>...
#
# Kills a rank that serves the tuner, and then the tuner's own rank. MPI ends the other ranks. The last start measures
# what is missing in the log: each candidate is settled once, and no record is lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export RONDO_TEST_FOLDER=$folder

# The keys of the log's records; a line that a kill cut short is none.
keys() { { grep -a '}$' "$folder/log" || true; } | sed -n 's/.*"key":"\([0-9]*\)".*/\1/p'; }
fail() { echo "killed_rank: $*" >&2; cat "$folder/output" >&2; exit 1; }

for rank in 1 0; do
  rm -f "$folder"/rank*
  touch "$folder/log"
  wanted=$(($(keys | wc -l) + 50))
  "$@" > "$folder/output" 2>&1 &
  job=$!
  until [ "$(keys | wc -l)" -ge "$wanted" ]; do sleep 0.05; done
  keys > "$folder/noted"
  kill -9 "$(cat "$folder/rank$rank")"
  if wait "$job"; then fail "MPI ended without an error although rank $rank was killed"; fi
  keys > "$folder/now"
  [ -z "$(grep -vxFf "$folder/now" "$folder/noted")" ] || fail "the log lost records when rank $rank was killed"
done
RONDO_TEST_IS_LAST=1 "$@" > "$folder/output" 2>&1 || fail "the last start failed"
[ "$(keys | sort -n)" = "$(seq 0 299)" ] || fail "not each candidate is in the log once: $(keys | sort -n | tr '\n' ' ')"
