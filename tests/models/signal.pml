// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
//
// Signal (platform/sim/signal.hpp): one thread changes the number three times and notifies, two threads sleep until it
// has changed. The change is a store with memory_order_release: it waits in the thread's store buffer, and becomes
// visible at any time until the thread's next read-modify-write.
//
// Holds: a thread that waits for a change returns after it, whatever the order (else this model deadlocks).
//
// control: NOTIFY_LOADS          notify() reads the number of sleepers without a read-modify-write
// control: COUNT_AFTER_SLEEPING  wait() counts itself as a sleeper only once it has slept
// control: SLEEP_WITHOUT_COMPARE the system does not compare the number again before the thread sleeps

#define WAITERS 2
#define CHANGES 3

byte number, sleepers;
bool in_futex[WAITERS];  // sleeps in the system
byte seen[WAITERS];      // the last change that the thread knows of
bool buffered;           // the store of `buffer` is under way
byte buffer;

#define ALL_SAW(n) (seen[0] >= n && seen[1] >= n)

active proctype store_buffer() {
end:
  do
  :: atomic { buffered -> number = buffer; buffered = false }
  od
}

active proctype changer() {
  byte n, counted;
  bool waits;
  do
  :: n < CHANGES ->
    n++;
    !buffered;
    atomic { buffer = n; buffered = true }
#ifdef NOTIFY_LOADS
    counted = sleepers;
#else
    // signal.order: if (sleepers_.fetch_add(0, std::memory_order_seq_cst) != 0) [[unlikely]]
    atomic { !buffered -> counted = sleepers }
#endif
    if
    :: counted != 0 ->
      // signal.wake: if (sleepers_.fetch_add(0, std::memory_order_seq_cst) != 0) [[unlikely]] (void)syscall(SYS_futex, this, FUTEX_WAKE_PRIVATE, count);
      atomic { in_futex[0] = false; in_futex[1] = false }
    :: else
    fi;
    if  // the next change may come at once
    :: waits = true
    :: waits = false
    fi;
    !waits || ALL_SAW(n)
  :: else -> break
  od;
  ALL_SAW(CHANGES)
}

proctype waiter(byte w) {
  byte now;
  do
  :: seen[w] < CHANGES ->
    // signal.look: if (load(order) != seen) return;
    now = number;
    if
    :: now != seen[w]
    :: else ->
#ifndef COUNT_AFTER_SLEEPING
      // signal.count: sleepers_.fetch_add(1, std::memory_order_seq_cst);
      sleepers++;
#endif
      // signal.sleep: while (load(order) == seen) (void)syscall(SYS_futex, this, FUTEX_WAIT_PRIVATE, seen, nullptr);
      do
      :: now = number;
        if
        :: now == seen[w] ->
          atomic {
#ifdef SLEEP_WITHOUT_COMPARE
            in_futex[w] = true
#else
            in_futex[w] = (number == seen[w])
#endif
          }
          !in_futex[w]
        :: else -> break
        fi
      od;
#ifdef COUNT_AFTER_SLEEPING
      sleepers++;
#endif
      // signal.leave: sleepers_.fetch_sub(1, std::memory_order_relaxed);
      sleepers--
    fi;
    assert(now != seen[w]);
    seen[w] = now
  :: else -> break
  od
}

init { atomic { run waiter(0); run waiter(1) } }
