// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/program_measurer.hpp>

#include <algorithm>

/// The member functions of ProgramMeasurer. No lock is held while builder, runner or a callback is called.
namespace rondo::measure {

template <Builder B, Runner R>
std::optional<Ticket> ProgramMeasurer<B, R>::submit(Input input, OnResult on_result) {
  std::list<Item> one(1);  // allocates before the lock, and before the item counts
  one.front().input = std::move(input);
  one.front().on_result = std::move(on_result);
  Ticket ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return std::nullopt;
    ticket = ++tally_.submitted;
    one.front().result.ticket = ticket;
    to_build_.splice(to_build_.end(), one);
    turn();
  }
  feed();
  return ticket;
}

template <Builder B, Runner R>
void ProgramMeasurer<B, R>::wait() {
  refuse_within_callback();
  await_idle();
  std::exception_ptr thrown;
  {
    const std::lock_guard lock(mutex_);
    thrown = std::exchange(thrown_, nullptr);
  }
  if (thrown) std::rethrow_exception(thrown);
}

template <Builder B, Runner R>
void ProgramMeasurer<B, R>::await_idle() noexcept {
  std::unique_lock lock(mutex_);
  ++waiters_;
  turn();
  lock.unlock();
  feed();
  lock.lock();
  idle_.wait(lock, [this] { return is_idle(); });
  --waiters_;
}

template <Builder B, Runner R>
std::optional<Result> ProgramMeasurer<B, R>::next() {
  refuse_within_callback();
  std::unique_lock lock(mutex_);
  ++waiters_;
  turn();
  lock.unlock();
  feed();
  lock.lock();
  ready_.wait(lock, [this] { return !finished_.empty() || has_no_more(); });
  --waiters_;
  if (finished_.empty()) return std::nullopt;
  std::optional<Result> result{std::move(finished_.front().result)};
  finished_.pop_front();
  return result;
}

template <Builder B, Runner R>
void ProgramMeasurer<B, R>::stop() noexcept {
  for (const Stop* each = innermost_stop_; each != nullptr; each = each->outer) {
    if (each->measurer == this) return;  // from a callback that the outer call makes, which ends the rest
  }
  const Stop self{this, innermost_stop_};
  innermost_stop_ = &self;
  for (;;) {
    std::unique_lock lock(mutex_);
    stopping_ = true;  // from now on no other thread takes a candidate from these lists
    if (to_build_.empty() && to_run_.empty()) break;
    const Position item = take_first(to_build_.empty() ? to_run_ : to_build_);
    lock.unlock();
    item->artifact.reset();
    mark_stopped(item->result);
    finish(item);
  }
  innermost_stop_ = self.outer;
}

template <Builder B, Runner R>
void ProgramMeasurer<B, R>::refuse_within_callback() const {
  if (calling_ == this) {
    throw Error(Errc::busy, Error::Text("a callback cannot wait for its own measurer, which waits for the callback; "
                                        "return, and wait outside"));
  }
}

// --- steps of a candidate --------------------------------------------------------------------------------------------

template <Builder B, Runner R>
void ProgramMeasurer<B, R>::built(Position item, Built<Artifact> outcome) noexcept {
  item->input.reset();
  item->result.build_seconds = outcome.seconds;
  item->result.fault = outcome.fault;
  item->result.text = std::move(outcome.text);
  if (outcome.fault == Fault::none && !outcome.artifact) {
    item->result.fault = Fault::unknown;
    item->result.text = detail::text_of("the builder reports success but hands over no artifact");
  }
  bool is_done = item->result.fault != Fault::none;
  if (!is_done) item->artifact = std::move(outcome.artifact);
  outcome.artifact.reset();
  {
    const std::lock_guard lock(mutex_);
    if (!is_done && stopping_) {
      is_done = true;
      mark_stopped(item->result);
    }
    if (!is_done || options_.mode == Mode::Async) release_capacity(item);
    if (!is_done) to_run_.splice(to_run_.end(), under_way_, item);
    turn();
    enter();
  }
  if (is_done) item->artifact.reset();
  feed();  // before the callback, which may take long
  if (is_done) finish(item);
  leave();
}

template <Builder B, Runner R>
void ProgramMeasurer<B, R>::measured(Position item, Measured outcome) noexcept {
  static_cast<Measured&>(item->result) = std::move(outcome);
  if (item->result.ok() && item->result.seconds.empty()) {
    item->result.fault = Fault::unknown;
    item->result.text = detail::text_of("the runner reports success but measured no time");
  }
  {
    const std::lock_guard lock(mutex_);
    if (options_.mode == Mode::Async)
      release_capacity(item);  // Sync: a phase ends after its last callback, which may submit
    enter();
  }
  feed();
  finish(item);
  leave();
}

/// Releases the capacity of the builder or runner that the candidate uses. Called under the lock.
template <Builder B, Runner R>
void ProgramMeasurer<B, R>::release_capacity(Position item) noexcept {
  if (item->holder == Holder::builder) --building_;
  if (item->holder == Holder::runner) --running_;
  item->holder = Holder::nobody;
}

