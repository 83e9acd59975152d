// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/atomic.hpp>
#include <rondo/detail/thread.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/sim/task_stream.hpp>

#include <cstdint>

namespace rondo::runtime::detail {

/// Decides which thread orchestrates a round. One that waits for it anyway does it itself, which wakes nobody;
/// otherwise a thread of its own does it beside the caller.
///
/// Thread safety: the session's thread. Cost per round: a store; handed to the other thread, one wake-up.
class Conductor {
 public:
  using Orchestrate = Status (*)(void* runner) noexcept;

  Conductor() noexcept = default;
  Conductor(const Conductor&) = delete;
  Conductor& operator=(const Conductor&) = delete;
  ~Conductor() { stop(); }

  /// @throws Error out_of_resources
  void start(Orchestrate orchestrate, void* runner, bool with_thread) {
    orchestrate_ = orchestrate;
    runner_ = runner;
    if (!with_thread) return;
    thread_.start([](void* self) noexcept { static_cast<Conductor*>(self)->work(); }, this, "the orchestrator thread");
  }

  void launch() noexcept { state_ = State::posted; }

  /// The caller has other things to do until wait().
  void start_beside() noexcept {
    if (state_ != State::posted) return;
    if (!thread_.joinable()) {
      (void)wait();
      return;
    }
    state_ = State::beside;
    ++asked_;
    request_.store(asked_, rondo::detail::Order::release);
    request_.notify_one();
  }

  Status wait() noexcept {
    if (state_ == State::idle) [[likely]]
      return status_;
    if (state_ == State::posted) {
      status_ = orchestrate_(runner_);
    } else {
      for (std::uint32_t seen = finished_.load(rondo::detail::Order::acquire); seen != asked_;
           seen = finished_.load(rondo::detail::Order::acquire)) {
        finished_.wait(seen, rondo::detail::Order::acquire);
      }
    }
    state_ = State::idle;
    return status_;
  }

  /// Waits for the round, then ends the thread.
  void stop() noexcept {
    if (orchestrate_ == nullptr) return;
    (void)wait();
    if (thread_.joinable()) {
      stopping_.store(true, rondo::detail::Order::relaxed);
      request_.store(++asked_, rondo::detail::Order::release);
      request_.notify_one();
      thread_.join();
    }
    orchestrate_ = nullptr;
  }

 private:
  enum class State : std::uint8_t { idle, posted, beside };

  void work() noexcept {
    for (std::uint32_t done = 0;;) {
      std::uint32_t seen = request_.load(rondo::detail::Order::acquire);
      while (seen == done) {
        request_.wait(done, rondo::detail::Order::acquire);
        seen = request_.load(rondo::detail::Order::acquire);
      }
      if (stopping_.load(rondo::detail::Order::relaxed)) return;
      status_ = orchestrate_(runner_);
      done = seen;
      finished_.store(done, rondo::detail::Order::release);
      finished_.notify_one();
    }
  }

  Orchestrate orchestrate_ = nullptr;
  void* runner_ = nullptr;
  State state_ = State::idle;
  Status status_;  ///< of the last round
  std::uint32_t asked_ = 0;
  rondo::detail::Signal request_{0};
  rondo::detail::Signal finished_{0};
  rondo::detail::Atomic<bool> stopping_{false};
  rondo::detail::Thread thread_;
};

}  // namespace rondo::runtime::detail
