#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# check_digits_mpi.sh <program> <mpiexec> <flag for the number of ranks>
#
# Trains on 1, 2 and 4 ranks and holds the loss of each round against that of one rank: equal to 1e-6 of it. And refuses a
# batch that the ranks cannot share, on all of them.
set -euo pipefail
export LC_ALL=C
program=$1 mpiexec=$2 flag=$3
rounds=300

fail() { echo "failed: $*"; exit 1; }

for ranks in 1 2 4; do
  rm -f "losses$ranks.txt"
  "$mpiexec" "$flag" $ranks "$program" --rounds $rounds --losses "losses$ranks.txt" || fail "the run on $ranks ranks"
  paste losses1.txt "losses$ranks.txt" | awk -v ranks=$ranks -v rounds=$rounds '
    NF != 2 { print "line " NR " holds " NF " losses"; bad = 1; exit 1 }
    { d = ($1 - $2) / $1; if (d < 0) d = -d; if (!(d <= most)) most = d }
    END {
      if (bad) exit 1
      printf "%d ranks: %d losses differ by %.2g of their value at most\n", ranks, NR, most
      exit !(NR == rounds && most <= 1e-6)
    }' || fail "the losses on $ranks ranks are not those on one"
done
# It learned: the last ten rounds are far better than the first.
awk 'NR == 1 { first = $1 } { last[NR % 10] = $1 } END { for (i in last) sum += last[i]; exit !(sum / 10 < first / 4) }' \
  losses1.txt || fail "the loss does not fall"
if "$mpiexec" "$flag" 2 "$program" --batch 31 >wrong.txt 2>&1; then fail "a batch of 31 on 2 ranks is accepted"; fi
grep -q "must be a multiple of the 2 ranks" wrong.txt || { cat wrong.txt; fail "it does not say what is wrong"; }
