// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/bounded.hpp>
#include <rondo/platform/onboard/runtime.hpp>
#include <rondo/platform/start_thread.hpp>

#include <semaphore.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace rondo::platform::onboard {

/// A thread's wait for a stream, as the watcher sees it. The watcher ends a wait that exceeds its limit by aborting the
/// stream. The runtime's own limit is not enough: when it has passed, the runtime asks the device for its state, and
/// waits for the answer without a limit.
class Wait {
 public:
  Wait(const Calls& calls, std::uint32_t device, std::int32_t limit_ms) noexcept
      : calls_{calls}, device_{static_cast<std::int32_t>(device)}, limit_ms_{limit_ms} {}

  /// The thread waits for the stream from now on. Cost: two stores.
  void begins(Stream stream) noexcept {
    stream_.store(stream, std::memory_order_relaxed);                 // model: watch.stream
    state_.store(++turn_ << 2 | waiting, std::memory_order_release);  // model: watch.begins
  }
  /// The thread waits no longer. @returns whether the stream was aborted; then the abort has returned, so the stream
  /// may be destroyed, or period_ms() have passed. Cost: one exchange
  [[nodiscard]] bool ends() noexcept {
    // model: watch.ends
    const bool was_aborted = (state_.exchange(turn_ << 2, std::memory_order_acq_rel) & aborted) != 0;
    if (was_aborted) [[unlikely]] {
      const std::lock_guard until_it_has_returned{aborting_};
    }
    return was_aborted;
  }

  /// The time between two looks of the watcher.
  [[nodiscard]] std::int64_t period_ms() const noexcept { return std::max(1, limit_ms_ / 8); }
  /// Aborts the stream if the wait exceeds its limit. Called only by the watcher.
  void look(std::int64_t now_ms) noexcept {
    std::uint64_t state = state_.load(std::memory_order_acquire);  // model: watch.look
    if (state != seen_) {
      seen_ = state;
      since_ms_ = now_ms;
    }
    // model: watch.late
    if ((state & (waiting | aborted)) != waiting || now_ms - since_ms_ < limit_ms_) return;
    const std::lock_guard lock{aborting_};
    // This is the stream of the wait if the exchange below succeeds.
    Stream const stream = stream_.load(std::memory_order_relaxed);  // model: watch.load
    // model: watch.mark
    if (!state_.compare_exchange_strong(state, state | aborted, std::memory_order_acq_rel)) return;
    // The runtime releases the threads that wait for the stream before it tells the device, which may never answer.
    (void)bounded(period_ms(), [set = calls_.set_device, reset = calls_.reset_device, abort = calls_.abort_stream,
                                device = device_, stream] {
      AclError code = set(device);
      if (code == code_ok) code = abort(stream);
      (void)reset(device);
      return code;
    });
  }

 private:
  static constexpr std::uint64_t waiting = 1;
  static constexpr std::uint64_t aborted = 2;

  const Calls& calls_;
  std::int32_t device_;
  std::int32_t limit_ms_;
  std::uint64_t turn_ = 0;  ///< used only by the thread that waits
  std::mutex aborting_;     ///< held by the watcher while it aborts the stream
  std::atomic<Stream> stream_{nullptr};
  std::atomic<std::uint64_t> state_{0};  ///< the turn, and the two bits
  std::uint64_t seen_ = 0;               ///< used only by the watcher
  std::int64_t since_ms_ = 0;            ///< used only by the watcher
};

/// Watches all waits of the process on one thread, which runs while there are waits.
///
/// Thread safety: any thread. Lifetime: until the process ends.
class Watcher {
 public:
  static Watcher& instance() {
    static Watcher& watcher = *new Watcher;  // never destroyed, since sessions may outlive other statics
    return watcher;
  }

  /// Starts to watch a wait. @throws std::bad_alloc; Error out_of_resources
  void add(std::shared_ptr<Wait> wait) {
    const std::lock_guard starting{starting_};
    {
      const std::lock_guard lock{mutex_};
      waits_.push_back(std::move(wait));
    }
    if (thread_.joinable() && runs_in_ == getpid()) {
      (void)sem_post(&changed_);
      return;
    }
    if (thread_.joinable()) thread_.detach();  // it belongs to the process from which this one was forked
    try {
      thread_ = start_thread([this]() noexcept { run(); }, "the thread that ends waits which take too long");
      runs_in_ = getpid();
    } catch (...) {
      waits_.pop_back();
      throw;
    }
  }
  /// Stops watching a wait. The removal of the last one ends the thread before this returns.
  void remove(const Wait* wait) noexcept {
    const std::lock_guard starting{starting_};
    {
      const std::lock_guard lock{mutex_};
      std::erase_if(waits_, [&](const std::shared_ptr<Wait>& each) { return each.get() == wait; });
      if (!waits_.empty() || !thread_.joinable()) return;
    }
    if (runs_in_ != getpid()) return thread_.detach();
    (void)sem_post(&changed_);
    thread_.join();
  }

 private:
  Watcher() noexcept { (void)sem_init(&changed_, 0, 0); }

  /// Looks at one wait after the other. A wait that takes the place of one that is removed meanwhile has its turn at
  /// the next look. Does not allocate, since nobody hears of a failure here.
  void run() noexcept {
    for (;;) {
      timespec now{};
      (void)clock_gettime(CLOCK_MONOTONIC, &now);
      std::int64_t pause_ms = INT64_MAX;
      for (std::size_t n = 0; const std::shared_ptr<Wait> wait = at(n); ++n) {
        wait->look(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
        pause_ms = std::min(pause_ms, wait->period_ms());
      }
      if (pause_ms == INT64_MAX) return;
      sleep(pause_ms);
    }
  }
  [[nodiscard]] std::shared_ptr<Wait> at(std::size_t n) noexcept {
    const std::lock_guard lock{mutex_};
    return n < waits_.size() ? waits_[n] : nullptr;
  }
  /// Sleeps for `ms` milliseconds, or until a wait is added or removed.
  void sleep(std::int64_t ms) noexcept {
    timespec until{};
    (void)clock_gettime(CLOCK_REALTIME, &until);
    const std::int64_t ns = until.tv_nsec + ms % 1000 * 1'000'000;
    until.tv_sec += ms / 1000 + ns / 1'000'000'000;
    until.tv_nsec = ns % 1'000'000'000;
    (void)sem_timedwait(&changed_, &until);
  }

  std::mutex starting_;  ///< held while the thread is started or ended
  std::mutex mutex_;     ///< guards waits_
  sem_t changed_{};
  std::vector<std::shared_ptr<Wait>> waits_;
  std::thread thread_;
  pid_t runs_in_ = 0;  ///< the process that thread_ belongs to
};

}  // namespace rondo::platform::onboard
