// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <coroutine>
#include <exception>
#include <utility>

namespace rondo {

/// A coroutine that runs rounds, and in the end says how it went:
///
///     rondo::RoundLoop train(Session& session) {
///       for (auto& batch : batches) {
///         if (auto status = co_await session.round(bind(x, batch.x), bind(loss, batch.loss)); !status) co_return
///         status;
///       }
///       co_return rondo::Status{};
///     }
///     rondo::RoundLoop loop = train(session);     // runs until it awaits its first round
///     (void)session.wait_all();                   // delivers rounds, and so resumes it, until none is in flight
///     Status status = loop.status();
///
/// Several loops over one session keep several rounds in flight. Lifetime: move-only; destroying it ends the coroutine
/// where it stands. Thread safety: the session's. Cost: one allocation for the whole loop, none for a round.
class [[nodiscard]] RoundLoop {
 public:
  struct promise_type {
    /// What the coroutine returned.
    Status status{Errc::busy};
    /// What it threw, if it did.
    std::exception_ptr exception;

    /// The language's: makes the RoundLoop.
    RoundLoop get_return_object() noexcept {
      return RoundLoop{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    /// The language's: it runs at once.
    std::suspend_never initial_suspend() const noexcept { return {}; }
    /// The language's: the frame stays until the RoundLoop goes.
    std::suspend_always final_suspend() const noexcept { return {}; }
    /// The language's: co_return.
    void return_value(Status outcome) noexcept { status = outcome; }
    /// The language's: keeps what was thrown.
    void unhandled_exception() noexcept { exception = std::current_exception(); }
  };

  RoundLoop(RoundLoop&& other) noexcept : coroutine_{std::exchange(other.coroutine_, nullptr)} {}
  RoundLoop& operator=(RoundLoop&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  ~RoundLoop() {
    if (coroutine_) coroutine_.destroy();
  }

  /// Has it returned?
  [[nodiscard]] bool done() const noexcept { return coroutine_.done(); }
  /// What it returned; `busy` until it is done. @throws what the coroutine threw
  [[nodiscard]] Status status() const {
    if (coroutine_.promise().exception) std::rethrow_exception(coroutine_.promise().exception);
    return coroutine_.promise().status;
  }

 private:
  explicit RoundLoop(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_{coroutine} {}
  std::coroutine_handle<promise_type> coroutine_;
};

}  // namespace rondo
