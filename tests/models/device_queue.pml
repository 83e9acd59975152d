// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
//
// DeviceQueue (platform/sim/device_queue.hpp), on an engine whose rounds do not overlap: the calling thread submits three
// rounds in two slots, cancels, polls, awaits, delivers and closes in any order; the device's thread runs rounds. The
// calling thread's store of a slot's epoch waits in its store buffer until a fence, a read-modify-write or a seq_cst
// store, or for as long as it likes. A Signal is taken as signal.pml proves it.
//
// Holds: each committed round runs once, in order, with what was committed; a round is delivered with its own result,
// in order, and after a failed one as poisoned; once a call has asked for a round it ends without any further call;
// close() may come at any time, and returns when all committed rounds have run.
//
// control: POST_WITHOUT_ORDER    the slot's epoch is stored before the rest of the slot (no memory_order_release)
// control: RESULT_WITHOUT_ORDER  the result's epoch is stored before the rest of the result
// control: ASK_WITHOUT_FENCE     a call that asks for a round does not order its look at the sleeper after the post
// control: SLEEP_WITHOUT_LOOK    the device's thread does not look again once it counts as asleep
// control: RUN_WITHOUT_EXCHANGE  whether another thread runs rounds is loaded, then stored
// control: STOP_AFTER_WAKE       close() wakes the device's thread before it tells it to end
// control: LEAVE_WITHOUT_LOOK    the device's thread ends without a last look for rounds
// control: LEAVE_BEFORE_MARK      the device's thread looks whether it is to end before it counts as asleep

#define ROUNDS 3
#define SLOTS 2
#define OK 1
#define FAILED 2
#define POISONED 3

byte slot_epoch[SLOTS];    // as others see it
byte mine[SLOTS];          // as the calling thread sees it
byte slot_content[SLOTS];  // what stands for the program: the round that it is meant for
byte result_epoch[SLOTS], result_status[SLOTS], result_round[SLOTS];
byte at_epoch = 1, at_slot;  // position_
bool is_running, broken;
byte asleep;
bool sleeps, stopping;  // sleeps: in Signal::wait
bool buffered;
byte buffer_slot, buffer_epoch;
byte last_run, failed_at;
bool joined;
#define CALLER 1  // its process

#define IS_READY(epoch, slot) (slot_epoch[slot] == epoch)
#define NEXT(slot) (slot + 1 == SLOTS -> 0 : slot + 1)

active proctype store_buffer() {
end:
  do
  :: d_step { buffered -> slot_epoch[buffer_slot] = buffer_epoch; buffered = false }
  od
}

// Runs ready rounds until slot `enough` has ended; SLOTS: as long as there are any.
inline run_ready(enough) {
  // queue.take_turn: if (is_running_.exchange(true, std::memory_order_acquire)) return false;
#ifdef RUN_WITHOUT_EXCHANGE
  got = !is_running;
  is_running = true;
#else
  atomic { (_pid != CALLER || !buffered) -> got = !is_running; is_running = true }
#endif
  if
  :: got ->
    // queue.begin: const Position begin = position_.load(std::memory_order_relaxed);
    d_step { epoch = at_epoch; slot = at_slot }
    do
      // queue.go_on: while (!is_enough() && is_ready(at)) {
    :: (enough == SLOTS || result_epoch[enough] != mine[enough]) && IS_READY(epoch, slot) ->
      d_step {
        assert(slot_content[slot] == epoch && last_run == epoch - 1);
        last_run = epoch
      }
      if
      :: broken -> status = POISONED
      :: !broken -> status = OK
      :: !broken -> status = FAILED; failed_at = epoch
      fi;
      // queue.break: if (!status) [[unlikely]] broken_ = Status{Errc::poisoned}.poisoning();
      broken = (status != OK);
#ifdef RESULT_WITHOUT_ORDER
      result_epoch[slot] = epoch;
      d_step { result_status[slot] = status; result_round[slot] = epoch }
#else
      // queue.result: result.status = status;
      d_step { result_status[slot] = status; result_round[slot] = epoch }
      // queue.ended: result.epoch.store(epoch, std::memory_order_release);
      result_epoch[slot] = epoch;
#endif
      // queue.advance: position_.store(at, std::memory_order_release);
      d_step { epoch++; slot = NEXT(slot); at_epoch = epoch; at_slot = slot; status = 0 }
    :: else -> break
    od;
    // queue.give_turn: is_running_.store(false, std::memory_order_release);
    is_running = false;
    d_step { epoch = 0; slot = 0 }
  :: else
  fi;
  got = false
}

inline wake() {
  // queue.unmark: asleep_.store(0, std::memory_order_seq_cst);
  atomic { !buffered -> asleep = 0 }
  // queue.notify: asleep_.notify_one();
  sleeps = false
}

