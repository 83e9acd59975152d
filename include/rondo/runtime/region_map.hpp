// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/owned_array.hpp>
#include <rondo/platform/sim/task_slot.hpp>
#include <rondo/runtime/region.hpp>
#include <rondo/types.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

/// Which unfinished tasks touch which parts of which tensors. Belongs to the orchestrating thread alone.
namespace rondo::runtime::detail {

struct RegionUse;

/// A list that an element leaves in constant time without knowing which list it is in.
struct UseList {
  RegionUse* first = nullptr;
};

/// All uses of one tensor whose boxes have about the same extents. They are found by cell: the tensor is divided into
/// boxes of exactly these extents, and a use lies in the cell of its lowest corner.
struct Grid {
  std::uint64_t tile[max_rank] = {};
  std::uint64_t id = 0;
  std::uint32_t straddling[max_rank] = {};  ///< uses that reach into the next cell of that dimension
  std::uint32_t count[2] = {};
  UseList all[2];  ///< readers, writers
  Grid* next = nullptr;
};

/// A tensor that tasks may touch: one of the interface, or an intermediate. What adding a task looks at comes first.
struct alignas(64) TensorState {
  std::uint64_t address = 0;
  std::uint64_t count = 0;
  std::uint64_t serial = 0;
  std::uint64_t scope = 0;  ///< serial of its scope
  std::uint32_t depth = 0;  ///< of its scope
  std::uint8_t rank = 0;
  Direction direction = Direction::workspace;
  bool on_ring = false;
  bool closed = false;  ///< its scope has ended
  UseList whole[2];     ///< readers, writers of the whole tensor, or of boxes that fit no grid
  Grid* grids = nullptr;

  std::uint64_t extents[max_rank] = {};
  std::uint32_t grid_count = 0;
  std::uint32_t element_bytes = 0;
  TensorState* next_free = nullptr;
  std::uint64_t heap_end = 0;   ///< position of the ring behind it
  std::uint64_t until[4] = {};  ///< once closed: done when each window's tail has reached this
};

/// One task's use of one region.
struct alignas(64) RegionUse {
  RegionUse* next = nullptr;
  RegionUse** place = nullptr;  ///< what points to this one; null if it is in no list any more
  platform::sim::TaskSlot* task = nullptr;
  Grid* grid = nullptr;
  bool writer = false;
  bool whole = false;
  RegionUse* grid_next = nullptr;
  RegionUse** grid_place = nullptr;
  RegionUse* next_free = nullptr;  ///< the next use of the same task, while taken
  Box box{};
};

/// What a task is about to do to a region.
struct Touch {
  TensorState* tensor = nullptr;
  const Box* box = nullptr;  ///< null: all of it
  Access access = Access::read;
};

/// Finds the uses that overlap a region, in time that depends on how many do and not on how many there are: whole
/// tensors are one list each, boxes are hashed by tensor, shape and cell. Readers are kept apart from writers, so that
/// a tensor that many tasks read costs each of them nothing. A use leaves the map when a write covers it, when it is
/// met and its task is done, or when its task is reclaimed, whichever comes first.
///
/// Never misses an overlap; reports only overlaps (boxes of a tensor are compared exactly).
/// Cost: see bench/runtimes. Where a tensor is cut into boxes of more than 8 different extents at once, those beyond
/// are searched in a row.
class RegionMap {
 public:
  RegionMap(std::size_t uses, std::size_t grids)
      : uses_{uses}, grids_{grids}, buckets_(std::bit_ceil(uses)), shift_{64U - bits(buckets_.size())} {}

