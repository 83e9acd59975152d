// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
//
// Replay (platform/sim/replay.hpp) with one slot, as the engine Pool claims its tasks: the calling thread and two
// workers run rounds of four batches of one node each. Lane 0 has A and D, lane 1 has B, lane 2 has C; B comes after A,
// D after A and C. The batches of a round write memory that those of the next round read. worker_team.pml models how
// threads are woken; here a worker continues as soon as the epoch differs.
//
// Taken as one step: a look at several done flags, since each stays set for the rest of the round; a node and its done
// flag. Left out: the cursor, a hint that only shortens a helper's search. A helper may miss a ready batch here.
//
// Holds: each batch runs once in each round, after all that it needs and after all of the round before; wait() returns,
// and only when all batches have run.
//
// control: CLAIM_WITHOUT_COMPARE  a claim is a load and a store
// control: ALWAYS_IN_ORDER        a thread trusts the order of its lane after another thread ran a batch of it
// control: DONE_BEFORE_RUN        the done flag is stored before the node has run (as without memory_order_release)
// control: RESET_AFTER_FINISHED   the count of batches is set to 0 after the end of the round is published
// control: COUNT_WITHOUT_ADD      the count of batches is loaded and stored

#ifndef ROUNDS
#define ROUNDS 3
#endif
#define BATCHES 4
#define THREADS 3

byte team_epoch, executed, finished;
byte claims[BATCHES], done[BATCHES];
byte began[BATCHES], ended[BATCHES];  // the last round of each batch; for the assertions

#define A 0
#define D 1
#define B 2
#define C 3
#define BEGIN(lane) (lane == 0 -> A : (lane == 1 -> B : C))
#define END(lane) (lane == 0 -> B : (lane == 1 -> C : BATCHES))
#define ACROSS_DONE(b, e) ((b != B || done[A] >= e) && (b != D || done[C] >= e))
#define NEEDS_DONE(b, e) (ACROSS_DONE(b, e) && (b != D || done[A] >= e))
#define CLAIMABLE(b, e) (claims[b] == e - 1)
#define READY(b, e) (CLAIMABLE(b, e) && NEEDS_DONE(b, e))
#define HELPFUL(e) (READY(A, e) || READY(B, e) || READY(C, e) || READY(D, e))
#define ALL(flags, e) (flags[A] >= e && flags[B] >= e && flags[C] >= e && flags[D] >= e)

inline claim(b, e) {
#ifdef CLAIM_WITHOUT_COMPARE
  ok = CLAIMABLE(b, e);
  if
  :: ok -> claims[b] = e
  :: else
  fi
#else
  // replay.claim: return word(claims_, batch).compare_exchange_strong(before, epoch, std::memory_order_relaxed);
  d_step {
    ok = CLAIMABLE(b, e);
    if
    :: ok -> claims[b] = e
    :: else
    fi
  }
#endif
}

inline run_batch(b, e) {
  d_step {
    assert(began[b] == e - 1 && ALL(ended, e - 1));
    assert((b != B || ended[A] == e) && (b != D || (ended[A] == e && ended[C] == e)));
    began[b] = e;
#ifdef DONE_BEFORE_RUN
    done[b] = e;
#endif
  }
  // replay.done: word(done_, node).store(epoch, std::memory_order_release);
  d_step { ended[b] = e; done[b] = e }
}

inline report(e, n) {
  if
  :: n != 0 ->
#ifdef COUNT_WITHOUT_ADD
    count = executed + n;
    executed = count;
#else
    // replay.count: if (r.executed.fetch_add(executed, std::memory_order_acq_rel) + executed == batch_count_) {
    d_step { executed = executed + n; count = executed }
#endif
    if
    :: count == BATCHES ->
#ifdef RESET_AFTER_FINISHED
      finished = e;
      executed = 0
#else
      // replay.reset: r.executed.store(0, std::memory_order_relaxed);
      executed = 0;
      // replay.finished: r.finished.store(epoch, std::memory_order_release);
      finished = e
#endif
    :: else
    fi;
    count = 0
  :: else
  fi
}

inline help(e) {
  atomic {
    if
    :: READY(A, e) -> b = A
    :: READY(B, e) -> b = B
    :: READY(C, e) -> b = C
    :: READY(D, e) -> b = D
    :: else -> b = BATCHES
    fi
  }
  // replay.help: if (!is_ready(b, b.need_end, epoch) || !claim(batch, epoch)) continue;
  if
  :: b != BATCHES -> claim(b, e);
    if
    :: ok -> run_batch(b, e); report(e, 1)
    :: else
    fi
  :: else
  fi;
  d_step { b = 0; ok = false }
}

// A thread's own batches of a round, then what is left of the others'.
inline work(own, e) {
  d_step { at = BEGIN(own); in_order = true }
  do
  :: at < END(own) ->
    do
    :: !CLAIMABLE(at, e) -> d_step { ok = false } break
    :: CLAIMABLE(at, e) && (in_order -> ACROSS_DONE(at, e) : NEEDS_DONE(at, e)) ->
      // replay.claim_own: if (!claim(batch, epoch)) return Turn::lost;
      claim(at, e);
      if
      :: ok -> run_batch(at, e); mine++
      :: else
      fi;
      break
    :: CLAIMABLE(at, e) && HELPFUL(e) ->
      // replay.help_others: if (help_any(own, epoch)) backoff.reset();
      help(e)
    od;
    // replay.in_order: at.in_order = turn == Turn::run && at.in_order;
#ifdef ALWAYS_IN_ORDER
    skip;
#else
    in_order = ok && in_order;
#endif
    d_step { at++; ok = false }
  :: else -> break
  od;
  // replay.report: report(at.epoch, executed);
  report(e, mine);
  d_step { at = 0; mine = 0; in_order = false; ok = false }
  do
  :: HELPFUL(e) -> help(e)
  :: break
  od
}

active proctype caller() {
  byte e, b, at, mine, count;
  bool ok, in_order;
  do
  :: e < ROUNDS ->
    // replay.launch: void launch() noexcept { team_.start(++epoch_); }
    d_step { e++; team_epoch = e }
    work(0, e);
    // replay.wait: for (Backoff backoff; !has_ended(epoch_);) {
    do
    :: finished == e -> break
    :: finished != e && HELPFUL(e) -> help(e)
    od;
    assert(ALL(ended, e))
  :: else -> break
  od
}

proctype worker(byte own) {
  byte e, b, at, mine, count;
  bool ok, in_order;
  do
  :: e < ROUNDS ->
    d_step { team_epoch != e -> e = team_epoch }
    work(own, e)
  :: else -> break
  od
}

init { atomic { run worker(1); run worker(2) } }
