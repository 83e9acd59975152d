// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/tensor/concept.hpp>

#include <cstdint>
#include <tuple>

namespace rondo::detail {

/// A round that waits for submission, in its session's list of such rounds.
struct WaitingRound {
  WaitingRound* next = nullptr;
  /// Whether the round may be submitted now.
  bool (*is_ready)(WaitingRound&) noexcept = nullptr;
  /// Submits the round; if it is refused, resumes the coroutine that awaits it.
  void (*start)(WaitingRound&) noexcept = nullptr;
};

/// The rounds that wait, in order.
class WaitingRounds {
 public:
  /// Whether the first one may be started now: none is being started, and it may be submitted.
  [[nodiscard]] bool has_ready() const noexcept {
    return first_ != nullptr && !is_starting_ && first_->is_ready(*first_);
  }
  /// Removes the first one and starts it.
  void start_first() noexcept {
    WaitingRound& round = *first_;
    first_ = round.next;
    round.next = nullptr;
    is_starting_ = true;
    round.start(round);
    is_starting_ = false;
  }
  /// Appends a round, unless none waits and it is ready; then returns false.
  [[nodiscard]] bool add(WaitingRound& round) noexcept {
    if (first_ == nullptr && round.is_ready(round)) return false;
    (first_ == nullptr ? first_ : last_->next) = &round;
    last_ = &round;
    return true;
  }
  void remove(WaitingRound& round) noexcept {
    WaitingRound** link = &first_;
    WaitingRound* before = nullptr;
    for (; *link != &round; link = &(*link)->next) before = *link;
    *link = round.next;
    if (last_ == &round) last_ = before;
  }

 private:
  WaitingRound* first_ = nullptr;
  WaitingRound* last_ = nullptr;
  bool is_starting_ = false;
};

/// The awaitable of `co_await session.round(…)`. It is part of the coroutine's frame, so that a round allocates
/// nothing. Works with any coroutine, such as RoundLoop in round_loop.hpp. If the coroutine is destroyed while it
/// waits, its round still runs, but is no longer reported. A callback that runs while a round is being submitted must
/// not destroy the coroutine that awaits this round.
template <class Session, BoundPair... B>
class [[nodiscard]] RoundAwaiter : WaitingRound {
 public:
  explicit RoundAwaiter(Session& session, const B&... pairs) noexcept : session_{session}, pairs_{pairs...} {
    is_ready = [](WaitingRound& self) noexcept {
      auto& me = static_cast<RoundAwaiter&>(self);
      return std::apply([&](const B&... b) { return me.session_.can_submit(b...); }, me.pairs_);
    };
    start = [](WaitingRound& self) noexcept {
      auto& me = static_cast<RoundAwaiter&>(self);
      me.stage_ = Stage::idle;  // it is in the list no more
      if (!me.submit()) me.resume(me.status_);
    };
  }
  RoundAwaiter(const RoundAwaiter&) = delete;
  RoundAwaiter& operator=(const RoundAwaiter&) = delete;
  ~RoundAwaiter() {
    if (stage_ == Stage::waiting) session_.withdraw(*this);
    if (stage_ == Stage::submitted) session_.forget(number_);
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Handle>
  [[nodiscard]] bool await_suspend(Handle handle) noexcept {
    coroutine_ = handle.address();
    resume_ = [](void* coroutine) { Handle::from_address(coroutine).resume(); };
    if (!session_.must_wait(*this)) return submit();
    stage_ = Stage::waiting;
    return true;
  }
  [[nodiscard]] Status await_resume() const noexcept { return status_; }

 private:
  enum class Stage : std::uint8_t { idle, waiting, submitted };

  /// @returns whether the round was submitted
  bool submit() noexcept {
    const auto done = [this](Status status) noexcept { resume(status); };
    const auto ticket = std::apply([&](const B&... b) { return session_.submit_round(b..., done); }, pairs_);
    status_ = ticket.submitted();
    number_ = ticket.number();
    stage_ = ticket ? Stage::submitted : Stage::idle;
    return stage_ == Stage::submitted;
  }
  void resume(Status status) noexcept {
    status_ = status;
    stage_ = Stage::idle;
    resume_(coroutine_);
  }

  Session& session_;
  std::tuple<B...> pairs_;
  void* coroutine_ = nullptr;
  void (*resume_)(void*) = nullptr;
  std::uint64_t number_ = 0;
  Status status_;
  Stage stage_ = Stage::idle;
};

}  // namespace rondo::detail
