// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <utility>

namespace rondo::memory {

/// One allocation on a platform, released once.
/// Lifetime: the platform outlives it. Errors: the constructor throws what P::allocate throws.
template <class P>
class Arena {
 public:
  /// An arena of size 0 allocates nothing.
  Arena(P& platform, Bytes size, Bytes alignment)
      : platform_{platform},
        base_{size.value == 0 ? DevicePtr<std::byte>{} : platform.allocate(size, alignment)},
        size_{size} {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { (void)release(); }  // to get the status, call release() first

  [[nodiscard]] DevicePtr<std::byte> base() const noexcept { return base_; }
  [[nodiscard]] Bytes size() const noexcept { return size_; }

  Status release() noexcept { return base_ ? platform_.release(std::exchange(base_, {})) : Status{}; }

 private:
  P& platform_;
  DevicePtr<std::byte> base_;
  Bytes size_;
};

}  // namespace rondo::memory
