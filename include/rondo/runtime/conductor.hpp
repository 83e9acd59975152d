// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/sim/task_stream.hpp>

#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>

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
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error& e) {
      throw Error(Errc::out_of_resources, Error::Text("the orchestrator thread could not be started: ", e.what()));
    }
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
    request_.store(asked_, std::memory_order_release);
    request_.notify_one();
  }

  Status wait() noexcept {
    if (state_ == State::idle) [[likely]]
      return status_;
    if (state_ == State::posted) {
      status_ = orchestrate_(runner_);
    } else {
      for (std::uint32_t seen = finished_.load(std::memory_order_acquire); seen != asked_;
           seen = finished_.load(std::memory_order_acquire)) {
        finished_.wait(seen, std::memory_order_acquire);
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
      stopping_.store(true, std::memory_order_relaxed);
      request_.store(++asked_, std::memory_order_release);
      request_.notify_one();
      thread_.join();
    }
    orchestrate_ = nullptr;
  }

 private:
  enum class State : std::uint8_t { idle, posted, beside };

  void work() noexcept {
    for (std::uint32_t done = 0;;) {
      std::uint32_t seen = request_.load(std::memory_order_acquire);
      while (seen == done) {
        request_.wait(done, std::memory_order_acquire);
        seen = request_.load(std::memory_order_acquire);
      }
      if (stopping_.load(std::memory_order_relaxed)) return;
      status_ = orchestrate_(runner_);
      done = seen;
      finished_.store(done, std::memory_order_release);
      finished_.notify_one();
    }
  }

  Orchestrate orchestrate_ = nullptr;
  void* runner_ = nullptr;
  State state_ = State::idle;
  Status status_;  ///< of the last round
  std::uint32_t asked_ = 0;
  std::atomic<std::uint32_t> request_{0};
  std::atomic<std::uint32_t> finished_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace rondo::runtime::detail
