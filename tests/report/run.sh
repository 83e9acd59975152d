#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# Runs page_test.mjs; the first run fetches what drives the browser. Its environment: WORK, a folder of the test's own, and
# CHROMIUM. By hand, with pictures for the documentation:
#   WORK=build/report_test CHROMIUM=chromium tests/report/run.sh --screenshots docs/images FILE...
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
mkdir -p "$WORK"
WORK=$(cd "$WORK" && pwd)
CHROMIUM=$(command -v "$CHROMIUM")
export WORK CHROMIUM
if [ "${1:-}" = --screenshots ]; then
  SCREENSHOTS=$(cd "$2" && pwd)
  shift 2
  FILES=$*
  export SCREENSHOTS FILES
fi

if ! cmp -s "$here/package-lock.json" "$WORK/fetched"; then
  cp "$here/package.json" "$here/package-lock.json" "$WORK/"
  (cd "$WORK" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
  cp "$here/package-lock.json" "$WORK/fetched"
fi
exec node --test "$here/page_test.mjs"
