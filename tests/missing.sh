#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# missing.sh [--optional] <what>: stands for a test that needs <what>, which this machine lacks. Says so and exits with
# 77, which ctest and tools/test count as skipped. Under CI, or with RONDO_REQUIRE_ALL in the environment, it fails,
# unless it is optional.
set -euo pipefail
optional=
[ "$1" != --optional ] || { optional=yes; shift; }
echo "This test needs $1, and that was not found"
[ -n "$optional" ] || [ -z "${CI:-}${RONDO_REQUIRE_ALL:-}" ] || exit 1
exit 77
