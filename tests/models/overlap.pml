// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
//
// Replay (platform/sim/replay.hpp) with two slots, whose rounds overlap: the calling thread launches three rounds, polls
// and awaits them in order; a worker has the second lane; a thread stands by for the first one. Lane 0 has the batches X
// and Y, lane 1 has Z; Y comes after X and Z, and Z after X of the round before. With ALONE the second may have to run
// alone; with AWAIT_ONLY the caller does not poll. Three rounds with polls, 11 million states, are not a test, but were
// found right. Simplified as in replay.pml; a Signal is taken as signal.pml proves it.
//
// Holds: each batch runs once in each round, after all that it needs, itself in the round before among it; a round that
// runs alone overlaps with no other; await() returns, and only when the round has ended; once
// has_slot_ended() was asked for the last round it ends without any further call; the destructor ends.
//
// variant: ROUNDS=2 ALONE
// variant: ROUNDS=3 AWAIT_ONLY
// control: WITHOUT_CARRIED ROUNDS=2  a batch does not wait for those of the round before
// control: RESET_AFTER_FINISHED AWAIT_ONLY  the count of batches is set to 0 after the end of the round is published
// control: LANE_WITHOUT_EXCHANGE ROUNDS=2  whether a thread has the first lane is loaded, then stored
// control: SLEEP_UNWORKED ROUNDS=2  await() sleeps before it had the first lane
// control: ASK_WAKES_NOBODY ROUNDS=2  has_slot_ended() does not wake the thread that stands by
// control: CLOSE_AFTER_WAKE ROUNDS=2  the destructor wakes the thread that stands by before it tells it to end
// control: FINISH_WITHOUT_NOTIFY ROUNDS=2  the end of a round wakes nobody
// control: ALONE_ONCE ALONE AWAIT_ONLY  the round after one that runs alone does not wait for it

#ifndef ROUNDS
#define ROUNDS 3
#endif
#define SLOTS 2
#define BATCHES 3
#define X 0
#define Y 1
#define Z 2
#define BEGIN(lane) (lane == 0 -> X : Z)
#define END(lane) (lane == 0 -> Z : BATCHES)

byte team_epoch, launched;
byte claims[BATCHES], done[BATCHES];
byte began[BATCHES], ended[BATCHES];  // the last round of each batch; for the assertions
byte executed[SLOTS], finished[SLOTS];
bool waits[SLOTS];
bool runs_alone[ROUNDS + 1];          // for the assertions
byte lane_epoch[2], lane_batch[2];
bool lane_order[2] = true;
bool first_lane_taken, caller_waits, closing, closed;
bool is_needed;
bool caller_sleeps, stand_in_sleeps;  // in Signal::wait
byte sleeps_on;                       // the slot of the Signal that the caller sleeps on

#define HAS_ENDED(e) (e <= 0 || finished[(e) & 1] >= e)
#define IS_HELD_UP(e) (waits[(e) & 1] && !HAS_ENDED(e - 1))
#define CLAIMABLE(b, e) (claims[b] == e - 1)
#define ACROSS_DONE(b, e) (b != Y || done[Z] >= e)
#define NEEDS_DONE(b, e) (b != Y || (done[Z] >= e && done[X] >= e))
#ifdef WITHOUT_CARRIED
#define CARRIED_DONE(b, e) (done[b] >= e - 1)
#else
#define CARRIED_DONE(b, e) (done[b] >= e - 1 && (b != Z || done[X] >= e - 1))
#endif
#define READY(b, e) (CLAIMABLE(b, e) && NEEDS_DONE(b, e) && CARRIED_DONE(b, e))
#define HELPFUL(e) (e > 0 && !HAS_ENDED(e) && !IS_HELD_UP(e) && (READY(X, e) || READY(Y, e) || READY(Z, e)))
#define ANY_HELPFUL (HELPFUL((team_epoch - 1)) || HELPFUL(team_epoch))
#define ALL(flags, e) (flags[X] >= e && flags[Y] >= e && flags[Z] >= e)

inline start(b, e) {
  claims[b] = e;
  assert(began[b] == e - 1 && ended[b] == e - 1);
  assert(b != Y || (ended[X] >= e && ended[Z] >= e));
  assert(b != Z || ended[X] >= e - 1);
  assert(!(runs_alone[e] || runs_alone[e - 1]) || ALL(ended, e - 1));
  began[b] = e
}

inline report(e, n) {
  if
  :: n != 0 ->
    executed[(e) & 1] = executed[(e) & 1] + n;
    if
    :: executed[(e) & 1] == BATCHES ->
      assert(ALL(ended, e));
#ifndef RESET_AFTER_FINISHED
      executed[(e) & 1] = 0;
#endif
      finished[(e) & 1] = e;
      ending = true
    :: else
    fi
  :: else
  fi
}
inline notify(e) {
  if
  :: ending ->
#ifdef RESET_AFTER_FINISHED
    executed[(e) & 1] = 0;
#endif
#ifdef FINISH_WITHOUT_NOTIFY
    ending = false
#else
    // overlap.notify: if (overlaps_) r.finished.notify_one();
    atomic { caller_sleeps = (sleeps_on == ((e) & 1) -> false : caller_sleeps); ending = false }
#endif
  :: else
  fi
}

