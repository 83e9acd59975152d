// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/large_memory.hpp>
#include <rondo/platform/sim/dynamic/region.hpp>
#include <rondo/platform/sim/task_slot.hpp>
#include <rondo/types.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

/// The parts of RegionMap.
namespace rondo::platform::sim::dynamic {

/// Exact division by a fixed number: a multiplication if both operands fit into 32 bits.
class Divisor {
 public:
  constexpr Divisor() noexcept = default;
  explicit constexpr Divisor(std::uint64_t by) noexcept
      : by_{by},
        inverse_{by > 1 && by <= most ? ~std::uint64_t{0} / by + 1 : 0},
        ones_{by == 1 ? ~std::uint64_t{0} : 0},
        limit_{by == 1      ? ~std::uint64_t{0}
               : by <= most ? most
                            : 0} {}
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return by_; }
  /// n / value(). Lemire, Kaser, Kurz: "Faster remainder by direct computation", 2019, theorem 1.
  [[nodiscard]] constexpr std::uint64_t divide(std::uint64_t n) const noexcept {
    if (n > limit_) [[unlikely]]
      return n / by_;
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{inverse_} * n >> 64) + (n & ones_);
  }

 private:
  static constexpr std::uint64_t most = 0xFFFF'FFFF;
  std::uint64_t by_ = 1;
  std::uint64_t inverse_ = 0;                ///< 2^64 / by_, rounded up; 0 if not used
  std::uint64_t ones_ = ~std::uint64_t{0};   ///< a mask that returns n itself when dividing by 1
  std::uint64_t limit_ = ~std::uint64_t{0};  ///< the largest n for which the multiplication is exact
};

/// A link in a list of uses: the position in the map's store, from 1; 0 ends the list. Half a pointer.
using UseIndex = std::uint32_t;

/// The uses of one cell of a grid, or of a tensor as a whole. The last task that wrote exactly the cell is stored here
/// instead of in the list, so that it is found in one step. The entry of a reclaimed task is stale.
struct Cell {
  std::uint64_t number = 0;  ///< the number of that task; 0: none
  std::uint64_t key = 0;     ///< the cell that it wrote: several cells share an entry
  TaskSlot* task = nullptr;  ///< its slot at that time
  UseIndex head[2] = {};     ///< readers; writers of other boxes
};

/// The uses of one tensor whose boxes have about the same extents. The tensor is divided into boxes of exactly these
/// extents, and a use lies in the cell of its lowest corner.
struct Grid {
  Divisor tile[max_rank];
  std::uint64_t pitch[max_rank] = {};  ///< the difference between the numbers of neighbouring cells
  std::uint64_t base = 0;              ///< the number of the first cell; unique to each grid
  std::uint64_t end = 0;               ///< one after the number of the last cell
  std::uint32_t count[2] = {};         ///< the number of uses: readers, writers
  UseIndex all[2] = {};
  std::uint32_t straddlers = 0;             ///< uses that extend into a neighbouring cell
  std::uint32_t straddling[max_rank] = {};  ///< the same for each dimension
  Grid* next = nullptr;
};

/// A tensor of the interface, or an intermediate. The first members are those that adding a task reads.
struct alignas(64) TensorState {
  std::uint64_t serial = 0;
  Cell whole;  ///< uses of the whole tensor, or of boxes that fit no grid
  Grid* grids = nullptr;
  std::uint64_t scope = 0;  ///< the serial number of its scope
  std::uint32_t depth = 0;  ///< the depth of its scope
  std::uint8_t rank = 0;
  Direction direction = Direction::workspace;
  bool on_ring = false;
  bool closed = false;  ///< whether its scope has ended

  std::uint64_t address = 0;
  std::uint64_t count = 0;
  std::uint64_t extents[max_rank] = {};
  std::uint32_t grid_count = 0;
  std::uint32_t element_bytes = 0;
  std::uint64_t heap_end = 0;   ///< the position in the ring after its memory
  std::uint64_t until[4] = {};  ///< once closed: free when the tail of each window has reached this
};

/// One task's use of one region.
struct alignas(64) RegionUse {
  /// The link that refers to this use while it is in a cell's list; otherwise null.
  UseIndex* place = nullptr;
  /// The cell that stores it instead, as long as the cell's entry is its task's.
  Cell* noted = nullptr;
  TaskSlot* task = nullptr;
  Grid* grid = nullptr;            ///< the grid whose list holds it; null: none
  RegionUse* next_free = nullptr;  ///< the next free use; while it is taken, the task's next use
  UseIndex next = 0;
  UseIndex grid_next = 0;
  UseIndex grid_previous = 0;
  bool writer = false;
  bool whole = false;
  std::uint8_t straddles = 0;  ///< one bit for each dimension in which it extends into the next cell
  Box box{};
};

/// A use that a task is about to make of a region.
struct Touch {
  Touch() noexcept {}  // NOLINT(modernize-use-equals-default): arrays of them are filled only as needed
  Touch(TensorState* t, BoxView b, Access a) noexcept : tensor{t}, box{b}, access{a} {}

  TensorState* tensor;
  BoxView box;  ///< none: the whole tensor
  Access access;
  /// Set by RegionMap::locate().
  struct Place {
    Grid* grid;          ///< null: found by the tensor
    std::uint64_t base;  ///< the grid's base when the use was located
    std::uint64_t key;
    Cell* cell;
    bool exact;  ///< whether the use is exactly this cell, or the whole tensor
  };
  Place at;
};

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
