#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# steps_control.sh <folder of models> <folder of headers>: check_steps.py must find each of these changes to the headers.
set -euo pipefail
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
must_find() {  # <models> <headers> <header> <sed expression> <text in the output>
  rm -rf "$folder/rondo"
  cp -r "$2" "$folder/rondo"
  sed -i "$4" "$folder/rondo/$3"
  if cmp -s "$folder/rondo/$3" "$2/$3"; then
    echo "The expression changes nothing: $4"
    exit 1
  fi
  if output=$(python3 "$here/check_steps.py" "$1" "$folder/rondo") || ! grep -q "$5" <<<"$output"; then
    printf 'Not found: %s\n%s\n' "$4" "$output"
    exit 1
  fi
}
must_find "$1" "$2" platform/sim/worker_team.hpp '/model: team.start/s/seq_cst/release/' 'team.start: worker_team.pml quotes'
must_find "$1" "$2" platform/sim/halt.hpp 's,  // model: halt.request$,,' 'no header has the step halt.request'
must_find "$1" "$2" platform/sim/signal.hpp 's/model: signal.count/model: signal.unknown/' 'no model has the step signal.unknown'
must_find "$1" "$2" platform/sim/replay.hpp '/std::uint32_t before = epoch - 1;/,/compare_exchange/s/relaxed/release/' 'replay.claim'
echo "All changes were found"
