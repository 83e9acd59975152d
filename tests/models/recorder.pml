// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
//
// Recorder and SpanRing (observe/recorder.hpp, span_ring.hpp): two threads find their rings in two lanes and keep three
// spans each in rings of two; the launching thread reads them after the round. A span is written in two halves.
//
// Holds: each thread has a ring of its own; what is read is whole and in order, the last spans of the thread; the others
// are counted as dropped.
//
// control: OWNER_WITHOUT_COMPARE  a thread looks whether a ring has an owner, then takes it
// control: READ_DURING_ROUND      the rings are read while a round is under way

#define THREADS 2
#define LANES 2
#define SPANS 3
#define CAPACITY 2
#define NONE 255

byte owner[LANES] = NONE;
byte first_half[4], second_half[4];  // of lane l and place p: l * CAPACITY + p
byte written[LANES];
byte over, users[LANES];

proctype thread(byte me) {
  byte lane, n, place;
  bool mine;
  do
  :: lane < LANES && !mine ->
    // recorder.own: if (lane.owner.compare_exchange_strong(owner, me, std::memory_order_relaxed) || owner == me) return &lane;
#ifdef OWNER_WITHOUT_COMPARE
    if
    :: owner[lane] == NONE -> owner[lane] = me; mine = true
    :: else -> lane++
    fi
#else
    atomic {
      if
      :: owner[lane] == NONE -> owner[lane] = me; mine = true
      :: else -> lane++
      fi
    }
#endif
  :: else -> break
  od;
  assert(mine);
  users[lane]++;
  do
  :: n < SPANS ->
    n++;
    // ring.add: void add(const Span& span) noexcept { spans_[written_++ & mask_] = span; }
    place = lane * CAPACITY + (written[lane] & 1);
    first_half[place] = 10 * me + n;
    second_half[place] = 10 * me + n;
    written[lane]++
  :: else -> break
  od;
  over++
}

active proctype reader() {
  byte lane, size, dropped, i, place, span;
#ifdef READ_DURING_ROUND
  do
  :: lane < LANES ->
    size = (written[lane] < CAPACITY -> written[lane] : CAPACITY);
    dropped = written[lane] - size;
#else
  over == THREADS;
  do
  :: lane < LANES ->
    assert(users[lane] == 1 && written[lane] == SPANS);
    // ring.size: return written_ < spans_.size() ? static_cast<std::size_t>(written_) : spans_.size();
    size = (written[lane] < CAPACITY -> written[lane] : CAPACITY);
    // ring.dropped: [[nodiscard]] std::uint64_t dropped() const noexcept { return written_ - size(); }
    dropped = written[lane] - size;
    assert(dropped == SPANS - CAPACITY);
#endif
    i = 0;
    do
    :: i < size ->
      // ring.at: [[nodiscard]] const Span& operator[](std::size_t i) const noexcept { return spans_[(dropped() + i) & mask_]; }
      place = lane * CAPACITY + ((dropped + i) & 1);
      span = first_half[place];
      assert(span == second_half[place] && span == 10 * owner[lane] + dropped + i + 1);
      i++
    :: else -> break
    od;
    lane++
  :: else -> break
  od
}

init { atomic { run thread(1); run thread(2) } }
