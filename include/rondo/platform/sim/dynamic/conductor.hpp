// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/sim/signal.hpp>
#include <rondo/platform/start_thread.hpp>

#include <atomic>
#include <cstdint>
#include <thread>

namespace rondo::platform::sim::dynamic {

/// Decides which thread orchestrates a round: the caller, if it waits for the round anyway, so that no thread is woken;
/// otherwise a separate thread.
///
/// Thread safety: the session's thread only. Cost per round: a store; on the other thread, one wake-up.
template <class Rounds>
class Conductor {
 public:
  /// `rounds.orchestrate()` runs a whole round.
  explicit Conductor(Rounds& rounds) noexcept : rounds_{rounds} {}
  Conductor(const Conductor&) = delete;
  Conductor& operator=(const Conductor&) = delete;
  ~Conductor() { stop(); }

  /// @throws Error out_of_resources
  void start_thread() {
    thread_ = platform::start_thread([this]() noexcept { work(); }, "the orchestrator thread");
  }

  void launch() noexcept { state_ = State::posted; }

  /// Starts the round on the other thread: the caller does other work before wait().
  void run_in_background() noexcept {
    if (state_ != State::posted) return;
    if (!thread_.joinable()) {
      (void)wait();
      return;
    }
    state_ = State::in_background;
    request_.store(++asked_, std::memory_order_release);  // model: conductor.request
    request_.notify_one();
  }

  Status wait() noexcept {
    if (state_ == State::idle) [[likely]]
      return status_;
    if (state_ == State::posted) {
      status_ = rounds_.orchestrate();
    } else {
      finished_.wait(asked_ - 1, std::memory_order_acquire);  // model: conductor.wait
    }
    state_ = State::idle;
    return status_;
  }

  /// Waits for the round, then ends the thread.
  void stop() noexcept {
    (void)wait();
    if (!thread_.joinable()) return;
    stopping_.store(true, std::memory_order_relaxed);  // model: conductor.stop
    request_.store(++asked_, std::memory_order_release);
    request_.notify_one();
    thread_.join();
  }

 private:
  enum class State : std::uint8_t { idle, posted, in_background };

  void work() noexcept {
    for (std::uint32_t done = 0;; ++done) {
      request_.wait(done, std::memory_order_acquire);         // model: conductor.next
      if (stopping_.load(std::memory_order_relaxed)) return;  // model: conductor.last
      status_ = rounds_.orchestrate();
      finished_.store(done + 1, std::memory_order_release);  // model: conductor.finish
      finished_.notify_one();
    }
  }

  Rounds& rounds_;
  State state_ = State::idle;
  Status status_;            ///< of the last round
  std::uint32_t asked_ = 0;  ///< the number of rounds requested; each is requested after the one before has finished
  Signal request_{0};
  Signal finished_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace rondo::platform::sim::dynamic
