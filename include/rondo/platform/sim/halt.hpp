// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/rare_code.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace rondo::platform::sim {

using graph::current_exception_text;

/// The reason why a program stopped: the first kernel that threw, or a stop request. If rounds overlap, the first
/// kernel is that of the earliest round, and earlier rounds continue unless a stop is requested.
///
/// Thread safety: record(), skips() and request_stop() from any thread; status() and text() after the round is over.
class Halt {
 public:
  /// Stores the text of the exception being handled, unless this round or an earlier one has stored one.
  [[gnu::cold, gnu::noinline]] void record(std::uint32_t task, std::uint32_t round = 0) noexcept {
    const std::lock_guard lock(mutex_);
    if (has(kernel) && !is_before(round, failed_)) return;  // model: halt.keep_earliest
    if (!take_exception(task, round)) return;
    failed_ = round;
    causes_.fetch_or(kernel, std::memory_order_release);  // model: halt.add_kernel
  }
  /// Also ends loops that still run after a kernel threw elsewhere.
  void request_stop() noexcept { causes_.fetch_or(request, std::memory_order_relaxed); }  // model: halt.request

  /// Whether tasks are to be skipped.
  // model: halt.requested
  [[nodiscard]] bool requested() const noexcept { return causes_.load(std::memory_order_relaxed) != 0; }
  /// Whether a stop was requested.
  [[nodiscard]] bool is_stop_requested() const noexcept { return has(request); }
  /// Whether a task of this round is to be skipped; it would be the next to run.
  [[nodiscard, gnu::cold]] bool skips(std::uint32_t round) noexcept {
    const std::lock_guard lock(mutex_);
    if (has(kernel) && !is_before(round, failed_)) return true;  // model: halt.skip_failed
    if (!has(request)) return false;
    if (!has_stopped_ || is_before(round, stopped_)) stopped_ = round;  // model: halt.skip_requested
    has_stopped_ = true;
    return true;
  }

  [[nodiscard]] Status status() const noexcept {
    if (!requested()) return {};
    return has(kernel) ? Status::of_task(Errc::kernel_failed, task_).poisoning() : Status{Errc::stopped}.poisoning();
  }
  /// The status of a round that is over: ok if all its tasks ran; rounds after the first one that failed or was stopped
  /// are poisoned.
  [[nodiscard]] Status status_of(std::uint32_t round) noexcept {
    if (!requested()) [[likely]]
      return {};
    const std::lock_guard lock(mutex_);
    const bool fails = has(kernel);
    const bool after_failed = fails && is_before(failed_, round);  // model: halt.status
    const bool after_stopped = has_stopped_ && is_before(stopped_, round);
    if (after_failed || after_stopped) return Status{Errc::poisoned}.poisoning();
    if (fails && round == failed_) return status();
    return has_stopped_ && round == stopped_ ? Status{Errc::stopped}.poisoning() : Status{};
  }
  [[nodiscard]] const Error::Text& text() const noexcept { return text_; }

 private:
  static constexpr std::uint8_t request = 1;
  static constexpr std::uint8_t kernel = 2;

  /// Stores the task and the text of the exception being handled. Returns false for a loop that a request has stopped.
  [[nodiscard]] bool take_exception(std::uint32_t task, std::uint32_t round) noexcept {
    try {
      throw;
    } catch (const graph::StoppedInLoop&) {
      if (!has_stopped_ || is_before(round, stopped_)) stopped_ = round;
      has_stopped_ = true;
      return false;
    } catch (const graph::LoopFailure& failure) {
      task_ = failure.task;
      text_ = failure.text;
    } catch (...) {
      task_ = task;
      text_ = current_exception_text();
    }
    return true;
  }
  [[nodiscard]] bool has(std::uint8_t cause) const noexcept {
    return (causes_.load(std::memory_order_relaxed) & cause) != 0;
  }
  [[nodiscard]] static bool is_before(std::uint32_t a, std::uint32_t b) noexcept {
    return static_cast<std::int32_t>(a - b) < 0;
  }

  std::atomic<std::uint8_t> causes_{0};  ///< request, kernel, or both
  std::mutex mutex_;
  std::uint32_t task_ = 0;
  std::uint32_t failed_ = 0;   ///< the round of the failed task
  std::uint32_t stopped_ = 0;  ///< the first round in which a request skipped tasks, if there is one
  bool has_stopped_ = false;
  Error::Text text_;
};

}  // namespace rondo::platform::sim
