// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::platform::streams {

/// A range of a slot's staging, [begin, end), that is copied with one call, and its address on the device.
template <arch::Arch A>
struct StagedRun {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
  std::uint64_t device = 0;
  std::uint64_t padding = 0;  ///< bytes after the last tensor up to the next aligned address after its block
  std::byte* next = nullptr;  ///< the start of the free part of the slot's staging; null: all of it is free

  /// Returns room in the staging of `room` bytes for bytes that are copied to or from `to`: in this run if they follow
  /// it on the device, perhaps after a tensor's padding, otherwise in a new one. `flush()` copies the run so far. If
  /// staging has no room, flushes and returns null.
  template <class Flush>
  [[nodiscard]] std::byte* gather(std::byte* staging, std::uint64_t room, std::uint64_t to, std::uint64_t size,
                                  Flush flush) noexcept {
    if (next == nullptr) next = staging;
    std::uint64_t gap = to - device - static_cast<std::uint64_t>(end - begin);
    const bool is_aligned = to % A::tensor_alignment == 0;
    if (begin == nullptr || (gap != 0 && (gap > padding || !is_aligned))) {
      flush();
      *this = {next, next, to, 0, next};
      gap = 0;
    }
    if (gap + size > room - static_cast<std::uint64_t>(end - staging)) [[unlikely]] {
      flush();
      return nullptr;
    }
    end += gap;
    std::byte* const at = end;
    end += size;
    const std::uint64_t last = to + (is_aligned ? arch::block_bytes<A>(size) : size);
    padding = align_up(last, A::tensor_alignment) - (to + size);
    return at;
  }
};

}  // namespace rondo::platform::streams
