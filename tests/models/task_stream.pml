// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
//
// TaskStream and ReadyQueue (platform/sim/task_stream.hpp, ready_queue.hpp): the orchestrating thread hands out one task,
// which makes another one ready; two workers run them, sleep and end. With HANDED=2, 5 million states, which was found
// right but is no test, it hands out a second one. A Signal is taken as signal.pml proves it.
//
// Holds: each task runs once; when quiet() says so, no task is ready or running; all tasks end although a wake-up may be
// missed, since the orchestrating thread helps; stop() ends the workers.
//
// control: BUSY_AFTER_POP       a worker says that it is busy only once it has a task
// control: QUIET_LOOKS_ONCE     quiet() does not look at the queue again after the workers
// control: TURN_BEFORE_VALUE    a cell's turn is stored before its value (no memory_order_release)
// control: POP_WITHOUT_COMPARE  the head is loaded and stored
// control: STOP_BEFORE_FLAG     stop() changes what sleepers wait for before it tells them to end

#define WORKERS 2
#ifndef HANDED
#define HANDED 1  // tasks 1 and 2; 3 comes after 1
#endif
#define FOLLOWS 3
#define TASKS (HANDED + 1)
#define NONE 0
byte turn[2], value[2];
byte head, tail, sleepers, wake;
bool busy[WORKERS], sleeps[WORKERS], stopping;
byte ran[4], running, handed, over, ended;

inline push(task) {
  atomic { at = tail }
  do
  :: atomic { seen = turn[at & 1] }
    if
    :: seen == at ->
      // stream.push: if (tail_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
      atomic {
        if
        :: tail == at -> tail = at + 1; got = true
        :: else -> at = tail; got = false
        fi
      }
      if
      :: got ->
#ifdef TURN_BEFORE_VALUE
        turn[at & 1] = at + 1;
        value[at & 1] = task;
#else
        value[at & 1] = task;
        // stream.filled: cell.turn.store(at + 1, std::memory_order_release);
        turn[at & 1] = at + 1;
#endif
        break
      :: else
      fi
    :: seen < at -> got = false; break
    :: seen > at -> at = tail
    fi
  od;
  atomic { at = 0; seen = 0 }
}

inline pop() {
  atomic { at = head; mine = NONE }
  do
  :: atomic { seen = turn[at & 1] }
    if
    :: seen == at + 1 ->
#ifdef POP_WITHOUT_COMPARE
      got = (head == at);
      if
      :: got -> head = at + 1
      :: else -> at = head
      fi;
#else
      // stream.pop: if (head_.compare_exchange_weak(at, at + 1, std::memory_order_acq_rel, std::memory_order_relaxed)) {
      atomic {
        if
        :: head == at -> head = at + 1; got = true
        :: else -> at = head; got = false
        fi
      }
#endif
      if
      :: got ->
        mine = value[at & 1];
        // stream.emptied: cell.turn.store(at + mask_ + 1, std::memory_order_release);
        turn[at & 1] = at + 2;
        break
      :: else
      fi
    :: seen < at + 1 -> break
    :: seen > at + 1 -> at = head
    fi
  od;
  atomic { at = 0; seen = 0; got = false }
}

inline wake_a_sleeper() {
  // stream.claim_sleeper: if (sleepers_.compare_exchange_weak(sleepers, sleepers - 1, std::memory_order_relaxed)) return true;
  atomic {
    got = (sleepers != 0);
    sleepers = (got -> sleepers - 1 : 0)
  }
  if
  :: got ->
    // stream.wake: wake_.fetch_add(1, std::memory_order_release); wake_.notify_one();
    wake++;
    if
    :: atomic { sleeps[0] -> sleeps[0] = false }
    :: atomic { sleeps[1] -> sleeps[1] = false }
    :: !sleeps[0] && !sleeps[1]
    fi
  :: else
  fi;
  got = false
}

