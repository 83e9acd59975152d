// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
//
// The change of a DeviceQueue to rounds that overlap (platform/sim/overlap_switch.hpp and device_queue.hpp): the calling
// thread commits four rounds in two slots and awaits them in order; the device's thread runs them and makes the change,
// or declines it. Tasks' costs are known at any time from the first round on. A round that was launched on the Replay
// counts as over from then on.
//
// Holds: each round is run by the queue or launched on the Replay, once, in the order of the commits; the change is made
// while a round is in flight, and never while the queue runs one; every wait ends.
//
// control: POST_UNLOCKED          a round is posted after the lock is given up
// control: LEAVE_POSTED           the change does not hand over the rounds that were posted
// control: WANT_WITHOUT_COMPARE   want() stores its state whatever the state is
// control: ENDED_BEFORE_CHANGE    the round after which the change is made counts as over before it

#define ROUNDS 4
#define SLOTS 2
#define NEXT(slot) (slot + 1 == SLOTS -> 0 : slot + 1)

mtype = { expected, wanted, started, none };
mtype state = expected;
bool locked, is_running, is_on, stopping, joined, learned;
byte slot_epoch[SLOTS], result_epoch[SLOTS], replayed[SLOTS];
byte at_epoch = 1, at_slot;
byte last;       // the round that was run or launched last
byte delivered;  // rounds

#define IS_READY(epoch, slot) (slot_epoch[slot] == epoch)

inline lock() { atomic { !locked -> locked = true } }

inline launch(s, round) {
  d_step { assert(last == round - 1); last = round; replayed[s] = round }
}

inline adopt() {
  // switch.turn_on: void turn_on() noexcept { is_on_ = true; }
  is_on = true;
  stopping = true;
  joined
}

active proctype caller() {
  byte committed, next, oldest;
  do
  :: committed < ROUNDS && committed - delivered < SLOTS ->
    committed++;
    if
      // switch.launch: if (overlap_.is_on()) { overlap_.launch(slot);
    :: is_on -> launch(next, committed)
      // switch.due: if (overlap_.is_due()) [[unlikely]] return commit_with_overlap_due(slot);
    :: !is_on && (state == wanted || state == started || (state == expected && learned)) ->
      // switch.lock: const std::lock_guard lock(change_); overlap_.want();
      lock();
      // switch.want: (void)state_.compare_exchange_strong(expected, State::wanted, std::memory_order_release, std::memory_order_relaxed);
#ifdef WANT_WITHOUT_COMPARE
      state = wanted;
#else
      state = (state == expected -> wanted : state);
#endif
      // switch.post: if (!overlap_.has_started()) { post(slot);
      if
      :: state != started ->
#ifdef POST_UNLOCKED
        locked = false;
        slot_epoch[next] = committed
#else
        slot_epoch[next] = committed;
        locked = false
#endif
      :: else -> locked = false;
        adopt();
        // switch.launch_late: adopt_overlap(); overlap_.launch(slot);
        launch(next, committed)
      fi
    :: else -> slot_epoch[next] = committed
    fi;
    next = NEXT(next)
  :: delivered < committed ->
    do
      // switch.adopt: if (overlap_.has_started()) adopt_overlap();
    :: !is_on && state == started -> adopt()
    :: is_on && last > delivered -> break
    :: !is_on && state != started && result_epoch[oldest] == slot_epoch[oldest] -> break
    od;
    atomic { assert(last > delivered); delivered++; oldest = NEXT(oldest) }
  :: committed == ROUNDS && delivered == ROUNDS -> break
  od;
  stopping = true;
  joined;
  assert(last == ROUNDS)
}

active proctype device() {
  byte epoch, slot, done;
  bool handed;
  do
  :: IS_READY(at_epoch, at_slot) && !is_running ->
    d_step { is_running = true; epoch = at_epoch; slot = at_slot }
    do
    :: IS_READY(epoch, slot) ->
      d_step { assert(last == epoch - 1 && !handed); last = epoch; learned = true; done = slot; epoch++; slot = NEXT(slot) }
#ifdef ENDED_BEFORE_CHANGE
      result_epoch[done] = epoch - 1;
#endif
      // switch.wanted: if (overlap_.is_wanted() && status.ok()) [[unlikely]] is_handed_over = start_overlap(at);
      if
      :: state == wanted ->
        // switch.lock_change: const std::lock_guard lock(change_); if (!overlap_.start(platform_.engine_)) return false;
        lock();
        assert(delivered < epoch - 1);
        if
          // switch.decline: state_.store(State::none, std::memory_order_release);
        :: state = none
        :: handed = true;
          // switch.hand_over: for (; is_ready(next); next = after(next)) overlap_.launch(next.slot);
          do
#ifndef LEAVE_POSTED
          :: IS_READY(epoch, slot) -> launch(slot, epoch); epoch++; slot = NEXT(slot)
#endif
          :: else -> break
          od;
          // switch.started: void note_started() noexcept { state_.store(State::started, std::memory_order_release); }
          state = started
        fi;
        locked = false
      :: else
      fi;
#ifndef ENDED_BEFORE_CHANGE
      // switch.ended: result.epoch.store(epoch, std::memory_order_release);
      result_epoch[done] = slot_epoch[done];
#endif
      atomic { at_epoch = epoch; at_slot = slot }
      // switch.leave: if (is_handed_over) return true;
      if
      :: handed -> goto idle
      :: else
      fi
    :: else -> break
    od;
    is_running = false
  :: stopping && !(IS_READY(at_epoch, at_slot) && !is_running) -> break
  od;
idle:
  stopping;
  joined = true
}
