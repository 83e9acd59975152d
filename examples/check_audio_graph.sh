#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# check_audio_graph.sh <audio_graph>
#
# A second of sound: equal to that of a loop of function calls and not silent (which the program checks itself), in a
# .wav file whose header fits its length, with a picture; the last line has its form. Wrong options are refused by name.
set -euo pipefail
export LC_ALL=C
program=$1
fail() { echo "$*"; exit 1; }

rm -f sound.wav times.svg
"$program" --seconds 1 --check --wav sound.wav --chart times.svg >output
grep -qE '^rounds 750 missed [0-9]+ p50 [0-9.]+ µs p99\.9 [0-9.]+ µs max [0-9.]+ µs$' <(tail -n 1 output) ||
  fail "the last line is: $(tail -n 1 output)"
grep -q 'the deadline' output || fail "no deadline among the printed times"

# word <offset> <bytes>: a number of the header.
word() { od -An -j "$1" -N "$2" -t "u$2" sound.wav | tr -d ' '; }
text() { head -c $(($1 + 4)) sound.wav | tail -c 4; }
samples=$((750 * 64 * 2))
[ "$(text 0)$(text 8)$(text 12)$(text 36)" = "RIFFWAVEfmt data" ] || fail "the chunks are not those of a .wav file"
[ "$(word 4 4)" -eq $((36 + 2 * samples)) ] || fail "the file says that it has $(word 4 4) bytes"
[ "$(word 20 2) $(word 22 2) $(word 24 4) $(word 34 2)" = "1 2 48000 16" ] || fail "the format is another one"
[ "$(word 40 4)" -eq $((2 * samples)) ] && [ "$(wc -c <sound.wav)" -eq $((44 + 2 * samples)) ] ||
  fail "the sound has $(($(wc -c <sound.wav) - 44)) bytes"
[ "$(od -An -v -j 44 -t d2 sound.wav | grep -c '[1-9][0-9][0-9][0-9]')" -gt 1000 ] || fail "the sound in the file is silent"
grep -q 'deadline 1.33 ms' times.svg || fail "the picture lacks the deadline"

! "$program" --seconds 0.1 --cores 100000 >output 2>refusal || fail "a core that does not exist was accepted"
grep -q 'options.cores\[0\] is core 100000' refusal || fail "the refusal is: $(cat refusal)"
"$program" --live --seconds 0.05 >output || fail "the live mode failed"
