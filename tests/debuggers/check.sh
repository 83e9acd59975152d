#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# check.sh <gdb|lldb> <debugger> <folder of the scripts> <program>
#
# Stops the program shown twice and compares what the debugger shows of its variables.
set -euo pipefail
kind=$1 debugger=$2 scripts=$3 program=$4
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
unset DEBUGINFOD_URLS

first=(pointer null span size good unbound x y graph session overlapping shaped)
second=(thrown session)
if [ "$kind" = gdb ]; then
  commands=(-ex 'set confirm off' -ex 'set width 0' -ex "source $scripts/rondo_gdb.py" -ex 'break show' -ex run -ex finish)
  for name in "${first[@]}"; do commands+=(-ex "print $name"); done
  commands+=(-ex continue -ex finish)
  for name in "${second[@]}"; do commands+=(-ex "print $name"); done
  "$debugger" -nx -batch "${commands[@]}" "$program" >"$printed" 2>&1
else
  # A container may forbid to turn the randomisation of addresses off.
  commands=(-o 'settings set target.disable-aslr false' -o "command script import $scripts/rondo_lldb.py" -o 'breakpoint set --name show' -o run -o finish)
  for name in "${first[@]}"; do commands+=(-o "frame variable $name"); done
  commands+=(-o continue -o finish)
  for name in "${second[@]}"; do commands+=(-o "frame variable $name"); done
  # Debian 12's lldb does not find its own modules for Python.
  PYTHONPATH=$(ls -d /usr/lib/llvm-*/lib/python3.*/dist-packages 2>/dev/null | head -n 1) "$debugger" --no-lldbinit --batch "${commands[@]}" "$program" >"$printed" 2>&1
fi

bad=0
separator=' ='
[ "$kind" = gdb ] || separator=:
expect() { grep -qF -- "$1" "$printed" || { echo "not shown: $1"; bad=1; }; }
for text in 'device 0x1040' 'device null' 'device 0x1040, 16 elements' '4096 B' '= ok' 'unbound_tensor, tensor 1' \
  'in float, tensor 0 of graph ' 'out float, tensor 1 of graph ' ': 2 tensors, 1 task' \
  "'x' in float32 [4, 2], 32 B" "'twice' vector, 1 block, " 'open after 1 round' \
  'open after 2 submitted rounds, 2 of 3 in flight' 'the oldest round is in slot 0, the next goes to slot 2' \
  'open after 1 submitted round, 0 of 1 in flight' \
  'kernel_failed, task 0, poisons the session' 'poisoned after 1 round' "poisoned by$separator task 0 'twice': "; do
  expect "$text"
done
[ "$bad" -eq 0 ] || cat "$printed"
exit "$bad"
