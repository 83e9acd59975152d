// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/concepts.hpp>

#include <cstdint>

namespace rondo::platform {

/// What stands for a queue where a platform has none (see HasQueue): a round runs while it is put together, and is over
/// when it is committed. It has one slot. A step that fails and leaves the platform usable fails the call; what poisons
/// is told by deliver().
///
/// Lifetime: the platform outlives it. Thread safety: as P. Cost: none; every call is P's.
template <Platform P>
class ImmediateQueue {
 public:
  explicit ImmediateQueue(P& platform) noexcept : platform_{platform} {}

  [[gnu::always_inline]] Status copy_in(std::uint32_t, DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    return outcome_.ok() ? kept(platform_.copy_in(to, from, size)) : Status{};
  }
  template <class Program>
  [[gnu::always_inline]] Status launch(std::uint32_t, Program& program) noexcept {
    has_launched_ = true;
    return outcome_.ok() ? kept(platform_.launch(program)) : Status{};
  }
  [[gnu::always_inline]] Status copy_out(std::uint32_t, void* to, DevicePtr<const std::byte> from,
                                         Bytes size) noexcept {
    return outcome_.ok() ? kept(platform_.copy_out(to, from, size)) : Status{};
  }
  Status commit(std::uint32_t slot) noexcept {
    const Status waited = platform_.wait();
    if (const Status status = outcome_.ok() ? kept(waited) : Status{}; !status) return status;
    return has_launched_ ? Status{} : deliver(slot);
  }
  [[nodiscard]] bool is_done(std::uint32_t) const noexcept { return true; }
  void await(std::uint32_t) const noexcept {}
  Status deliver(std::uint32_t) noexcept {
    const Status outcome = outcome_;
    outcome_ = {};
    has_launched_ = false;
    return outcome;
  }
  void cancel(std::uint32_t slot) noexcept {
    (void)platform_.wait();
    (void)deliver(slot);
  }
  Status close() noexcept { return {}; }

 private:
  Status kept(Status status) noexcept {
    if (!status.poisoned()) return status;
    outcome_ = status;
    return {};
  }

  P& platform_;
  Status outcome_;
  bool has_launched_ = false;
};

/// The platform's queue, or what stands for it. @throws Error what the platform's queue throws
template <Platform P>
[[nodiscard]] auto open_queue(P& platform, std::size_t slots, std::size_t outputs, Bytes bytes) {
  if constexpr (HasQueue<P>) {
    return platform.open_queue(slots, outputs, bytes);
  } else {
    return ImmediateQueue<P>(platform);
  }
}

}  // namespace rondo::platform
