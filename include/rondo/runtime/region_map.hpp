// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/large_memory.hpp>
#include <rondo/platform/sim/task_slot.hpp>
#include <rondo/runtime/region.hpp>
#include <rondo/types.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

/// Which unfinished tasks touch which parts of which tensors. Belongs to the orchestrating thread alone.
namespace rondo::runtime::detail {

struct RegionUse;

/// A list that an element leaves in constant time without knowing which list it is in.
struct UseList {
  RegionUse* first = nullptr;
};
/// Who reads and who writes, side by side: a write asks for both.
struct UseLists {
  UseList of[2];  ///< readers, writers
};

/// Exact division by a number that stays: a multiplication, where both fit into 32 bits.
class Divisor {
 public:
  constexpr Divisor() noexcept = default;
  explicit constexpr Divisor(std::uint64_t by) noexcept
      : by_{by}, inverse_{by > 1 && by <= most ? ~std::uint64_t{0} / by + 1 : 0} {}
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return by_; }
  /// n / value(). Lemire, Kaser, Kurz: "Faster remainder by direct computation", 2019, theorem 1.
  [[nodiscard]] constexpr std::uint64_t divide(std::uint64_t n) const noexcept {
    if (by_ == 1) return n;
    if (n > most || by_ > most) [[unlikely]]
      return n / by_;
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{inverse_} * n >> 64);
  }

 private:
  static constexpr std::uint64_t most = 0xFFFF'FFFF;
  std::uint64_t by_ = 1;
  std::uint64_t inverse_ = 0;  ///< 2^64 / by_, rounded up
};

/// All uses of one tensor whose boxes have about the same extents. They are found by cell: the tensor is divided into
/// boxes of exactly these extents, and a use lies in the cell of its lowest corner.
struct Grid {
  Divisor tile[max_rank];
  std::uint64_t id = 0;
  std::uint32_t straddling[max_rank] = {};  ///< uses that reach into the next cell of that dimension
  std::uint32_t count[2] = {};
  UseLists all;
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
  UseLists whole;       ///< uses of the whole tensor, or of boxes that fit no grid
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
  std::uint8_t straddles = 0;  ///< a bit for each dimension in which it reaches into the next cell
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
      : uses_{uses},
        grids_{grids},
        block_{std::bit_ceil(uses) * sizeof(UseLists), alignof(UseLists)},
        buckets_{static_cast<UseLists*>(block_.data())},
        shift_{64U - static_cast<unsigned>(std::countr_zero(std::bit_ceil(uses)))} {
    for (std::size_t b = 0; b < std::bit_ceil(uses); ++b) new (buckets_ + b) UseLists();
  }

  [[nodiscard]] std::size_t room() const noexcept { return uses_.left(); }
  [[nodiscard]] std::size_t live() const noexcept { return uses_.taken(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return uses_.capacity(); }

  /// Calls `found(task)` for each unfinished task that must go before `touch`; one task may be found more than once.
  template <class F>
  void find(const Touch& touch, F&& found) noexcept {
    TensorState& tensor = *touch.tensor;
    const int from = writes(touch.access) ? 0 : 1;  // a read conflicts with writers only
    for (int writer = from; writer < 2; ++writer) {
      visit(tensor.whole.of[writer].first, tensor, touch, nullptr, found);
    }
    for (Grid* grid = tensor.grids; grid != nullptr; grid = grid->next) {
      const std::uint64_t uses = grid->count[1] + (from == 0 ? grid->count[0] : 0);
      if (uses == 0) continue;
      Cells cells;
      if (touch.box == nullptr || !cells_of(tensor, *grid, *touch.box, uses, cells)) {
        for (int writer = from; writer < 2; ++writer) visit_grid(grid->all.of[writer].first, tensor, touch, found);
        continue;
      }
      do {
        const UseLists& lists = bucket(*grid, cells.at, tensor.rank);
        for (int writer = from; writer < 2; ++writer) visit(lists.of[writer].first, tensor, touch, grid, found);
      } while (cells.advance(tensor.rank));
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
        use.box.sides[d] = touch.box->sides[d];
      }
      use.grid = grid_for(tensor, use.box);
    }
    const int kind = use.writer ? 1 : 0;
    if (use.grid == nullptr) {
      hang_in(tensor.whole.of[kind], use);
      return;
    }
    Grid& grid = *use.grid;
    std::uint64_t cell[max_rank];
    use.straddles = 0;
    for (std::size_t d = 0; d < tensor.rank; ++d) {
      const Box::Side& side = use.box.sides[d];
      cell[d] = grid.tile[d].divide(side.low);
      if (side.low + side.extent > (cell[d] + 1) * grid.tile[d].value()) {
        use.straddles = static_cast<std::uint8_t>(use.straddles | 1U << d);
        ++grid.straddling[d];
      }
    }
    ++grid.count[kind];
    hang_in(bucket(grid, cell, tensor.rank).of[kind], use);
    UseList& all = grid.all.of[kind];
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
      const Box::Side& side = box.sides[d];
      std::uint64_t first = grid.tile[d].divide(side.low);
      const std::uint64_t last = side.extent == 1 ? first : grid.tile[d].divide(side.low + side.extent - 1);
      if (grid.straddling[d] != 0 && first != 0) --first;
      cells.first[d] = cells.at[d] = first;
      cells.last[d] = last;
      if (last - first >= limit) return false;
      number *= last - first + 1;
      if (number > limit) return false;
    }
    return true;
  }

  [[nodiscard]] UseLists& bucket(const Grid& grid, const std::uint64_t* cell, std::size_t rank) noexcept {
    std::uint64_t hash = grid.id;
    for (std::size_t d = 0; d < rank; ++d) hash = (hash + cell[d]) * 0x9E37'79B9'7F4A'7C15U;  // 2^64 / golden ratio
    return buckets_[hash >> shift_];
  }

  template <class F>
  void visit(RegionUse* use, const TensorState& tensor, const Touch& touch, const Grid* grid, F& found) noexcept {
    while (use != nullptr) {
      RegionUse& here = *use;
      use = here.next;
      // A bucket may hold uses of other cells and grids.
      if (here.grid == grid && meets(here, tensor, touch)) settle(here, tensor, touch, found);
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
    for (std::size_t d = 0; use.straddles >> d != 0; ++d) use.grid->straddling[d] -= use.straddles >> d & 1U;
  }

  /// The grid of these extents; or one that is a little coarser; or a new one; null if the tensor has enough.
  [[nodiscard]] Grid* grid_for(TensorState& tensor, const Box& box) noexcept {
    Grid* coarser = nullptr;
    Grid* unused = nullptr;
    for (Grid* grid = tensor.grids; grid != nullptr; grid = grid->next) {
      bool same = true;
      bool fits = true;
      for (std::size_t d = 0; d < tensor.rank; ++d) {
        const std::uint64_t tile = grid->tile[d].value();
        const std::uint64_t extent = box.sides[d].extent;
        same &= tile == extent;
        fits &= tile >= extent && tile / 4 < extent;
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
      for (std::size_t d = 0; d < tensor.rank; ++d) unused->tile[d] = Divisor(box.sides[d].extent);
    }
    return unused;
  }

  platform::sim::Recycler<RegionUse, &RegionUse::next_free> uses_;
  platform::sim::Recycler<Grid, &Grid::next> grids_;
  rondo::detail::LargeMemory block_;
  UseLists* buckets_;  ///< a power of two of them
  unsigned shift_;
  std::uint64_t last_grid_ = 0;
};

}  // namespace rondo::runtime::detail