inline wake_stand_in() {
  // overlap.need: is_needed_.store(1, std::memory_order_seq_cst);
  is_needed = 1;
  // overlap.wake: is_needed_.notify_one();
  stand_in_sleeps = false
}

// Runs a ready batch of a round under way, if there is one.
inline help_any() {
  // overlap.help_any: if (!has_ended(e) && !is_held_up(e) && help(worker, e)) return true;
  atomic {
    f = (HELPFUL((team_epoch - 1)) -> team_epoch - 1 : team_epoch);
    if
    :: READY(X, f) -> b = X
    :: READY(Y, f) -> b = Y
    :: READY(Z, f) -> b = Z
    fi;
    start(b, f)
  }
  d_step { ended[b] = f; done[b] = f }
  atomic { report(f, 1) }
  notify(f);
  // overlap.lane_is_free: if (!overlaps_ || first_lane_is_taken_.load(std::memory_order_relaxed)) return;
  // overlap.stray: if (stray_helps_.fetch_add(1, std::memory_order_relaxed) + 1 != 4) return;
  // It may wake the thread at any such time here, whatever the count.
  if
  :: atomic { b != Z && !first_lane_taken -> b = 0; f = 0 }
    wake_stand_in()
  :: atomic { b = 0; f = 0 }
  fi
}

// Own batches of all rounds up to `last`, then what is left of the others'. Leaves when `enough`.
inline work_until(own, to, enough) {
  atomic {
    last = to;
    e = lane_epoch[own];
    at = lane_batch[own];
    in_order = lane_order[own];
    left = false;
    // overlap.oldest: if (static_cast<std::int32_t>(now.epoch - oldest) < 0) now = {oldest, lanes_[own].begin, true};
    if
    :: e < last - 1 || e == 0 -> e = (last > 1 -> last - 1 : 1); at = BEGIN(own); in_order = true
    :: else
    fi
  }
  // overlap.rounds: while (is_over && now.epoch != last + 1) {
  do
  :: atomic { left || e == last + 1 -> break }
    // overlap.leave_held_up: if (is_enough()) return false;
    // overlap.leave: if (is_enough()) return Turn::left;
  :: atomic { !left && e != last + 1 && at < END(own) && (enough) -> left = true }
    atomic { report(e, mine) }
    notify(e);
    mine = 0
  :: atomic { !left && e != last + 1 && at == END(own) -> skip }
    atomic { report(e, mine) }
    notify(e);
    atomic { mine = 0; e++; at = BEGIN(own); in_order = true }
  :: atomic { !left && e != last + 1 && at < END(own) && !IS_HELD_UP(e) && !CLAIMABLE(at, e) -> in_order = false; at++ }
  :: atomic { !left && e != last + 1 && at < END(own) && !IS_HELD_UP(e) && CLAIMABLE(at, e) && CARRIED_DONE(at, e) &&
              (in_order -> ACROSS_DONE(at, e) : NEEDS_DONE(at, e)) -> start(at, e) }
    d_step { ended[at] = e; done[at] = e; mine++; at++ }
  :: atomic { !left && e != last + 1 && at < END(own) && (IS_HELD_UP(e) || CLAIMABLE(at, e)) && ANY_HELPFUL ->
              help_any() }
  od;
  // overlap.position: at = now;
  atomic { lane_epoch[own] = e; lane_batch[own] = at; lane_order[own] = in_order; e = 0; at = 0; in_order = false }
  // overlap.help_on: while (is_over && !is_enough() && help_any(own, last)) {
  do
  :: atomic { !left && !(enough) && ANY_HELPFUL -> help_any() }
  :: atomic { left || (enough) || !ANY_HELPFUL -> last = 0; left = false; break }
  od
}

inline take_first_lane() {
#ifdef LANE_WITHOUT_EXCHANGE
  got = !first_lane_taken;
  first_lane_taken = true
#else
  atomic { got = !first_lane_taken; first_lane_taken = true }
#endif
}

