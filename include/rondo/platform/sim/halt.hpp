// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

namespace rondo::platform::sim {

/// The text of the exception being handled.
[[gnu::cold, gnu::noinline]] inline Error::Text current_exception_text() noexcept {
  try {
    throw;
  } catch (const std::exception& e) {
    return Error::Text(e.what());
  } catch (...) {
    return Error::Text("an exception that is no std::exception");
  }
}

/// The reason why a program stopped: the first kernel that threw, or a request from outside. Where rounds overlap, the
/// first kernel is that of the earliest round, and rounds before it go on.
///
/// Thread safety: record() and request_stop() from any thread; status() and text() once the round is over.
class Halt {
 public:
  /// Keeps the text of the exception being handled, if no round before this one, or the same, has one.
  [[gnu::cold, gnu::noinline]] void record(std::uint32_t task, std::uint32_t round = 0) noexcept {
    const std::lock_guard lock(mutex_);
    const bool is_first = cause_.load(std::memory_order_relaxed) != Cause::kernel;
    if (!is_first && !is_before(round, round_.load(std::memory_order_relaxed))) return;
    task_ = task;
    text_ = current_exception_text();
    round_.store(round, std::memory_order_relaxed);
    cause_.store(Cause::kernel, std::memory_order_release);
  }
  void request_stop() noexcept {
    Cause none = Cause::none;
    cause_.compare_exchange_strong(none, Cause::request, std::memory_order_relaxed);
  }

  /// Whether further tasks are skipped.
  [[nodiscard]] bool requested() const noexcept { return cause_.load(std::memory_order_relaxed) != Cause::none; }
  /// Whether further tasks of this round are skipped.
  [[nodiscard, gnu::cold]] bool skips(std::uint32_t round) const noexcept {
    const Cause cause = cause_.load(std::memory_order_acquire);
    return cause == Cause::request ||
           (cause == Cause::kernel && !is_before(round, round_.load(std::memory_order_relaxed)));
  }

  [[nodiscard]] Status status() const noexcept {
    switch (cause_.load(std::memory_order_relaxed)) {
      case Cause::none: break;
      case Cause::request: return Status{Errc::stopped}.poisoning();
      case Cause::kernel: return Status::of_task(Errc::kernel_failed, task_).poisoning();
    }
    return {};
  }
  /// The status of a round that is over; those after the one that failed are poisoned.
  [[nodiscard]] Status status_of(std::uint32_t round) noexcept {
    if (!requested()) [[likely]]
      return {};
    const std::lock_guard lock(mutex_);
    const std::uint32_t failed = round_.load(std::memory_order_relaxed);
    if (cause_.load(std::memory_order_relaxed) == Cause::request || round == failed) return status();
    return is_before(round, failed) ? Status{} : Status{Errc::poisoned}.poisoning();
  }
  [[nodiscard]] const Error::Text& text() const noexcept { return text_; }

 private:
  enum class Cause : std::uint8_t { none, request, kernel };
  [[nodiscard]] static bool is_before(std::uint32_t a, std::uint32_t b) noexcept {
    return static_cast<std::int32_t>(a - b) < 0;
  }

  std::atomic<Cause> cause_{Cause::none};
  std::atomic<std::uint32_t> round_{0};  ///< that the task is of
  std::uint32_t task_ = 0;
  std::mutex mutex_;
  Error::Text text_;
};

}  // namespace rondo::platform::sim
