#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# check_bench_rounds.sh <bench_rounds> <its kernels for the stand-in> <the stand-in>: checks what the tool promises, in
# the way in which users call it. Asserts no time.
set -euo pipefail
tool=$1 kernels=$2 stand_in=$(dirname "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "bench_rounds: $*" >&2; exit 1; }
# expect <exit code> <argument>...: what the tool prints is in $work/out
expect() {
  local want=$1 rc=0
  shift
  "$tool" "$@" >"$work/out" 2>&1 || rc=$?
  [ $rc -eq "$want" ] || { cat "$work/out"; fail "exit code $rc, not $want: $*"; }
}
says() { grep -qE -- "$1" "$work/out" || { cat "$work/out"; fail "does not say: $1"; }; }

expect 0 --help
for option in --rounds --compare --show-host --json --list --engine --platform --kernels; do says "$option"; done
expect 0 --list
if "$tool" --list >/dev/full 2>"$work/out"; then fail "succeeds although its output is lost"; fi
says 'standard output: it cannot be written'
expect 105 all saxpy
says '`all` stands alone'
expect 0 --list
says '^saxpy '
says '^digits_step '
says '^replay_diamond5 '
# Each listed case runs on the simulated chips and engines, except those that cannot run on Model.
cases=$("$tool" --list | wc -l)
for where in "a2a3_sim inline" "a5_sim pool"; do
  read -r platform engine <<<"$where"
  "$tool" all --rounds 50 --warm-up 2 --sessions 2 --platform "$platform" --engine "$engine" >"$work/out"
  [ "$(grep -c "on $platform/$engine, 50 rounds" "$work/out")" -eq "$cases" ] || fail "not all cases ran on $where"
done

expect 0 saxpy decode_token --rounds 200 --show-host --json "$work/before.json"
says '^host: .* cores, load '
says '^clock: one reading takes [0-9.]+ ns'
says 'saxpy on a2a3_sim/inline, 200 rounds; a round copies 8192 bytes in, 4096 out, and refreshes 0.00 times'
says 'decode_token on .*; a round copies 0 bytes in, 0 out, and refreshes 1.00 times'
for row in bind refresh 'copy in' launch wait 'copy out' round; do says "^  $row +[0-9.]+ (ns|us|ms) +[0-9.]+ (ns|us|ms)"; done
expect 0 saxpy --rounds 50 --platform a2a3_sim --engine model --show-host
time_of='[0-9.]+ (ns|us|ms)'
says '^  phase .* p99 +device$'
says "^  launch .* -$"
says "^  round +$time_of +$time_of +$time_of +$time_of$"
says "^  predicted for the chip, with copies, launch and completion: $time_of; the host took"

# On a real NPU, which the stand-in replaces here: the same column, by the device's clock, and kernels from files.
for chip in a2a3 a5; do
  RONDO_STAND_IN_CHIP=$chip LD_LIBRARY_PATH=$stand_in expect 0 saxpy digits_step decode_token pipeline shapes overhead_4 \
    --rounds 50 --warm-up 2 --sessions 2 --platform "${chip}_onboard" --kernels "$kernels" --json "$work/chip.json"
  [ "$(grep -c "on ${chip}_onboard, 50 rounds" "$work/out")" -eq 6 ] || fail "not all cases ran on ${chip}_onboard"
  [ "$(grep -cE "^  round +$time_of +$time_of +$time_of +$time_of$" "$work/out")" -eq 6 ] || fail "no device time on $chip"
  python3 -c 'import json, sys; assert all(c["device_ns"] > 0 for c in json.load(open(sys.argv[1]))["cases"])' "$work/chip.json"
done
LD_LIBRARY_PATH=$stand_in expect 1 saxpy --platform a2a3_onboard
says "kernel 'saxpy' was found in none"
LD_LIBRARY_PATH='' RONDO_ACL_LIBRARY='' expect 1 saxpy --platform a2a3_onboard --kernels "$kernels"
says 'no such device: libacl_rt.so not found'
expect 1 orchestrated_aicpu --platform a2a3_onboard
says 'orchestrated_aicpu cannot run with these options'

# In comparison with itself nothing is significant; in comparison with a run that is a hundred times as fast, everything
# is.
python3 - "$work" <<'PYTHON'
import json, sys
work = sys.argv[1]
run = json.load(open(work + "/before.json"))
assert run["format"] == "rondo-rounds" and run["unit"] == "ns" and run["host"]["cores"] >= 1
case = run["cases"][0]
assert case["name"] == "saxpy" and set(case["phases"]) == {"bind", "refresh", "copy in", "launch", "wait", "copy out", "round"}
for phase in case["phases"].values():
    assert phase["median"] <= phase["p99"] and len(phase["batches"]) == 5 and all(len(b) == 10 for b in phase["batches"])
parts = sum(p["trimmed_mean"] for name, p in case["phases"].items() if name != "round")
assert 0.5 * parts < case["phases"]["round"]["trimmed_mean"] < 2 * parts
for case in run["cases"]:
    for phase in case["phases"].values():
        phase["batches"] = [[ns / 100 for ns in batch] for batch in phase["batches"]]
json.dump(run, open(work + "/faster.json", "w"))
PYTHON
expect 0 saxpy --rounds 200 --compare "$work/faster.json"
says '^  round .* slower$'
says '^  refresh +-$'
says 'a fixed piece of work took [0-9.]+ times what it took then'
expect 0 saxpy --rounds 200 --json - --compare "$work/before.json"
python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["cases"][0]["name"] == "saxpy"' "$work/out"
expect 0 matmul --rounds 50 --compare "$work/before.json"
says 'before.json has no matmul on a2a3_sim/inline'

expect 105 saxpy no_such_case
says "there is no case 'no_such_case'; --list names them"
expect 1 saxpy --compare "$work/nowhere.json"
says 'cannot read .*nowhere.json'
echo '{}' >"$work/other.json"
expect 1 saxpy --compare "$work/other.json"
says 'other.json is no file that --json wrote'
expect 1 decode_token --platform null
says 'decode_token cannot run with these options'