active proctype caller() {
  byte oldest = 1;
  byte e, f, b, at, mine, last;
  bool ending, in_order, left, got, alone, was_alone, has_worked, leaves;
  do
  :: launched < ROUNDS && launched - oldest + 1 < SLOTS ->
    if
    :: alone = false
#ifdef ALONE
    :: launched == 1 -> alone = true
#endif
    fi;
    d_step {  // nobody looks at the round before the epoch
      launched++;
      assert(HAS_ENDED((launched - SLOTS)) && executed[launched & 1] == 0);
      // overlap.waits: next.waits.store(alone || last_was_alone_, std::memory_order_relaxed);
#ifdef ALONE_ONCE
      waits[launched & 1] = alone;
#else
      waits[launched & 1] = alone || was_alone;
#endif
      was_alone = alone;
      runs_alone[launched] = alone;
      alone = false;
      // overlap.launch: team_.start(epoch_);
      team_epoch = launched
    }
#ifndef AWAIT_ONLY
  :: oldest <= launched && (launched == ROUNDS || launched - oldest + 1 == SLOTS) ->  // has_slot_ended()
    // overlap.has_ended: if (has_ended(epochs_[slot])) return true;
    if
    :: HAS_ENDED(oldest) -> oldest++
    :: else ->
      // overlap.ask_for_lane: if (!first_lane_is_taken_.exchange(true, std::memory_order_acquire)) {
      take_first_lane();
      if
      :: got ->
        // overlap.has_work: const bool has_work = positions_[0].epoch != epoch_ + 1;
        got = lane_epoch[0] != launched + 1;
        // overlap.give_lane: first_lane_is_taken_.store(false, std::memory_order_release);
        first_lane_taken = false;
#ifndef ASK_WAKES_NOBODY
        // overlap.ask_wakes: if (has_work) wake_stand_in();
        if
        :: got -> wake_stand_in()
        :: else
        fi;
#endif
        got = false;
        if  // if it is the last round, the caller may ask nothing more until it has ended
        :: oldest == launched -> leaves = true
        :: leaves = false
        fi;
        !leaves || HAS_ENDED(oldest);
        leaves = false
      :: else
      fi
    fi
#endif
  :: oldest <= launched && (launched == ROUNDS || launched - oldest + 1 == SLOTS) ->  // await()
    if
    :: HAS_ENDED(oldest)
    :: else ->
      // overlap.caller_waits: caller_waits_.store(true, std::memory_order_relaxed);
      caller_waits = true;
#ifdef SLEEP_UNWORKED
      has_worked = true;
#endif
      do
      :: HAS_ENDED(oldest) -> break
      :: else ->
        // overlap.take: if (!first_lane_is_taken_.exchange(true, std::memory_order_acquire)) {
        take_first_lane();
        if
        :: got ->
          // overlap.work: work_until(0, epoch_, [&] { return has_ended(epoch); });
          work_until(0, launched, HAS_ENDED(oldest));
          // overlap.release_lane: first_lane_is_taken_.store(false, std::memory_order_release);
          first_lane_taken = false;
          d_step { got = false; has_worked = true }
        :: else
        fi;
        if
          // overlap.sleep: finished.wait(seen);
        :: has_worked && !HAS_ENDED(oldest) ->
          d_step { sleeps_on = oldest & 1; caller_sleeps = !HAS_ENDED(oldest) }
          !caller_sleeps
        :: HAS_ENDED(oldest) || !first_lane_taken
        fi
      od;
      has_worked = false;
      // overlap.waits_no_more: caller_waits_.store(false, std::memory_order_relaxed);
      caller_waits = false
    fi;
    assert(ALL(ended, oldest));
    oldest++
  :: oldest > ROUNDS -> break
  od;
  // overlap.close: is_closing_.store(true, std::memory_order_seq_cst);
#ifndef CLOSE_AFTER_WAKE
  closing = true;
#endif
  wake_stand_in();
#ifdef CLOSE_AFTER_WAKE
  closing = true;
#endif
  // overlap.join: stand_in_.join();
  closed
}

active proctype worker() {
  byte seen, e, f, b, at, mine, count, last;
  bool ending, in_order, left;
  do
  :: seen < ROUNDS ->
    d_step { team_epoch != seen -> seen = team_epoch }
    work_until(1, seen, false)
  :: else -> break
  od
}

active proctype stand_in() {
  byte e, f, b, at, mine, last;
  bool ending, in_order, left, got;
  do
  ::
    // overlap.stand_by: is_needed_.wait(0);
    do
    :: is_needed == 0 -> d_step { stand_in_sleeps = (is_needed == 0) }
      !stand_in_sleeps
    :: is_needed != 0 -> break
    od;
    // overlap.needed: (void)is_needed_.exchange(0, std::memory_order_seq_cst);
    is_needed = 0;
    // overlap.leave_team: if (is_closing_.load(std::memory_order_seq_cst)) return;
    if
    :: closing -> break
    :: else
    fi;
    // overlap.take_lane: if (!caller_waits() && !first_lane_is_taken_.exchange(true, std::memory_order_acquire)) {
    if
    :: !caller_waits -> take_first_lane()
    :: else
    fi;
    if
    :: got ->
      // overlap.stand_in_works: work_until(0, team_.epoch(), caller_waits);
      work_until(0, team_epoch, caller_waits);
      // overlap.leave_lane: first_lane_is_taken_.store(false, std::memory_order_release);
      first_lane_taken = false;
      got = false
    :: else
    fi;
    // overlap.forget: stray_helps_.store(0, std::memory_order_relaxed);
    skip
  od;
  closed = true
}
