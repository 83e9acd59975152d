// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/large_memory.hpp>
#include <rondo/platform/sim/dynamic/region_use.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace rondo::platform::sim::dynamic {

/// The cells of all grids, by number; several cells may share an entry. Up to 4096 consecutive cells are adjacent in
/// memory, so visiting consecutive tiles visits consecutive memory. Each such group gets memory at its first use, so
/// the groups in use take few pages. Memory is never freed. Cost: a lookup in a small table, and an access to the cell;
/// a group's first use writes all of the group.
class CellTable {
 public:
  /// @throws std::bad_alloc
  explicit CellTable(std::size_t uses)
      : bits_{static_cast<unsigned>(std::bit_width(uses < 4 ? std::size_t{3} : uses - 1))},
        group_bits_{bits_ - 1 < most_group_bits ? bits_ - 1 : most_group_bits},
        groups_(std::size_t{1} << (bits_ - group_bits_)),
        block_{capacity() * sizeof(Cell), alignof(Cell)} {}

  [[nodiscard]] std::size_t capacity() const noexcept { return std::size_t{1} << bits_; }

  /// Returns a cell. Its place in its group is hashed, too, so that cells a power of two apart do not collide.
  [[nodiscard]] Cell& at(std::uint64_t key) noexcept {
    const std::uint64_t hash = (key >> group_bits_) * 0x9E37'79B9'7F4A'7C15U;  // 2^64 / golden ratio
    Cell*& group = groups_[hash >> (64U - bits_ + group_bits_)];
    if (group == nullptr) [[unlikely]]
      group = open_group();
    return group[(key + (hash >> 20U)) & ((std::uint64_t{1} << group_bits_) - 1)];
  }

 private:
  static constexpr unsigned most_group_bits = 12;

  [[nodiscard, gnu::noinline, gnu::cold]] Cell* open_group() noexcept {
    const std::size_t size = std::size_t{1} << group_bits_;
    Cell* const group = static_cast<Cell*>(block_.data()) + open_++ * size;
    for (std::size_t c = 0; c < size; ++c) new (group + c) Cell();
    return group;
  }

  unsigned bits_;
  unsigned group_bits_;
  std::vector<Cell*> groups_;  ///< by hash; null: unused
  std::size_t open_ = 0;       ///< the number of groups in use
  rondo::detail::LargeMemory block_;
};

}  // namespace rondo::platform::sim::dynamic
