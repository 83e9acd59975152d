// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
//
// Counters (observe/counters.hpp): the session's thread counts three rounds with a copy each, another takes snapshots.
//
// Holds: no figure goes back from one snapshot to the next, none is ahead of what was counted, and none is lost. Two
// figures of one snapshot may be any number of rounds apart.
//
// control: TWO_WRITERS    two threads count the same figure
// control: IN_TWO_HALVES  a figure is stored in two halves, as without std::atomic
// control: ALL_AT_ONCE    the figures of one snapshot are of the same round

#define ROUNDS 3
#define UNIT 7  // a copy's bytes: more than one half of a figure holds

byte rounds, bytes_low, bytes_high, over;  // bytes in base 4
#define BYTES (4 * bytes_high + bytes_low)

proctype session() {
  byte n, now;
  do
  :: n < ROUNDS ->
    n++;
    // counters.add: n_.store(n_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    now = BYTES;
    now = now + UNIT;
#ifdef IN_TWO_HALVES
    bytes_low = now % 4;
    bytes_high = now / 4;
#else
    d_step { bytes_low = now % 4; bytes_high = now / 4 }
#endif
    rounds++
  :: else -> break
  od;
  over++
}

active proctype reader() {
  byte round, last_round, bytes, last_bytes, snapshots;
  do
  :: snapshots < 3 ->
    // counters.read: operator std::uint64_t() const noexcept { return n_.load(std::memory_order_relaxed); }
    round = rounds;
    bytes = BYTES;
    assert(round >= last_round && bytes >= last_bytes && bytes <= ROUNDS * UNIT && bytes % UNIT == 0);
#ifdef ALL_AT_ONCE
    assert(bytes == UNIT * round || bytes == UNIT * (round + 1));
#endif
    last_round = round;
    last_bytes = bytes;
    snapshots++
  :: else -> break
  od;
#ifdef TWO_WRITERS
  over == 2;
  assert(BYTES == 2 * ROUNDS * UNIT)
#else
  over == 1;
  assert(BYTES == ROUNDS * UNIT && rounds == ROUNDS)
#endif
}

init {
  atomic {
    run session();
#ifdef TWO_WRITERS
    run session()
#endif
  }
}
