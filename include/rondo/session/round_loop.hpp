// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <coroutine>
#include <exception>
#include <utility>

namespace rondo {

/// A coroutine that runs rounds and returns a status at the end:
///
///     rondo::RoundLoop train(Session& session) {
///       for (auto& batch : batches) {
///         auto status = co_await session.round(bind(x, batch.x), bind(loss, batch.loss));
///         if (!status) co_return status;
///       }
///       co_return rondo::Status{};
///     }
///     rondo::RoundLoop loop = train(session);     // runs until it awaits its first round
///     (void)session.wait_all();                   // delivers rounds, and so resumes it, until none is in flight
///     Status status = loop.status();
///
/// Several loops over one session keep several rounds in flight. Lifetime: move-only; destroys its coroutine. Thread
/// safety: that of the session. Cost: one allocation per loop, none per round.
class [[nodiscard]] RoundLoop {
 public:
  /// The part that the language requires: the coroutine starts at once, and stays until the RoundLoop is destroyed.
  struct promise_type {
    Status status{Errc::busy};
    std::exception_ptr exception;

    RoundLoop get_return_object() noexcept {
      return RoundLoop{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
    [[nodiscard]] std::suspend_always final_suspend() const noexcept { return {}; }
    void return_value(Status outcome) noexcept { status = outcome; }
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

  /// Whether the coroutine has returned.
  [[nodiscard]] bool done() const noexcept { return coroutine_.done(); }
  /// The status that the coroutine returned; `busy` until then. @throws the coroutine's exception
  [[nodiscard]] Status status() const {
    if (coroutine_.promise().exception) std::rethrow_exception(coroutine_.promise().exception);
    return coroutine_.promise().status;
  }

 private:
  explicit RoundLoop(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_{coroutine} {}
  std::coroutine_handle<promise_type> coroutine_;
};

}  // namespace rondo
