// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
//
// Halt (platform/sim/halt.hpp), where rounds overlap: one thread runs the two tasks of round 1, another those of round
// 2, a third one requests a stop; any task may throw. The code under the mutex is one step, except for the exchange.
//
// Holds, once both rounds are over: a round is ok if all its tasks ran and no round before it failed or was stopped; the
// first that is not ok says why, kernel_failed or stopped, and the task that it names threw in it; later ones are
// poisoned; without a request round 1 is not touched by what fails in round 2; a request stays known.
//
// control: FIRST_THROW_COUNTS  record() keeps the first kernel that threw, of whatever round
// control: REQUEST_STORES      a request stores its cause whatever the cause is
// control: RECORD_STORES       record() stores its cause whatever a request did meanwhile
// control: LAST_SKIP_COUNTS    skips() keeps the round that it was asked about last
// control: SKIP_ALL            skips() leaves out the tasks of all rounds once a kernel threw

#define TASKS 2
#define KERNEL 1
#define REQUEST 2  // both: 3

byte cause, failed, stopped;
bool has_stopped;
byte left_out[3], threw[3], over;
bool locked, requested;

inline status_of(round, result) {
  // halt.status: const bool after_failed = fails && is_before(failed_, round);
  if
  :: cause == 0 -> result = ok
  :: else ->
    if
    :: ((cause & KERNEL) && failed < round) || (has_stopped && stopped < round) -> result = poisoned
    :: else ->
      if
      :: (cause & KERNEL) && round == failed -> result = kernel_failed
      :: !((cause & KERNEL) && round == failed) && has_stopped && round == stopped -> result = stopped_early
      :: else -> result = ok
      fi
    fi
  fi
}

mtype = { ok, kernel_failed, stopped_early, poisoned };

proctype tasks(byte round) {
  byte t, seen;
  bool skips;
  do
  :: t < TASKS ->
    t++;
    // halt.requested: [[nodiscard]] bool requested() const noexcept { return causes_.load(std::memory_order_relaxed) != 0; }
    skips = (cause != 0);
    if
    :: skips ->
      atomic {
        !locked;
        // halt.skip_failed: if (has(kernel) && !is_before(round, failed_)) return true;
        // halt.skip_requested: if (!has_stopped_ || is_before(round, stopped_)) stopped_ = round;
#ifdef SKIP_ALL
        if
        :: cause & KERNEL -> skips = true
#else
        if
        :: (cause & KERNEL) && round >= failed -> skips = true
#endif
        :: else ->
          if
          :: cause & REQUEST ->
#ifdef LAST_SKIP_COUNTS
            stopped = round;
#else
            stopped = (!has_stopped || round < stopped -> round : stopped);
#endif
            has_stopped = true
          :: else -> skips = false
          fi
        fi
      }
    :: else
    fi;
    if
    :: skips -> left_out[round]++
    :: !skips  // it runs
    :: !skips -> threw[round]++;
      atomic {
        !locked -> locked = true;
        seen = cause;
        // halt.keep_earliest: if (has(kernel) && !is_before(round, failed_)) return;
        if
#ifdef FIRST_THROW_COUNTS
        :: seen & KERNEL -> seen = 255
#else
        :: (seen & KERNEL) && round >= failed -> seen = 255
#endif
        :: else -> failed = round
        fi
      }
      // halt.add_kernel: causes_.fetch_or(kernel, std::memory_order_release);
      atomic {  // a request may come before it
        if
        :: seen == 255
#ifdef RECORD_STORES
        :: else -> cause = seen | KERNEL
#else
        :: else -> cause = cause | KERNEL
#endif
        fi;
        seen = 0;
        locked = false
      }
    fi
  :: else -> break
  od;
  over++
}

active proctype stopper() {
  if
  :: true ->
    // halt.request: void request_stop() noexcept { causes_.fetch_or(request, std::memory_order_relaxed); }
#ifdef REQUEST_STORES
    cause = REQUEST
#else
    atomic { requested = true; cause = cause | REQUEST }
#endif
  :: true
  fi;
  over++
}

active proctype judge() {
  mtype first, second;
  over == 3;
  status_of(1, first);
  status_of(2, second);
  assert((first == ok) == (left_out[1] == 0 && threw[1] == 0));
  assert(first == ok || first == (threw[1] != 0 -> kernel_failed : stopped_early));
  assert(first == ok || second == poisoned);
  assert(first != ok || (second == ok) == (left_out[2] == 0 && threw[2] == 0));
  assert(first != ok || second == ok || second == (threw[2] != 0 -> kernel_failed : stopped_early));
  assert((cause & REQUEST) || !requested);
  assert((cause & REQUEST) || left_out[1] == 0 || threw[1] != 0)
}

init { atomic { run tasks(1); run tasks(2) } }
