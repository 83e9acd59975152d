// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <atomic>
#include <cstdint>
#include <exception>

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

/// The reason why a program stopped: the first kernel that threw, or a request from outside.
///
/// Thread safety: record() and request_stop() from any thread; status() and text() once the round is over.
class Halt {
 public:
  /// Keeps the text of the exception being handled, if it is the first.
  [[gnu::cold, gnu::noinline]] void record(std::uint32_t task) noexcept {
    if (cause_.exchange(Cause::kernel, std::memory_order_relaxed) == Cause::kernel) return;
    task_ = task;
    text_ = current_exception_text();
  }
  void request_stop() noexcept {
    Cause none = Cause::none;
    cause_.compare_exchange_strong(none, Cause::request, std::memory_order_relaxed);
  }

  /// Whether further tasks are skipped.
  [[nodiscard]] bool requested() const noexcept { return cause_.load(std::memory_order_relaxed) != Cause::none; }

  [[nodiscard]] Status status() const noexcept {
    switch (cause_.load(std::memory_order_relaxed)) {
      case Cause::none: break;
      case Cause::request: return Status{Errc::stopped}.poisoning();
      case Cause::kernel: return Status::of_task(Errc::kernel_failed, task_).poisoning();
    }
    return {};
  }
  [[nodiscard]] const Error::Text& text() const noexcept { return text_; }

 private:
  enum class Cause : std::uint8_t { none, request, kernel };
  std::atomic<Cause> cause_{Cause::none};
  std::uint32_t task_ = 0;
  Error::Text text_;
};

}  // namespace rondo::platform::sim
