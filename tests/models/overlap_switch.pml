// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
//
// The change of a DeviceQueue to rounds that overlap (platform/sim/overlap_switch.hpp and device_queue.hpp): the calling
// thread commits four rounds in two slots and awaits them in order; it makes the change, or declines it, once the tasks'
// costs are known, which may be at any time from the first round on. The device's thread runs the rounds committed
// before the change. The Replay stands for one thread that runs the rounds launched on it.
//
// Holds: each round runs once, on the queue or on the Replay, in the order of the commits; the programs change to the
// Replay while none of their rounds is under way; every wait ends.
//
// control: START_WITHOUT_STOP  the device's thread is not told to end
// control: LEAVE_WITHOUT_LOOK  the device's thread ends without a last look for rounds
// control: START_OPEN          the first round on the Replay waits for nothing

#define ROUNDS 4
#define SLOTS 2
#define NEXT(slot) (slot + 1 == SLOTS -> 0 : slot + 1)

bool is_expected = true, is_on, stopping, is_open, learned, ended;
byte slot_epoch[SLOTS], result_epoch[SLOTS];
bool on_replay[SLOTS];
byte at_epoch = 1, at_slot;
byte first;     // the first round launched on the Replay
byte launched;  // the last round launched on the Replay
byte last;      // the last round that was run

active proctype caller() {
  byte committed, delivered, next, oldest;
  do
  :: committed < ROUNDS && committed - delivered < SLOTS ->
    committed++;
    // switch.start: if (!overlap_.start(platform_.engine_)) return false;
    if
    :: is_expected && learned -> d_step { is_expected = false; is_on = true; first = committed }
#ifndef START_WITHOUT_STOP
      // switch.stop: stopping_.store(true, std::memory_order_seq_cst);
      stopping = true
#endif
    :: is_expected && learned -> is_expected = false
    :: else
    fi;
    if
      // switch.launch: if (overlap_.is_on() || (overlap_.is_due() && start_overlap())) { overlap_.launch(slot);
    :: is_on -> d_step { on_replay[next] = true; launched = committed }
    :: else -> slot_epoch[next] = committed
    fi;
    next = NEXT(next)
  :: delivered < committed ->
    if
    :: on_replay[oldest] -> last > delivered
    :: else -> result_epoch[oldest] == slot_epoch[oldest]
    fi;
    assert(last > delivered);
    d_step { delivered++; oldest = NEXT(oldest) }
  :: committed == ROUNDS && delivered == ROUNDS -> break
  od;
  stopping = true;
  ended
}

active proctype device() {
  do
  :: slot_epoch[at_slot] == at_epoch ->
    d_step { assert(last == at_epoch - 1); last = at_epoch; learned = true }
    d_step { result_epoch[at_slot] = at_epoch; at_epoch++; at_slot = NEXT(at_slot) }
#ifdef LEAVE_WITHOUT_LOOK
  :: stopping -> break
#else
  :: stopping && slot_epoch[at_slot] != at_epoch -> break
#endif
  od;
  // switch.open: if constexpr (can_overlap) overlap_.open();
  assert(!is_on || last >= first - 1);
  // switch.opened: void open() noexcept { rounds_[0].finished.store(0, std::memory_order_release); }
  is_open = is_on;
  ended = true
}

active proctype replay() {
end:
  do
#ifdef START_OPEN
  :: is_on && last < launched -> d_step { assert(last >= first - 1); last++ }
#else
  :: is_open && last < launched -> d_step { assert(last >= first - 1); last++ }
#endif
  od
}
