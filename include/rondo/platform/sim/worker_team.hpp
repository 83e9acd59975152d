// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/host/cores.hpp>
#include <rondo/platform/sim/signal.hpp>
#include <rondo/platform/sim/waiting.hpp>
#include <rondo/platform/start_thread.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace rondo::platform::sim {

/// The options of a team of threads.
struct TeamOptions {
  std::vector<std::uint32_t> cores = {};  ///< thread i, from 1 on, runs only on cores[i], if there is one
  SpinLimits spins = {};                  ///< for how long threads spin before they sleep
};

/// How the threads of teams sleep; several teams share one.
struct alignas(64) TeamSleep {
  std::atomic<std::uint64_t> parks{0};     ///< how often a thread went to sleep
  std::atomic<bool> is_kept_awake{false};  ///< whether threads spin from one epoch to the next and never sleep
};

/// Threads that repeat the same work each time the epoch changes. Between two epochs they spin, then sleep.
///
/// Thread safety: start() and the destructor from one thread. Cost of start(): one store and one load,
/// and a system call if a thread sleeps.
template <class Work>
class WorkerTeam {
 public:
  /// Starts `count` threads, numbered from 1, which call `work.work(worker, epoch)`; the caller is worker 0.
  /// @throws Error out_of_resources; invalid_argument if a core is not available
  WorkerTeam(std::size_t count, Work& work, TeamSleep& sleep, const TeamOptions& options)
      : work_{work}, sleep_{sleep}, spins_before_sleep_{options.spins.between_rounds} {
    threads_.reserve(count);
    try {
      for (std::size_t w = 1; w <= count; ++w) {
        threads_.push_back(start_thread([this, w]() noexcept { run(w); },
                                        Error::Text{"thread ", w, " of ", count}.c_str(), "; ask for fewer"));
        if (w < options.cores.size()) host::run_on(threads_.back(), options.cores, w);
      }
    } catch (...) {
      stop();
      throw;
    }
  }
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;
  ~WorkerTeam() { stop(); }

  /// Moves to `epoch`, which must differ from the current one, and wakes the threads that sleep.
  void start(std::uint32_t epoch) noexcept {
    epoch_.store(epoch, std::memory_order_seq_cst);  // model: team.start
    // Either this load sees the sleeper, or the sleeper's last load of the epoch sees the store: both are seq_cst.
    if (asleep_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      epoch_.notify_all();  // model: team.wake
  }

  [[nodiscard]] std::uint32_t epoch() const noexcept { return epoch_.load(std::memory_order_acquire); }

 private:
  void run(std::size_t worker) noexcept {
    for (std::uint32_t epoch = 0;;) {
      epoch = await_other_than(epoch);
      if (stopping_.load(std::memory_order_relaxed)) return;  // model: team.leave
      work_.work(worker, epoch);                              // model: team.work
    }
  }
  std::uint32_t await_other_than(std::uint32_t seen) noexcept {
    for (unsigned i = 0; i < spins_before_sleep_ || sleep_.is_kept_awake.load(std::memory_order_relaxed); ++i) {
      if (const std::uint32_t now = epoch_.load(std::memory_order_acquire); now != seen) return now;
      if (i < spins_before_sleep_) {
        pause();
      } else {
        std::this_thread::yield();  // after a long time, lets other programs use the core
      }
    }
    sleep_.parks.fetch_add(1, std::memory_order_relaxed);
    asleep_.fetch_add(1, std::memory_order_seq_cst);  // model: team.count
    // model: team.sleep
    while (epoch_.load(std::memory_order_seq_cst) == seen) epoch_.wait(seen, std::memory_order_seq_cst);
    asleep_.fetch_sub(1, std::memory_order_relaxed);  // model: team.awake
    return epoch_.load(std::memory_order_acquire);    // model: team.read
  }
  void stop() noexcept {
    stopping_.store(true, std::memory_order_relaxed);  // model: team.stop
    // model: team.end_epoch
    epoch_.fetch_add(0x8000'0000U, std::memory_order_seq_cst);  // differs from any epoch of a round
    epoch_.notify_all();                                        // model: team.wake_all
    for (std::thread& thread : threads_) thread.join();         // model: team.join
  }

  Work& work_;
  TeamSleep& sleep_;
  unsigned spins_before_sleep_;  ///< in pauses
  alignas(64) Signal epoch_{0};
  alignas(64) std::atomic<std::uint32_t> asleep_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

}  // namespace rondo::platform::sim
