#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# check_calibrate.sh <calibrate> <the stand-in>: checks that the file that the tool writes is JSON with the costs of
# this machine. Asserts no time.
set -euo pipefail
tool=$1 stand_in=$(dirname "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$stand_in${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

RONDO_STAND_IN_CHIP=a2a3 "$tool" --platform a2a3_onboard --passes 1 --output "$work/costs.json" >"$work/out"
grep -q '^a2a3_onboard on .* x [0-9]*, Ascend' "$work/out"
grep -q 'only copies are measured' "$work/out"
python3 - "$work/costs.json" <<'PYTHON'
import json, sys

costs = json.load(open(sys.argv[1]))
assert costs.pop("rondo_costs") == 1 and costs.pop("platform") == "a2a3_onboard", costs
assert costs.pop("machine").endswith("Ascend910B4"), costs
assert set(costs) == {"copy", "copied_byte", "host_slot", "device_op", "device_slot", "launched_byte", "launch", "wait"}
assert costs["copy"] > 0 and costs["wait"] > 0 and costs["launch"] == 0, costs
PYTHON
# refused <text> <argument>...
refused() {
  local text=$1
  shift
  if RONDO_STAND_IN_CHIP=a2a3 "$tool" --passes 1 "$@" >"$work/out" 2>&1 || ! grep -q -- "$text" "$work/out"; then
    cat "$work/out" >&2
    echo "calibrate $*: this should say '$text' and fail" >&2
    exit 1
  fi
}
refused 'not an a5 chip' --platform a5_onboard --output "$work/a5.json"
refused 'File does not exist' --platform a2a3_onboard --kernels "$work/none"
refused 'cannot be written there' --platform a2a3_onboard --output "$work/no/where"
refused 'not in' --platform null
refused 'platform is required'
test ! -e "$work/a5.json"
