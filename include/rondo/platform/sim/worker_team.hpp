// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/atomic.hpp>
#include <rondo/detail/owned_array.hpp>
#include <rondo/detail/thread.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/sim/backoff.hpp>

#include <sched.h>

#include <cstddef>
#include <cstdint>

namespace rondo::platform::sim {

/// Threads that do the same thing again each time the epoch moves on. Between two epochs they spin for some tens of
/// microseconds, then sleep and use no CPU.
///
/// Thread safety: start(), keep_awake() and the destructor from one thread. Cost of start(): one store and one load,
/// and a system call if a thread sleeps.
class WorkerTeam {
 public:
  using Body = void (*)(void* context, std::size_t worker, std::uint32_t epoch);

  /// Starts `count` threads, numbered from 1: the caller is worker 0. `parks`: counts how often one goes to sleep.
  /// @throws Error out_of_resources
  WorkerTeam(std::size_t count, Body body, void* context, detail::Atomic<std::uint64_t>& parks)
      : body_{body}, context_{context}, parks_{parks}, members_(count) {
    try {
      for (std::size_t w = 1; w <= count; ++w) {
        Member& member = members_[w - 1];
        member.team = this;
        member.number = w;
        member.thread.start(
            [](void* self) noexcept { static_cast<Member*>(self)->team->work(static_cast<Member*>(self)->number); },
            &member, Error::Text("thread ", w, " of ", count).c_str(), "; ask for fewer");
      }
    } catch (...) {
      stop();
      throw;
    }
  }
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;
  ~WorkerTeam() { stop(); }

  /// Moves to `epoch`, which differs from the one before, and wakes whoever sleeps.
  void start(std::uint32_t epoch) noexcept {
    epoch_.store(epoch, detail::Order::seq_cst);
    // Either this load sees the sleeper, or the sleeper's last look at the epoch sees the store: both are seq_cst.
    if (asleep_.load(detail::Order::seq_cst) != 0) [[unlikely]]
      epoch_.notify_all();
  }

  /// While awake, threads spin from one epoch to the next and never sleep.
  void keep_awake(bool awake) noexcept { keep_awake_.store(awake, detail::Order::relaxed); }

 private:
  struct Member {
    WorkerTeam* team = nullptr;
    std::size_t number = 0;  ///< from 1
    detail::Thread thread;
  };
  static constexpr unsigned spins_before_sleep = 1500;  ///< pauses; 30 to 80 µs

  void work(std::size_t worker) noexcept {
    for (std::uint32_t epoch = 0;;) {
      epoch = await_other_than(epoch);
      if (stopping_.load(detail::Order::relaxed)) return;
      body_(context_, worker, epoch);
    }
  }
  std::uint32_t await_other_than(std::uint32_t seen) noexcept {
    for (unsigned i = 0; i < spins_before_sleep || keep_awake_.load(detail::Order::relaxed); ++i) {
      if (const std::uint32_t now = epoch_.load(detail::Order::acquire); now != seen) return now;
      if (i < spins_before_sleep) {
        pause();
      } else {
        (void)sched_yield();  // kept awake for long: others may have the core meanwhile
      }
    }
    parks_.fetch_add(1, detail::Order::relaxed);
    asleep_.fetch_add(1, detail::Order::seq_cst);
    while (epoch_.load(detail::Order::seq_cst) == seen) epoch_.wait(seen, detail::Order::seq_cst);
    asleep_.fetch_sub(1, detail::Order::relaxed);
    return epoch_.load(detail::Order::acquire);
  }
  void stop() noexcept {
    stopping_.store(true, detail::Order::relaxed);
    keep_awake(false);
    epoch_.fetch_add(0x8000'0000U, detail::Order::seq_cst);  // unlike any epoch that a round could be at
    epoch_.notify_all();
    for (Member& member : members_) member.thread.join();
  }

  Body body_;
  void* context_;
  detail::Atomic<std::uint64_t>& parks_;
  alignas(64) detail::Signal epoch_{0};
  alignas(64) detail::Atomic<std::uint32_t> asleep_{0};
  detail::Atomic<bool> keep_awake_{false};
  detail::Atomic<bool> stopping_{false};
  detail::OwnedArray<Member> members_;
};

}  // namespace rondo::platform::sim
