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

/// The cells of all grids, by number; several cells may share a place. Up to 4096 cells in a row lie together, so that
/// tiles that are visited in turn are in memory that is visited in turn. Such groups take their memory in the order of
/// their first use, so that those in use are in few pages. Never gives memory back. Cost: a look at a small table, and
/// the cell; a group's first use writes all of it.
class CellTable {
 public:
  /// @throws std::bad_alloc
  explicit CellTable(std::size_t uses)
      : bits_{static_cast<unsigned>(std::bit_width(uses < 4 ? std::size_t{3} : uses - 1))},
        group_bits_{bits_ - 1 < most_group_bits ? bits_ - 1 : most_group_bits},
        groups_(std::size_t{1} << (bits_ - group_bits_)),
        block_{capacity() * sizeof(Cell), alignof(Cell)} {}

  [[nodiscard]] std::size_t capacity() const noexcept { return std::size_t{1} << bits_; }

  /// The place of a cell in its group is hashed, too, so that cells a power of two apart do not pile up.
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
  std::vector<Cell*> groups_;  ///< by hash; null: not used yet
  std::size_t open_ = 0;       ///< groups that are used
  rondo::detail::LargeMemory block_;
};

}  // namespace rondo::platform::sim::dynamic
