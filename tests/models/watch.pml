// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
//
// Wait (platform/onboard/watch.hpp): one thread waits for three streams in turn, each of which may hang; the watcher
// looks now and then, and aborts a stream that it has seen waiting before. The number of a wait is also that of its
// stream. A look is limited only by the state that it finds, since any wait may have lasted too long by then.
//
// Holds: the watcher only aborts a stream whose wait it has marked; a wait says that its stream was aborted exactly if
// the watcher marked it, so also if the stream ended by itself meanwhile; a wait for a stream that hangs ends (else this
// model deadlocks).
//
// control: STATE_FIRST      begins() stores the state before the stream
// control: LOOK_STORES      the watcher stores the mark whatever the state has become
// control: ENDS_LOADS       ends() loads the mark, and stores the state afterwards
// control: STREAM_AFTER     the watcher loads the stream once it has marked the wait

#define WAITS 3
#define WAITING 1
#define ABORTED 2

byte stream, state;          // the state: the number of the wait, times 4, and the two bits
bool hangs[WAITS + 1], marked[WAITS + 1], aborted[WAITS + 1];
bool over;

active proctype waiter() {
  byte turn, was;
  do
  :: turn < WAITS ->
    turn++;
    if
    :: hangs[turn] = true
    :: skip
    fi;
#ifdef STATE_FIRST
    state = turn * 4 + WAITING;
    stream = turn;
#else
    // watch.stream: stream_.store(stream, std::memory_order_relaxed);
    stream = turn;
    // watch.begins: state_.store(++turn_ << 2 | waiting, std::memory_order_release);
    state = turn * 4 + WAITING;
#endif
    !hangs[turn] || aborted[turn];
    // watch.ends: const bool was_aborted = (state_.exchange(turn_ << 2, std::memory_order_acq_rel) & aborted) != 0;
#ifdef ENDS_LOADS
    was = state;
    state = turn * 4;
#else
    atomic { was = state; state = turn * 4 };
#endif
    assert(((was & ABORTED) != 0) == marked[turn]);
  :: else -> break
  od;
  over = true
}

active proctype watcher() {
  byte now, seen, which;
  do
  :: over -> break
  :: else ->
    // watch.look: std::uint64_t state = state_.load(std::memory_order_acquire);
    now = state;
    if
    // watch.late: if ((state & (waiting | aborted)) != waiting || now_ms - since_ms_ < limit_ms_) return;
    :: now == seen && (now & 3) == WAITING ->
#ifndef STREAM_AFTER
      // watch.load: Stream const stream = stream_.load(std::memory_order_relaxed);
      which = stream;
#endif
      // watch.mark: if (!state_.compare_exchange_strong(state, state | aborted, std::memory_order_acq_rel)) return;
      if
#ifdef LOOK_STORES
      :: atomic { true -> state = now | ABORTED; marked[now / 4] = true }
#else
      :: atomic { state == now -> state = now | ABORTED; marked[now / 4] = true }
      :: atomic { state != now -> which = 0 }
#endif
      fi;
#ifdef STREAM_AFTER
      if
      :: which == 0 && marked[now / 4] -> which = stream
      :: else
      fi;
#endif
      if
      :: which != 0 ->
        assert(marked[which] && which == now / 4);
        aborted[which] = true
      :: else
      fi
    :: else -> seen = now
    fi
  od
}
