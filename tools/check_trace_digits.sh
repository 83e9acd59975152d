#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# check_trace_digits.sh <trace_digits>: the trace is whole. Spans nest on each track, times go forward, flows have both ends.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" "$work/trace.json" --rounds 100 --memory "$work/memory.svg" --graph "$work/graph.svg"
grep -q '</svg>' "$work/memory.svg"
grep -q '</svg>' "$work/graph.svg"
python3 - "$work/trace.json" <<'PYTHON'
import collections, json, sys

trace = json.load(open(sys.argv[1]))
assert trace["otherData"]["dropped_spans"] == 0
tracks, flows, labels, last = collections.defaultdict(list), collections.defaultdict(str), set(), {}
for event in trace["traceEvents"]:
    where = (event["pid"], event["tid"])
    if event["ph"] == "M":
        labels.add(event["args"].get("name"))
        continue
    if event["ph"] == "X":
        tracks[where].append((round(1000 * event["ts"]), round(1000 * (event["ts"] + event["dur"]))))
    if event["ph"] in "sf":
        flows[event["id"]] += event["ph"]
for where, spans in tracks.items():
    open_until, before = [], -1
    for start, end in spans:
        assert start >= before, f"time goes back on {where}"
        before = start
        while open_until and open_until[-1] <= start:
            open_until.pop()
        assert not open_until or end <= open_until[-1], f"spans overlap on {where}"
        open_until.append(end)
assert flows and all(sorted(ends) == ["f", "s"] for ends in flows.values())
rounds = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["name"].startswith("round ")]
assert len(rounds) == 101, len(rounds)
assert any(label and label.startswith("vector core") for label in labels), labels
assert any(e["ph"] == "C" and e["name"] == "arena in use" for e in trace["traceEvents"])
PYTHON
