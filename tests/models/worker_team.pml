// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
//
// WorkerTeam (platform/sim/worker_team.hpp): the calling thread starts three epochs and ends the team, two threads work.
// It may start an epoch before the threads have seen the one before. A Signal is taken as signal.pml proves it.
//
// Holds: no thread sleeps through an epoch that differs from the one it saw (else the caller waits for ever), each works
// at most once for an epoch, and the destructor ends whatever the threads do, also while they are kept awake.
//
// control: RELEASED_START      start() stores the epoch with memory_order_release: its load may come first
// control: NO_LAST_LOOK        a thread sleeps without a last look at the epoch
// control: COUNT_AFTER_LOOK    a thread counts as asleep only after its last look, and sleeps whatever the epoch
// control: STOP_AFTER_EPOCH    the epoch of the end is stored before the threads are told to end
// control: STOP_WITHOUT_NOTIFY the destructor does not wake the threads
// control: STOP_AT_AN_EPOCH    the destructor's epoch is the one that the threads are at

#define WORKERS 2
#define EPOCHS 3
#define ENDING 128

byte epoch, asleep;
bool keep_awake, stopping;
bool sleeps[WORKERS];  // in Signal::wait
byte seen[WORKERS];
byte worked[WORKERS];
bool buffered;  // RELEASED_START: the store of `buffer` is under way
byte buffer;
byte ended;

#define ALL_SAW(e) (seen[0] >= e && seen[1] >= e)

inline notify_all() { atomic { !buffered -> sleeps[0] = false; sleeps[1] = false } }

#ifdef RELEASED_START
active proctype store_buffer() {
end:
  do
  :: atomic { buffered -> epoch = buffer; buffered = false }
  od
}
#endif

active proctype caller() {
  byte e;
  bool waits;
  do
  :: e < EPOCHS ->
    e++;
    if
    :: e == 2 ->
      // the threads are kept awake from now on
      if
      :: keep_awake = true
      :: skip
      fi
    :: else
    fi;
    // team.start: epoch_.store(epoch, std::memory_order_seq_cst);
#ifdef RELEASED_START
    !buffered;
    atomic { buffer = e; buffered = true }
#else
    epoch = e;
#endif
    // team.wake: if (asleep_.load(std::memory_order_seq_cst) != 0) [[unlikely]] epoch_.notify_all();
    if
    :: asleep != 0 -> notify_all()
    :: else
    fi;
    if
    :: waits = true
    :: waits = false
    fi;
    !waits || ALL_SAW(e)
  :: else -> break
  od;
#ifndef STOP_AFTER_EPOCH
  // team.stop: stopping_.store(true, std::memory_order_relaxed);
  stopping = true;
#endif
  // team.end_epoch: epoch_.fetch_add(0x8000'0000U, std::memory_order_seq_cst);
#ifdef STOP_AT_AN_EPOCH
  skip;
#else
  atomic { !buffered -> epoch = epoch + ENDING }
#endif
#ifdef STOP_AFTER_EPOCH
  stopping = true;
#endif
#ifndef STOP_WITHOUT_NOTIFY
  // team.wake_all: epoch_.notify_all();
  notify_all();
#endif
  // team.join: for (std::thread& thread : threads_) thread.join();
  ended == WORKERS
}

proctype worker(byte w) {
  byte mine, now;
  do
  :: // team.spin: if (const std::uint32_t now = epoch_.load(std::memory_order_acquire); now != seen) return now;
    do  // polls; how often is not modelled
    :: atomic { epoch != mine -> now = epoch; goto awake }
    :: !keep_awake -> break
    od;
#ifndef COUNT_AFTER_LOOK
    // team.count: asleep_.fetch_add(1, std::memory_order_seq_cst);
    asleep++;
#endif
    // team.sleep: while (epoch_.load(std::memory_order_seq_cst) == seen) epoch_.wait(seen, std::memory_order_seq_cst);
    do
    :: now = epoch;
      if
#ifdef NO_LAST_LOOK
      :: true -> atomic { sleeps[w] = true }
        !sleeps[w];
        break
#elif defined(COUNT_AFTER_LOOK)
      :: now == mine -> asleep++;
        sleeps[w] = true;
        !sleeps[w]
#else
      :: now == mine -> atomic { sleeps[w] = (epoch == mine) }
        !sleeps[w]
#endif
      :: now != mine -> break
      fi
    od;
    // team.awake: asleep_.fetch_sub(1, std::memory_order_relaxed);
    asleep--;
    // team.read: return epoch_.load(std::memory_order_acquire);
    now = epoch;
awake:
    assert(now != mine);
    mine = now;
    // team.leave: if (stopping_.load(std::memory_order_relaxed)) return;
    if
    :: stopping -> break
    :: else
    fi;
    // team.work: work_.work(worker, epoch);
    assert(mine < ENDING && worked[w] < mine);
    worked[w] = mine;
    seen[w] = mine
  od;
  ended++
}

init { atomic { run worker(0); run worker(1) } }