// A task, and the one that it makes ready: handed out, or run by this thread if the queue is full.
inline execute() {
  do
  :: mine != NONE ->
    atomic { assert(ran[mine] == 0); ran[mine]++; running++ }
    next = (mine == 1 -> FOLLOWS : NONE);
    if
    :: next != NONE && threaded ->
      push(next);
      if
      :: got -> got = false; wake_a_sleeper(); next = NONE
      :: else
      fi
    :: else
    fi;
    atomic { running--; over++; mine = next; next = NONE }
  :: else -> break
  od
}

inline quiet() {
  // stream.popped: const std::uint64_t popped = queue_.popped();
  popped = head;
  // stream.pushed: if (queue_.pushed() != popped) return false;
  is_quiet = (tail == popped);
  if
  :: is_quiet ->
    // stream.busy: if (worker.busy.load(std::memory_order_seq_cst)) return false;
    is_quiet = !busy[0];
    is_quiet = is_quiet && !busy[1];
#ifndef QUIET_LOOKS_ONCE
    // stream.again: return queue_.popped() == popped && queue_.pushed() == popped;
    is_quiet = is_quiet && head == popped;
    is_quiet = is_quiet && tail == popped;
#endif
  :: else
  fi;
  assert(!is_quiet || (running == 0 && over == handed + 1));
  atomic { is_quiet = false; popped = 0 }
}

active proctype orchestrator() {
  byte at, seen, mine, next, popped;
  bool got, is_quiet, threaded = true;
  do
  :: handed < HANDED ->
    push(handed + 1);
    atomic { next = (got -> NONE : handed + 1); handed++ }
    if
    :: got -> got = false; wake_a_sleeper()
    :: else -> mine = next; execute()
    fi
  :: handed > 0 && over < handed + 1 -> quiet()
  :: head != tail -> pop(); execute()
  :: handed == HANDED && over == TASKS -> break
  od;
  quiet();
#ifndef STOP_BEFORE_FLAG
  // stream.stop: stopping_.store(true, std::memory_order_release);
  stopping = true;
#endif
  // stream.wake_all: wake_.fetch_add(1, std::memory_order_release); wake_.notify_all();
  wake++;
  atomic { sleeps[0] = false; sleeps[1] = false }
#ifdef STOP_BEFORE_FLAG
  stopping = true;
#endif
  ended == WORKERS;
  assert(ran[1] == 1 && ran[FOLLOWS] == 1 && (HANDED == 1 || ran[2] == 1))
}

proctype worker(byte w) {
  byte at, seen, mine, next, before;
  bool got, threaded = true;
  do
  ::
#ifndef BUSY_AFTER_POP
    // stream.mark_busy: if (!busy) self.busy.store(busy = true, std::memory_order_seq_cst);
    busy[w] = true;
#endif
    pop();
#ifdef BUSY_AFTER_POP
    busy[w] = (mine != NONE);
#endif
    if
    :: mine != NONE -> execute()
    :: else ->
      // stream.mark_idle: self.busy.store(busy = false, std::memory_order_seq_cst);
      busy[w] = false;
      // stream.leave: if (stopping_.load(std::memory_order_acquire)) return;
      if
      :: stopping -> break
      :: else
      fi;
      if
      :: head != tail || stopping  // polls
      :: true ->
        // stream.count: sleepers_.fetch_add(1, std::memory_order_seq_cst);
        sleepers++;
        // stream.read_wake: const std::uint32_t seen = wake_.load(std::memory_order_seq_cst);
        before = wake;
        // stream.last_look: if (queue_.popped() != queue_.pushed() || stopping_.load(std::memory_order_seq_cst)) {
        if
        :: head != tail || stopping -> atomic { sleepers = (sleepers != 0 -> sleepers - 1 : 0) }
        :: else ->
          // stream.sleep: wake_.wait(seen, std::memory_order_acquire);
          atomic { sleeps[w] = (wake == before) }
          !sleeps[w]
        fi;
        before = 0
      fi
    fi
  od;
  ended++
}

init {
  atomic { turn[0] = 0; turn[1] = 1; run worker(0); run worker(1) }
}
