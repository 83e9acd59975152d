// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/sim/dynamic/region.hpp>
#include <rondo/platform/sim/task_slot.hpp>
#include <rondo/types.hpp>

#include <cstdint>

/// The parts of RegionMap.
namespace rondo::platform::sim::dynamic {

/// Exact division by a fixed number: a multiplication, where both fit into 32 bits.
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
  std::uint64_t inverse_ = 0;                ///< 2^64 / by_, rounded up; 0 where that is not used
  std::uint64_t ones_ = ~std::uint64_t{0};   ///< dividing by 1 takes all of n
  std::uint64_t limit_ = ~std::uint64_t{0};  ///< the most that this way divides
};

/// A link in a list of uses: the position in the map's store, from 1; 0 ends the list. Half a pointer.
using UseIndex = std::uint32_t;

/// The uses of one cell of a grid, or of a tensor as a whole. The last task that wrote exactly that is noted here and
/// not in the list, so that the next one finds it without another step. A note of a reclaimed task is stale.
struct Cell {
  std::uint64_t number = 0;  ///< of that task; 0: none
  std::uint64_t key = 0;     ///< which cell it wrote: many share a place
  TaskSlot* task = nullptr;  ///< where it was when it was noted
  UseIndex head[2] = {};     ///< readers; writers of something else
};

/// The uses of one tensor whose boxes have about the same extents. The tensor is divided into boxes of exactly these
/// extents, and a use lies in the cell of its lowest corner.
struct Grid {
  Divisor tile[max_rank];
  std::uint64_t pitch[max_rank] = {};  ///< how far apart neighbours in a dimension are numbered
  std::uint64_t base = 0;              ///< number of the first cell; no two grids share one
  std::uint64_t end = 0;               ///< the number after the last
  std::uint32_t count[2] = {};         ///< of uses: readers, writers
  UseIndex all[2] = {};
  std::uint32_t straddlers = 0;             ///< uses that reach into a further cell,
  std::uint32_t straddling[max_rank] = {};  ///< by dimension
  Grid* next = nullptr;
};

/// A tensor of the interface, or an intermediate. The members that adding a task reads come first.
struct alignas(64) TensorState {
  std::uint64_t serial = 0;
  Cell whole;  ///< uses of the whole tensor, or of boxes that fit no grid
  Grid* grids = nullptr;
  std::uint64_t scope = 0;  ///< serial of its scope
  std::uint32_t depth = 0;  ///< of its scope
  std::uint8_t rank = 0;
  Direction direction = Direction::workspace;
  bool on_ring = false;
  bool closed = false;  ///< its scope has ended

  std::uint64_t address = 0;
  std::uint64_t count = 0;
  std::uint64_t extents[max_rank] = {};
  std::uint32_t grid_count = 0;
  std::uint32_t element_bytes = 0;
  TensorState* next_free = nullptr;
  std::uint64_t heap_end = 0;   ///< position of the ring after it
  std::uint64_t until[4] = {};  ///< once closed: done when each window's tail has reached this
};

/// One task's use of one region.
struct alignas(64) RegionUse {
  /// The link that refers to it while it is in the list of a cell; else null.
  UseIndex* place = nullptr;
  /// The cell in which it is noted instead, as long as the note is its task's.
  Cell* noted = nullptr;
  TaskSlot* task = nullptr;
  Grid* grid = nullptr;            ///< of whose list it is an element; null if of none
  RegionUse* next_free = nullptr;  ///< the next use of the same task, while taken
  UseIndex next = 0;
  UseIndex grid_next = 0;
  UseIndex grid_previous = 0;
  bool writer = false;
  bool whole = false;
  std::uint8_t straddles = 0;  ///< a bit for each dimension in which it reaches into the next cell
  Box box{};
};

/// A use that a task is about to make of a region.
struct Touch {
  Touch() noexcept {}  // of arrays that are filled as far as they are needed
  Touch(TensorState* t, BoxView b, Access a) noexcept : tensor{t}, box{b}, access{a} {}

  TensorState* tensor;
  BoxView box;  ///< none: all of it
  Access access;
  /// Set by RegionMap::locate().
  struct Place {
    Grid* grid;          ///< null: none, it is found by its tensor
    std::uint64_t base;  ///< of the grid when it was located
    std::uint64_t key;
    Cell* cell;
    bool exact;  ///< is it this cell, or this tensor, and all of it?
  };
  Place at;
};

}  // namespace rondo::platform::sim::dynamic
