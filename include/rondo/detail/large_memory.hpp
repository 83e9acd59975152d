// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rondo::detail {

/// Uninitialised heap memory for objects that are visited in random order. From 4 MiB on it uses huge pages where the
/// system has them, because small pages would miss the TLB at each access. The standard library cannot allocate huge
/// pages.
class LargeMemory {
 public:
  /// @throws std::bad_alloc
  LargeMemory(std::size_t bytes, std::size_t alignment)
      : alignment_{bytes >= 2 * huge_page ? huge_page : alignment},
        data_{::operator new(bytes, std::align_val_t{alignment_})} {
#if defined(__linux__)
    if (alignment_ == huge_page) (void)madvise(data_, bytes, MADV_HUGEPAGE);
#endif
  }
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;
  ~LargeMemory() { ::operator delete(data_, std::align_val_t{alignment_}); }

  [[nodiscard]] void* data() const noexcept { return data_; }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;

  std::size_t alignment_;
  void* data_;
};

}  // namespace rondo::detail
