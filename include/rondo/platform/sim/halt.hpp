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
/// kernel is that of the earliest round, and earlier rounds continue, unless a stop was requested before.
///
/// Thread safety: record(), skips() and request_stop() from any thread; status() and text() after the round is over.
class Halt {
 public:
  /// Stores the text of the exception being handled, unless this round or an earlier one has stored one.
  [[gnu::cold, gnu::noinline]] void record(std::uint32_t task, std::uint32_t round = 0) noexcept {
    const std::lock_guard lock(mutex_);
    Cause cause = cause_.load(std::memory_order_relaxed);         // model: halt.cause
    if (has_kernel(cause) && !is_before(round, failed_)) return;  // model: halt.keep_earliest
    task_ = task;
    if (!take_exception(round)) return;
    failed_ = round;
    // A stop request may arrive at the same time.
    // model: halt.exchange
    while (!cause_.compare_exchange_weak(cause, has_request(cause) ? Cause::both : Cause::kernel,
                                         std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  void request_stop() noexcept {
    Cause none = Cause::none;
    cause_.compare_exchange_strong(none, Cause::request, std::memory_order_relaxed);  // model: halt.request
  }

  /// Whether tasks are to be skipped.
  // model: halt.requested
  [[nodiscard]] bool requested() const noexcept { return cause_.load(std::memory_order_relaxed) != Cause::none; }
  /// Whether a stop was requested.
  [[nodiscard]] bool is_stop_requested() const noexcept { return has_request(cause_.load(std::memory_order_relaxed)); }
  /// Whether a task of this round is to be skipped; it would be the next to run.
  [[nodiscard, gnu::cold]] bool skips(std::uint32_t round) noexcept {
    const std::lock_guard lock(mutex_);
    const Cause cause = cause_.load(std::memory_order_relaxed);
    if (has_kernel(cause) && !is_before(round, failed_)) return true;  // model: halt.skip_failed
    if (!has_request(cause)) return false;
    if (!has_stopped_ || is_before(round, stopped_)) stopped_ = round;  // model: halt.skip_requested
    has_stopped_ = true;
    return true;
  }

  [[nodiscard]] Status status() const noexcept {
    switch (cause_.load(std::memory_order_relaxed)) {
      case Cause::none: break;
      case Cause::request: return Status{Errc::stopped}.poisoning();
      case Cause::kernel:
      case Cause::both: return Status::of_task(Errc::kernel_failed, task_).poisoning();
    }
    return {};
  }
  /// The status of a round that is over: ok if all its tasks ran; rounds after the first one that failed or was stopped
  /// are poisoned.
  [[nodiscard]] Status status_of(std::uint32_t round) noexcept {
    if (!requested()) [[likely]]
      return {};
    const std::lock_guard lock(mutex_);
    const bool fails = has_kernel(cause_.load(std::memory_order_relaxed));
    const bool after_failed = fails && is_before(failed_, round);  // model: halt.status
    const bool after_stopped = has_stopped_ && is_before(stopped_, round);
    if (after_failed || after_stopped) return Status{Errc::poisoned}.poisoning();
    if (fails && round == failed_) return status();
    return has_stopped_ && round == stopped_ ? Status{Errc::stopped}.poisoning() : Status{};
  }
  [[nodiscard]] const Error::Text& text() const noexcept { return text_; }

 private:
  enum class Cause : std::uint8_t { none, request, kernel, both };

  /// Stores the task and the text of the exception being handled. Returns false for a loop that a request has stopped.
  [[nodiscard]] bool take_exception(std::uint32_t round) noexcept {
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
      text_ = current_exception_text();
    }
    return true;
  }
  [[nodiscard]] static bool has_kernel(Cause cause) noexcept { return cause == Cause::kernel || cause == Cause::both; }
  [[nodiscard]] static bool has_request(Cause cause) noexcept {
    return cause == Cause::request || cause == Cause::both;
  }
  [[nodiscard]] static bool is_before(std::uint32_t a, std::uint32_t b) noexcept {
    return static_cast<std::int32_t>(a - b) < 0;
  }

  std::atomic<Cause> cause_{Cause::none};
  std::mutex mutex_;
  std::uint32_t task_ = 0;
  std::uint32_t failed_ = 0;   ///< the round of the failed task
  std::uint32_t stopped_ = 0;  ///< the first round in which a request skipped tasks, if there is one
  bool has_stopped_ = false;
  Error::Text text_;
};

}  // namespace rondo::platform::sim
