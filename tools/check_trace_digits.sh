#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# check_trace_digits.sh <trace_digits>: checks that the trace is complete: spans nest on each track, times increase, and
# flows have both ends.
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
tracks, flows, labels, last = collections.Counter(), collections.defaultdict(str), set(), {}
for event in trace["traceEvents"]:
    where = (event["pid"], event["tid"])
    if event["ph"] == "M":
        labels.add(event["args"].get("name"))
        continue
    assert event["ts"] >= last.get(where, 0) or event["ph"] == "C", f"time goes back on {where}"
    last[where] = event["ts"]
    if event["ph"] == "B":
        tracks[where] += 1
    if event["ph"] == "E":
        tracks[where] -= 1
        assert tracks[where] >= 0, f"an end without a beginning on {where}"
    if event["ph"] in "sf":
        assert tracks[where] > 0, f"a flow outside of any span on {where}"
        flows[event["id"]] += event["ph"]
assert tracks and not any(tracks.values()), "a span without an end"
assert flows and all(sorted(ends) == ["f", "s"] for ends in flows.values())
rounds = [e for e in trace["traceEvents"] if e["ph"] == "B" and e["name"].startswith("round ")]
assert len(rounds) == 101, len(rounds)
assert any(label and label.startswith("vector core") for label in labels), labels
assert any(e["ph"] == "C" and e["name"] == "arena in use" for e in trace["traceEvents"])
PYTHON