  [[nodiscard]] std::size_t room() const noexcept { return uses_.left(); }
  [[nodiscard]] std::size_t live() const noexcept { return uses_.taken(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return uses_.capacity(); }

  /// Calls `found(task)` for each unfinished task that must go before `touch`; one task may be found more than once.
  template <class F>
  void find(const Touch& touch, F&& found) noexcept {
    TensorState& tensor = *touch.tensor;
    const int from = writes(touch.access) ? 0 : 1;  // a read conflicts with writers only
    for (int writer = from; writer < 2; ++writer) {
      visit(tensor.whole[writer].first, writer == 1, tensor, touch, nullptr, found);
      for (Grid* grid = tensor.grids; grid != nullptr; grid = grid->next) {
        if (grid->count[writer] == 0) continue;
        Cells cells;
        if (touch.box == nullptr || !cells_of(tensor, *grid, *touch.box, grid->count[writer], cells)) {
          visit_grid(grid->all[writer].first, tensor, touch, found);
        } else {
          do {
            visit(bucket(*grid, cells.at, writer == 1, tensor.rank).first, writer == 1, tensor, touch, grid, found);
          } while (cells.advance(tensor.rank));
        }
      }
    }
  }

  /// Remembers a use. `head`: the task's list of uses. The caller has made sure that there is room().
  void insert(const Touch& touch, platform::sim::TaskSlot& task, RegionUse*& head) noexcept {
    RegionUse& use = *uses_.take();
    TensorState& tensor = *touch.tensor;
    use.next_free = head;
    head = &use;
    use.task = &task;
    use.writer = writes(touch.access);
    use.whole = touch.box == nullptr;
    use.grid = nullptr;
    if (touch.box != nullptr) {
      for (std::size_t d = 0; d < tensor.rank; ++d) {
        use.box.low[d] = touch.box->low[d];
        use.box.extent[d] = touch.box->extent[d];
      }
      use.grid = grid_for(tensor, use.box);
    }
    if (use.grid == nullptr) {
      hang_in(tensor.whole[use.writer ? 1 : 0], use);
      return;
    }
    Grid& grid = *use.grid;
    std::uint64_t cell[max_rank];
    for (std::size_t d = 0; d < tensor.rank; ++d) {
      cell[d] = use.box.low[d] / grid.tile[d];
      grid.straddling[d] += straddles(use, d) ? 1 : 0;
    }
    ++grid.count[use.writer ? 1 : 0];
    hang_in(bucket(grid, cell, use.writer, tensor.rank), use);
    UseList& all = grid.all[use.writer ? 1 : 0];
    use.grid_next = all.first;
    use.grid_place = &all.first;
    if (all.first != nullptr) all.first->grid_place = &use.grid_next;
    all.first = &use;
  }

  /// Gives back all uses of a task.
  void forget(RegionUse* head) noexcept {
    while (head != nullptr) {
      RegionUse& use = *head;
      head = use.next_free;
      unhang(use);
      uses_.give_back(use);
    }
  }

  /// The tensor goes; no use of it is left.
  void drop_grids(TensorState& tensor) noexcept {
    while (tensor.grids != nullptr) {
      Grid* const grid = tensor.grids;
      tensor.grids = grid->next;
      grids_.give_back(*grid);
    }
    tensor.grid_count = 0;
  }

 private:
  static constexpr std::uint32_t most_grids = 8;

  static constexpr unsigned bits(std::size_t power) noexcept { return static_cast<unsigned>(std::countr_zero(power)); }

  /// Cells to look into, counted up like an odometer.
  struct Cells {
    std::uint64_t first[max_rank];
    std::uint64_t last[max_rank];
    std::uint64_t at[max_rank];
    bool advance(std::size_t rank) noexcept {
      for (std::size_t d = rank; d-- > 0;) {
        if (++at[d] <= last[d]) return true;
        at[d] = first[d];
      }
      return false;
    }
  };
  /// False if looking at all uses of the grid is cheaper.
  static bool cells_of(const TensorState& tensor, const Grid& grid, const Box& box, std::uint64_t limit,
                       Cells& cells) noexcept {
    std::uint64_t number = 1;
    for (std::size_t d = 0; d < tensor.rank; ++d) {
      const std::uint64_t tile = grid.tile[d];
      std::uint64_t first = box.low[d] / tile;
      const std::uint64_t last = box.extent[d] == 1 ? first : (box.low[d] + box.extent[d] - 1) / tile;
      if (grid.straddling[d] != 0 && first != 0) --first;
      cells.first[d] = cells.at[d] = first;
      cells.last[d] = last;
      if (last - first >= limit) return false;
      number *= last - first + 1;
      if (number > limit) return false;
    }
    return true;
  }

  [[nodiscard]] static bool straddles(const RegionUse& use, std::size_t d) noexcept {
    const std::uint64_t tile = use.grid->tile[d];
    return use.box.low[d] % tile + use.box.extent[d] > tile;
  }

  [[nodiscard]] UseList& bucket(const Grid& grid, const std::uint64_t* cell, bool writer, std::size_t rank) noexcept {
    std::uint64_t hash = grid.id * 2 + (writer ? 1 : 0);
    for (std::size_t d = 0; d < rank; ++d) hash = (hash + cell[d]) * 0x9E37'79B9'7F4A'7C15U;  // 2^64 / golden ratio
    return buckets_[hash >> shift_];
  }

  template <class F>
  void visit(RegionUse* use, bool writer, const TensorState& tensor, const Touch& touch, const Grid* grid,
             F& found) noexcept {
    while (use != nullptr) {
      RegionUse& here = *use;
      use = here.next;
      // A bucket may hold uses of other cells, grids and kinds.
      if (here.grid == grid && here.writer == writer && meets(here, tensor, touch)) settle(here, tensor, touch, found);
    }
  }
  template <class F>
  void visit_grid(RegionUse* use, const TensorState& tensor, const Touch& touch, F& found) noexcept {
    while (use != nullptr) {
      RegionUse& here = *use;
      use = here.grid_next;
      if (meets(here, tensor, touch)) settle(here, tensor, touch, found);
    }
  }
  [[nodiscard]] static bool meets(const RegionUse& use, const TensorState& tensor, const Touch& touch) noexcept {
    return use.whole || touch.box == nullptr || overlap(use.box, *touch.box, tensor.rank);
  }
  template <class F>
  void settle(RegionUse& use, const TensorState& tensor, const Touch& touch, F& found) noexcept {
    if (use.task->done()) {
      unhang(use);
      return;
    }
    found(*use.task);
    // Whoever conflicts with the covered use conflicts with the task that covers it, and that one waits for it.
    if (writes(touch.access) && (touch.box == nullptr || (!use.whole && covers(*touch.box, use.box, tensor.rank)))) {
      unhang(use);
    }
  }

  static void hang_in(UseList& list, RegionUse& use) noexcept {
    use.next = list.first;
    use.place = &list.first;
    if (list.first != nullptr) list.first->place = &use.next;
    list.first = &use;
  }
  static void unhang(RegionUse& use) noexcept {
    if (use.place == nullptr) return;
    *use.place = use.next;
    if (use.next != nullptr) use.next->place = use.place;
    use.place = nullptr;
    if (use.grid == nullptr) return;
    *use.grid_place = use.grid_next;
    if (use.grid_next != nullptr) use.grid_next->grid_place = use.grid_place;
    --use.grid->count[use.writer ? 1 : 0];
    for (std::size_t d = 0; d < max_rank; ++d) {
      if (use.grid->tile[d] != 0 && straddles(use, d)) --use.grid->straddling[d];
    }
  }

  /// The grid of these extents; or one that is a little coarser; or a new one; null if the tensor has enough.
  [[nodiscard]] Grid* grid_for(TensorState& tensor, const Box& box) noexcept {
    Grid* coarser = nullptr;
    Grid* unused = nullptr;
    for (Grid* grid = tensor.grids; grid != nullptr; grid = grid->next) {
      bool same = true;
      bool fits = true;
      for (std::size_t d = 0; d < tensor.rank; ++d) {
        same &= grid->tile[d] == box.extent[d];
        fits &= grid->tile[d] >= box.extent[d] && grid->tile[d] / 4 < box.extent[d];
      }
      if (same) return grid;
      if (grid->count[0] + grid->count[1] == 0) {
        unused = grid;
      } else if (fits) {
        coarser = grid;
      }
    }
    if (coarser != nullptr) return coarser;
    if (unused == nullptr && tensor.grid_count < most_grids) {
      unused = grids_.take();
      if (unused != nullptr) {
        *unused = {};
        unused->next = tensor.grids;
        tensor.grids = unused;
        ++tensor.grid_count;
      }
    }
    if (unused != nullptr) {
      unused->id = ++last_grid_;
      for (std::size_t d = 0; d < tensor.rank; ++d) unused->tile[d] = box.extent[d];
    }
    return unused;
  }

  platform::sim::Recycler<RegionUse, &RegionUse::next_free> uses_;
  platform::sim::Recycler<Grid, &Grid::next> grids_;
  rondo::detail::OwnedArray<UseList> buckets_;
  unsigned shift_;
  std::uint64_t last_grid_ = 0;
};

}  // namespace rondo::runtime::detail
