// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
//
// Conductor (platform/sim/dynamic/conductor.hpp): the calling thread has three rounds orchestrated, each by itself or on
// the other thread, and then stops that thread. Waiting for a number to change is one step; signal.pml has its steps.
//
// Holds: each round is orchestrated once, and its caller gets the status of that round; the other thread orchestrates
// nothing after the last round, and ends (else this model deadlocks).
//
// control: FINISH_FIRST   the other thread says that the round has finished before it orchestrates it
// control: WAIT_FOR_NEXT  wait() returns if the number of finished rounds is not that of the next one
// control: STOP_LATE      stop() requests the last look of the other thread before it says that it is the last
// control: IDLE_REQUEST   run_in_background() requests a round although none is posted

#define ROUNDS 3

byte request, finished, status, ran[ROUNDS + 1], posted, asked;
bool stopping, background, ended;

inline orchestrate() {
  ran[posted]++;
  status = posted
}

active proctype caller() {
  byte n;
  do
  :: n < ROUNDS ->
    n++;
    posted = n;
    background = false;
    if
    :: skip
    :: background = true;
      asked++;
      // conductor.request: request_.store(++asked_, std::memory_order_release);
      request = asked
    fi;
    if
    :: !background -> orchestrate()
#ifdef WAIT_FOR_NEXT
    :: background -> finished != asked
#else
    // conductor.wait: finished_.wait(asked_ - 1, std::memory_order_acquire);
    :: background -> finished != asked - 1
#endif
    fi;
    assert(status == n && ran[n] == 1);
#ifdef IDLE_REQUEST
    asked++;
    request = asked
#endif
  :: else -> break
  od;
  asked++;
#ifdef STOP_LATE
  request = asked;
  stopping = true;
#else
  // conductor.stop: stopping_.store(true, std::memory_order_relaxed);
  stopping = true;
  // conductor.request
  request = asked;
#endif
  ended;
  assert(ran[1] == 1 && ran[2] == 1 && ran[3] == 1)
}

active proctype worker() {
  byte done;
  do
  :: true ->
    // conductor.next: request_.wait(done, std::memory_order_acquire);
    request != done;
    if
    // conductor.last: if (stopping_.load(std::memory_order_relaxed)) return;
    :: stopping -> break
    :: !stopping
    fi;
    done++;
#ifdef FINISH_FIRST
    finished = done;
    orchestrate()
#else
    orchestrate();
    // conductor.finish: finished_.store(done + 1, std::memory_order_release);
    finished = done
#endif
  od;
  ended = true
}
