// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace rondo {

/// A submitted round, or the reason why it was refused. It never expires: the session returns its outcome at any time.
class [[nodiscard]] RoundTicket {
 public:
  constexpr RoundTicket() noexcept = default;
  constexpr RoundTicket(std::uint64_t number, Status submitted) noexcept : number_{number}, submitted_{submitted} {}

  /// The reason why the round was refused; ok if it was submitted. The session's wait() returns its outcome.
  [[nodiscard]] constexpr Status submitted() const noexcept { return submitted_; }
  constexpr explicit operator bool() const noexcept { return submitted_.ok(); }
  /// A number that is unique within the process, for a round that was submitted; 0 for one that was refused.
  [[nodiscard]] constexpr std::uint64_t number() const noexcept { return number_; }

 private:
  std::uint64_t number_ = 0;
  Status submitted_{Errc::invalid_argument};
};

namespace detail {

/// The completion of a round, stored in place: a callable of at most `capacity` bytes, called once.
class OnDone {
 public:
  static constexpr std::size_t capacity = 48;
  /// That of completions which contain a caller's.
  static constexpr std::size_t capacity_around = capacity + 32;

  OnDone() noexcept = default;
  OnDone(const OnDone&) = delete;
  OnDone& operator=(const OnDone&) = delete;
  ~OnDone() { clear(); }

  template <std::size_t most = capacity, class F>
  void set(F&& f) noexcept {
    using Stored = std::decay_t<F>;
    static_assert(std::is_nothrow_invocable_v<Stored&, Status>,
                  "rondo: the completion of a round takes its Status and does not throw; write "
                  "`[&](rondo::Status status) noexcept { ... }`");
    static_assert(sizeof(Stored) <= most && alignof(Stored) <= alignof(std::max_align_t),
                  "rondo: the completion of a round holds more than 48 bytes, and rounds do not allocate; "
                  "capture a reference to what it needs");
    static_assert(std::is_nothrow_constructible_v<Stored, F>,
                  "rondo: copying the completion of a round may throw; capture by reference, or move it in");
    static_assert(std::is_nothrow_move_constructible_v<Stored>,
                  "rondo: moving the completion of a round may throw; capture by reference");
    ::new (static_cast<void*>(storage_)) Stored(std::forward<F>(f));
    use_ = [](void* stored, const Status* status) noexcept {
      Stored callable(std::move(*static_cast<Stored*>(stored)));
      static_cast<Stored*>(stored)->~Stored();
      if (status != nullptr) (void)callable(*status);
    };
  }
  /// Calls the completion, if any. It is cleared first, because the call may submit a round with its own completion.
  void call(Status status) noexcept {
    if (use_ != nullptr) std::exchange(use_, nullptr)(storage_, &status);
  }
  void clear() noexcept {
    if (use_ != nullptr) std::exchange(use_, nullptr)(storage_, nullptr);
  }

 private:
  alignas(std::max_align_t) std::byte storage_[capacity_around];
  void (*use_)(void* stored, const Status* status) noexcept = nullptr;
};

}  // namespace detail
}  // namespace rondo
