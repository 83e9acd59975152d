// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace rondo::memory {

/// A platform that is one of several over one device lends the arena in which all of them place their tensors:
/// `DevicePtr<std::byte> borrow_arena(Bytes size, Bytes alignment)`. A borrowed arena is not released.
template <class P>
concept LendsArena = requires(P& platform, Bytes size) {
  { platform.borrow_arena(size, size) } -> std::same_as<DevicePtr<std::byte>>;
};

/// The purpose of an arena.
enum class ArenaUse : std::uint8_t { tensors, args };

/// One allocation on a platform, released once.
/// Lifetime: the platform outlives it. Errors: the constructor throws what P::allocate throws.
template <class P, ArenaUse use = ArenaUse::args>
class Arena {
  static constexpr bool is_lent = use == ArenaUse::tensors && LendsArena<P>;

 public:
  /// An arena of size 0 allocates nothing; a borrowed arena has an address even then.
  Arena(P& platform, Bytes size, Bytes alignment)
      : platform_{platform},
        base_{size.value == 0 && !is_lent ? DevicePtr<std::byte>{} : allocate(platform, size, alignment)},
        size_{size} {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { (void)release(); }  // to get the status, call release() first

  [[nodiscard]] DevicePtr<std::byte> base() const noexcept { return base_; }
  [[nodiscard]] Bytes size() const noexcept { return size_; }

  Status release() noexcept {
    if (!base_) return {};
    const DevicePtr<std::byte> block = base_;
    base_ = {};
    if constexpr (is_lent) {
      return {};
    } else {
      return platform_.release(block);
    }
  }

 private:
  static DevicePtr<std::byte> allocate(P& platform, Bytes size, Bytes alignment) {
    if constexpr (is_lent) {
      return platform.borrow_arena(size, alignment);
    } else {
      return platform.allocate(size, alignment);
    }
  }

  P& platform_;
  DevicePtr<std::byte> base_;
  Bytes size_;
};

}  // namespace rondo::memory
