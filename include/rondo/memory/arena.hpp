// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/concepts.hpp>

#include <cstddef>

namespace rondo::memory {

/// One allocation on a platform, given back once.
/// Lifetime: the platform outlives it. Errors: the constructor throws what P::allocate throws.
template <Platform P>
class Arena {
 public:
  /// An arena of size 0 allocates nothing.
  Arena(P& platform, Bytes size, Bytes alignment)
      : platform_{platform},
        base_{size.value == 0 ? DevicePtr<std::byte>{} : platform.allocate(size, alignment)},
        size_{size} {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { (void)release(); }  // whoever wants the status calls release() first

  [[nodiscard]] DevicePtr<std::byte> base() const noexcept { return base_; }
  [[nodiscard]] Bytes size() const noexcept { return size_; }

  /// Gives the memory back; later calls do nothing.
  Status release() noexcept {
    if (!base_) return {};
    const DevicePtr<std::byte> block = base_;
    base_ = {};
    return platform_.release(block);
  }

 private:
  P& platform_;
  DevicePtr<std::byte> base_;
  Bytes size_;
};

}  // namespace rondo::memory