template <Builder B, Runner R>
void ProgramMeasurer<B, R>::finish(Position item) noexcept {
  const Fault fault = item->result.fault;
  const bool has_callback = static_cast<bool>(item->on_result);
  std::exception_ptr thrown;
  if (has_callback) {
    const ProgramMeasurer* const outer = std::exchange(calling_, this);
    try {
      item->on_result(std::as_const(item->result));
    } catch (...) {
      thrown = std::current_exception();
    }
    item->on_result = nullptr;  // the callback's captures are destroyed before the candidate counts as done
    calling_ = outer;
  }
  item->input.reset();
  bool enough = false;
  if (fault != Fault::stopped) {
    const std::lock_guard lock(mutex_);
    tally_.in_a_row = fault == Fault::none ? 0 : tally_.in_a_row + 1;
    enough = !stopping_ && options_.stop_after_faults != 0 && tally_.in_a_row >= options_.stop_after_faults;
  }
  if (enough) stop();
  std::unique_lock lock(mutex_);
  ++tally_.faults[static_cast<std::size_t>(fault)];
  if (thrown && !thrown_) thrown_ = thrown;
  release_capacity(item);
  if (has_callback) under_way_.erase(item);
  if (!has_callback) finished_.splice(finished_.end(), under_way_, item);
  if (!has_callback || has_no_more()) ready_.notify_all();
  if (options_.mode == Mode::Sync) {
    turn();
    enter();
    lock.unlock();
    feed();
    leave();
  } else if (is_idle()) {
    idle_.notify_all();
  }
}

// --- the order of calls ----------------------------------------------------------------------------------------------

template <Builder B, Runner R>
bool ProgramMeasurer<B, R>::may_build() const noexcept {
  if (stopping_ || to_build_.empty() || building_ >= std::max<std::size_t>(1, builder_.capacity())) return false;
  return options_.mode == Mode::Async || (!in_run_phase_ && batch_left_ != 0);
}

template <Builder B, Runner R>
bool ProgramMeasurer<B, R>::may_run() const noexcept {
  if (stopping_ || to_run_.empty() || running_ >= std::max<std::size_t>(1, runner_.capacity())) return false;
  return options_.mode == Mode::Async || in_run_phase_;
}

/// Mode::Sync: ends a phase that has nothing left to do, and begins the next. Called under the lock whenever its
/// conditions may have changed.
template <Builder B, Runner R>
void ProgramMeasurer<B, R>::turn() noexcept {
  if (options_.mode == Mode::Async) return;
  if (to_build_.empty()) batch_left_ = 0;  // after stop()
  if (!in_run_phase_ && building_ == 0 && batch_left_ == 0 && !to_run_.empty()) in_run_phase_ = true;
  if (in_run_phase_ && running_ == 0 && to_run_.empty()) in_run_phase_ = false;
  if (in_run_phase_ || building_ != 0 || batch_left_ != 0) return;
  if (const bool is_full = options_.batch != 0 && to_build_.size() >= options_.batch; is_full || waiters_ != 0) {
    batch_left_ = is_full ? options_.batch : to_build_.size();
  }
}

template <Builder B, Runner R>
void ProgramMeasurer<B, R>::feed() noexcept {
  feed_runner();
  feed_builder();
}

/// Submits builds while there is room. Only one thread at a time does so: another thread returns at once, since the
/// first checks again under the same lock and so handles the new work. So the calls do not nest if a builder works
/// within submit_build.
template <Builder B, Runner R>
void ProgramMeasurer<B, R>::feed_builder() noexcept {
  std::unique_lock lock(mutex_);
  if (feeding_builder_) return;
  feeding_builder_ = true;
  while (may_build()) {
    const Position item = take_first(to_build_);
    ++building_;
    item->holder = Holder::builder;
    if (batch_left_ != 0) --batch_left_;
    lock.unlock();
    try {
      builder_.submit_build(std::move(*item->input),
                            [this, item](Built<Artifact> outcome) { built(item, std::move(outcome)); });
    } catch (...) {
      auto [fault, text] = detail::current_fault(Fault::unknown);
      built(item, Built<Artifact>{fault, std::move(text), std::nullopt, 0});
    }
    lock.lock();
  }
  feeding_builder_ = false;
}

template <Builder B, Runner R>
void ProgramMeasurer<B, R>::feed_runner() noexcept {
  std::unique_lock lock(mutex_);
  if (feeding_runner_) return;
  feeding_runner_ = true;
  while (may_run()) {
    const Position item = take_first(to_run_);
    ++running_;
    item->holder = Holder::runner;
    lock.unlock();
    try {
      Artifact artifact = std::move(*item->artifact);
      item->artifact.reset();
      runner_.submit_run(typename R::Artifact(std::move(artifact)),
                         [this, item](Measured outcome) { measured(item, std::move(outcome)); });
    } catch (...) {
      Measured outcome;
      auto [fault, text] = detail::current_fault(Fault::unknown);
      outcome.fault = fault;
      outcome.text = std::move(text);
      measured(item, std::move(outcome));
    }
    lock.lock();
  }
  feeding_runner_ = false;
}

}  // namespace rondo::measure