inline wake_if_asleep() {
#ifndef ASK_WITHOUT_FENCE
  // queue.ask_fence: fence();
  !buffered;
#endif
  // queue.ask: if (asleep_.load(std::memory_order_relaxed) != 0) wake();
  if
  :: asleep != 0 -> wake()
  :: else
  fi
}

inline deliver() {
  // queue.outcome: return results_[slot].status;
  d_step {
    delivered++;
    assert(result_round[oldest] == delivered);
    assert(result_status[oldest] == (failed_at == 0 || delivered < failed_at -> OK : (delivered == failed_at -> FAILED : POISONED)));
    oldest = NEXT(oldest)
  }
}

active proctype caller() {
  byte submitted, delivered, next, oldest, cancels, epoch, slot, status;
  bool got, helps;
  assert(_pid == CALLER);
  do
  :: submitted < ROUNDS && submitted - delivered < SLOTS ->
    assert(result_epoch[next] == mine[next]);
#ifndef POST_WITHOUT_ORDER
    // queue.fill: slots_[slot].program = &program;
    slot_content[next] = submitted + 1;
#endif
    if
    :: cancels == 0 ->
      // queue.cancel: slots_[slot].run = nullptr;
      d_step { slot_content[next] = 0; cancels++ }
    :: true ->
      // queue.post: slots_[slot].epoch.store(++committed_, std::memory_order_release);
      !buffered;
      d_step { submitted++; mine[next] = submitted; buffered = true; buffer_slot = next; buffer_epoch = submitted }
#ifdef POST_WITHOUT_ORDER
      slot_content[next] = submitted;
#endif
      next = NEXT(next);
      // queue.post_wake: if (asleep_.load(std::memory_order_relaxed)) [[unlikely]] wake();
      if
      :: asleep != 0 -> wake()
      :: else
      fi
    fi
  :: delivered < submitted ->  // is_done()
    // queue.has_ended: return results_[slot].epoch.load(std::memory_order_acquire) == slots_[slot].epoch.load(std::memory_order_relaxed);
    if
    :: result_epoch[oldest] == mine[oldest] -> deliver()
    :: else -> wake_if_asleep();
      if
      :: helps = true  // the caller asks nothing until the round has ended
      :: helps = false
      fi;
      !helps || result_epoch[oldest] == mine[oldest]
    fi
  :: delivered < submitted ->  // await()
    if
    :: result_epoch[oldest] == mine[oldest]
    :: else ->
      wake_if_asleep();
      if
      :: helps = true
      :: helps = false
      fi;
      do
      :: result_epoch[oldest] == mine[oldest] -> break
        // queue.help: if (backoff.out_of_patience(spins) && run_ready([&] { return has_ended(slot); })) continue;
      :: helps && result_epoch[oldest] != mine[oldest] && IS_READY(at_epoch, at_slot) -> run_ready(oldest)
      od
    fi;
    deliver()
  :: break
  od;
  // queue.stop: stopping_.store(true, std::memory_order_seq_cst);
#ifndef STOP_AFTER_WAKE
  atomic { !buffered -> stopping = true }
#endif
  wake();
#ifdef STOP_AFTER_WAKE
  atomic { !buffered -> stopping = true }
#endif
  // queue.join: thread_.join();
  joined;
  assert(last_run == submitted)
}

active proctype device() {
  byte epoch, slot, status;
  bool got;
  do
  ::
    // queue.spin: if (is_ready()) return true;
    if  // polls; how often is not modelled
    :: IS_READY(at_epoch, at_slot) -> goto ready
    :: skip
    fi;
    do
    ::
#ifdef LEAVE_BEFORE_MARK
      if
      :: stopping -> goto ended
      :: else
      fi;
#endif
#ifdef SLEEP_WITHOUT_LOOK
      got = IS_READY(at_epoch, at_slot);
      asleep = 1;
#else
      // queue.mark: asleep_.store(1, std::memory_order_seq_cst);
      asleep = 1;
      // queue.mark_fence: fence();
      // queue.last_look: if (is_ready()) {
      got = IS_READY(at_epoch, at_slot);
#endif
      if
      :: got ->
        // queue.awake: asleep_.store(0, std::memory_order_relaxed);
        d_step { got = false; asleep = 0 }
        break
      :: else
      fi;
#ifndef LEAVE_BEFORE_MARK
      // queue.leave: if (stopping_.load(std::memory_order_seq_cst)) return is_ready();
      if
#ifdef LEAVE_WITHOUT_LOOK
      :: stopping -> goto ended
#else
      :: stopping ->
        if
        :: IS_READY(at_epoch, at_slot) -> goto ready
        :: else -> goto ended
        fi
#endif
      :: else
      fi;
#endif
      // queue.sleep: asleep_.wait(1, std::memory_order_seq_cst);
      d_step { sleeps = (asleep == 1) }
      !sleeps
    od;
ready:
    run_ready(SLOTS)
  od;
ended:
  joined = true
}
