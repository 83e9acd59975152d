#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# check_tune_matmul.sh <program> <candidates>
#
# Runs the tuning example on small matrices: to the end, again from its log, and interrupted, killed and continued.
set -euo pipefail
export LC_ALL=C
program=$1 candidates=$2
rm -f ./*.jsonl ./*.txt

fail() { echo "failed: $*"; exit 1; }

arguments=(--size 64 --candidates "$candidates" --random $((candidates / 2)) --finalists 2)
tune() { "$program" "${arguments[@]}" --log "$1"; }
records() { if [ -e "$1" ]; then wc -l <"$1"; else echo 0; fi; }
keys() { python3 -c 'import json, sys
for line in open(sys.argv[1]):
    try: record = json.loads(line)
    except ValueError: continue
    if record["fault"] not in ("device", "unknown"): print(record["key"])' "$1"; }

# To the end: every candidate once, a table, and a faster kernel than the naive one is named.
tune whole.jsonl >whole.txt || { cat whole.txt; fail "a run from nothing"; }
grep -qE '^naive +[0-9.]+ [num]?s +[0-9.]+ +1\.00x$' whole.txt || fail "the table has no naive kernel"
[[ $(tail -n 1 whole.txt) =~ ^best:\ .*,\ [0-9.]+\ times\ as\ fast\ as\ the\ naive\ kernel$ ]] || fail "its last line"
[ "$(keys whole.jsonl | sort -u | wc -l)" -eq "$candidates" ] || fail "the log has not all candidates"
[ "$(keys whole.jsonl | wc -l)" -eq "$candidates" ] || fail "the log has a candidate twice"

# Again: all is known.
tune whole.jsonl >again.txt || fail "a run that finds all done"
grep -q "going on: $candidates candidates were measured before" again.txt || fail "the log was not read"
[ "$(keys whole.jsonl | wc -l)" -eq "$candidates" ] || fail "a settled candidate was measured again"

# Interrupted, then killed, then to the end.
await_records() { # <count> <pid>
  for _ in $(seq 3000); do
    [ "$(records parts.jsonl)" -ge "$1" ] && return
    kill -0 "$2" 2>/dev/null || return 0
    sleep 0.01
  done
  fail "no progress"
}
third=$((candidates / 3))
"$program" "${arguments[@]}" --log parts.jsonl >interrupted.txt &
interrupted=$!
await_records $third $interrupted
kill -INT $interrupted
status=0
wait $interrupted || status=$?
[ $status -eq 130 ] || fail "Ctrl-C ended it with status $status"
grep -q '^interrupted; start it again' interrupted.txt || fail "Ctrl-C went unmentioned"
first=$(keys parts.jsonl | wc -l)
[ "$first" -lt "$candidates" ] || fail "Ctrl-C did not end it early"

"$program" "${arguments[@]}" --log parts.jsonl >killed.txt &
killed=$!
await_records $((first + third)) $killed
kill -KILL $killed 2>/dev/null || true
wait $killed 2>/dev/null || true
second=$(keys parts.jsonl | wc -l)
[ "$second" -ge "$first" ] || fail "what was noted before is gone"

tune parts.jsonl >rest.txt || { cat rest.txt; fail "going on after a kill"; }
grep -q "going on: $second candidates were measured before" rest.txt || fail "not all that was noted counts"
[ "$(keys parts.jsonl | sort -u | wc -l)" -eq "$candidates" ] || fail "the log has not all candidates in the end"
[ "$(keys parts.jsonl | wc -l)" -eq "$candidates" ] || fail "a candidate was measured twice"
tail -n 1 rest.txt
