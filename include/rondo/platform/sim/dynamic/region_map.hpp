// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/sim/dynamic/region.hpp>
#include <rondo/platform/sim/dynamic/region_use.hpp>
#include <rondo/platform/sim/task_slot.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

/// The unfinished tasks that use each part of each tensor. Only the orchestrating thread uses the map.
namespace rondo::platform::sim::dynamic {

/// Finds exactly the uses that overlap a region, in time that depends only on their number: the uses of whole tensors
/// are one list each; boxes are found by tensor, shape and cell. Readers are kept apart from writers, so that a tensor
/// that many tasks read adds no cost for each of them. A use leaves the map when a write covers it, when a lookup finds
/// that its task is done, or when its task is reclaimed, whichever comes first.
///
/// Cost: for a region whose last write had the same box, one cache line of the map, and one of the task that wrote it;
/// see bench/runtimes. In a tensor with boxes of more than 8 different extents, the further ones are searched linearly.
class RegionMap {
 public:
  RegionMap(std::size_t uses, std::size_t grids) : uses_{uses}, grids_{grids}, cells_{uses} {}

  [[nodiscard]] std::size_t room() const noexcept { return uses_.left(); }
  [[nodiscard]] std::size_t live() const noexcept { return uses_.taken(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return uses_.capacity(); }

  /// Sets the frontier: all tasks with lower numbers are reclaimed.
  void set_frontier(std::uint64_t number) noexcept { frontier_ = number; }

  /// Locates the uses of this kind; to be called before find() and insert().
  void locate(Touch& touch) noexcept {
    TensorState& tensor = *touch.tensor;
    if (!touch.box) {
      touch.at = {nullptr, 0, 0, &tensor.whole, true};
      return;
    }
    Grid* grid = tensor.grids;
    if (grid == nullptr || !is_of(*grid, touch.box, tensor.rank)) [[unlikely]]
      grid = choose_grid(tensor, touch.box);
    if (grid == nullptr) {
      touch.at = {nullptr, 0, 0, &tensor.whole, false};
      return;
    }
    std::uint64_t key = grid->base;
    std::uint64_t off = 0;
    for (std::size_t d = 0; d < tensor.rank; ++d) {
      const std::uint64_t low = touch.box.low[d];
      const std::uint64_t tile = grid->tile[d].value();
      const std::uint64_t cell = grid->tile[d].divide(low);
      off |= (cell * tile ^ low) | (tile ^ touch.box.extents[d]);
      key += cell * grid->pitch[d];
    }
    Cell& here = cells_.at(key);
    __builtin_prefetch(&here, 1);
    touch.at = {grid, grid->base, key, &here, off == 0};
  }

  /// Calls `found(task, number)` for each task that must precede `touch`, perhaps more than once. The task may be done
  /// already, or its slot may belong to a task with another number.
  template <class F>
  void find(const Touch& touch, F&& found) noexcept {
    TensorState& tensor = *touch.tensor;
    const int from = writes(touch.access) ? 0 : 1;  // a read conflicts with writers only
    visit_cell(tensor.whole, 0, true, !touch.box, touch, nullptr, found);
    for (Grid* grid = tensor.grids; grid != nullptr; grid = grid->next) {
      const std::uint64_t uses = grid->count[1] + (from == 0 ? grid->count[0] : 0);
      if (uses == 0) continue;
      if (grid == touch.at.grid && touch.at.exact && grid->straddlers == 0) {  // all overlapping uses are in its cell
        visit_cell(*touch.at.cell, touch.at.key, true, true, touch, grid, found);
        continue;
      }
      visit_many(*grid, uses, from, touch, found);
    }
  }

  /// Records a use. `head`: the task's list of uses. Precondition: there is room(). If an earlier insert() reassigned
  /// the grid to boxes of other extents, the touch is located again.
  void insert(Touch& touch, TaskSlot& task, RegionUse*& head) noexcept {
    if (touch.at.grid != nullptr && touch.at.grid->base != touch.at.base) [[unlikely]]
      locate(touch);
    const Touch::Place& at = touch.at;
    const bool writer = writes(touch.access);
    const bool noted = writer && at.exact && !is_noted(*at.cell);
    if (noted) {
      at.cell->number = task.number;
      at.cell->key = at.key;
      at.cell->task = &task;
      if (at.grid == nullptr) return;
    }
    RegionUse& use = *uses_.take();
    const UseIndex index = static_cast<UseIndex>(uses_.index_of(use)) + 1;
    TensorState& tensor = *touch.tensor;
    use.next_free = head;
    head = &use;
    use.task = &task;
    use.writer = writer;
    use.whole = !touch.box;
    use.noted = noted ? at.cell : nullptr;
    use.grid = at.grid;
    const int kind = writer ? 1 : 0;
    if (!noted) insert_first(at.cell->head[kind], use, index);
    if (!touch.box) return;
    if (!noted) {  // the box of a noted use follows from its cell
      for (std::size_t d = 0; d < tensor.rank; ++d) use.box.sides[d] = touch.box.side(d);
    }
    if (at.grid == nullptr) return;
    Grid& grid = *at.grid;
    use.straddles = 0;
    if (!at.exact) note_straddling(grid, use, tensor.rank);
    ++grid.count[kind];
    use.grid_next = grid.all[kind];
    use.grid_previous = 0;
    if (use.grid_next != 0) use_at(use.grid_next).grid_previous = index;
    grid.all[kind] = index;
  }

  void forget(RegionUse* head) noexcept {
    while (head != nullptr) {
      RegionUse& use = *head;
      head = use.next_free;
      leave_list(use);
      remove_from_grid(use);
      uses_.give_back(use);
    }
  }

  /// Releases the grids of a tensor without uses.
  void drop_grids(TensorState& tensor) noexcept {
    while (tensor.grids != nullptr) {
      Grid* const grid = tensor.grids;
      tensor.grids = grid->next;
      grids_.give_back(*grid);
    }
    tensor.grid_count = 0;
  }

  /// Resets the numbering of cells between rounds, when no use is left, to the first cell that no grid has, so that
  /// similar rounds use the same memory. `kept`: the tensors that stay. Costs nothing after a round without new grids.
  void rewind(std::span<TensorState> kept) noexcept {
    if (next_base_ == rewound_to_) return;
    next_base_ = 0;
    for (const TensorState& tensor : kept) {
      for (const Grid* grid = tensor.grids; grid != nullptr; grid = grid->next) {
        if (grid->end > next_base_) next_base_ = grid->end;
      }
    }
    if (next_base_ > cells_.capacity()) {
      for (TensorState& tensor : kept) drop_grids(tensor);
      next_base_ = 0;
    }
    rewound_to_ = next_base_;
  }

 private:
  static constexpr std::uint32_t most_grids = 8;

  /// The cells to visit, counted like an odometer.
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
  /// Determines the cells to visit. Returns false if visiting all uses of the grid is cheaper.
  static bool cells_of(const TensorState& tensor, const Grid& grid, const BoxView& box, std::uint64_t limit,
                       Cells& cells) noexcept {
    std::uint64_t number = 1;
    for (std::size_t d = 0; d < tensor.rank; ++d) {
      const Box::Side side = box.side(d);
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

  [[nodiscard]] RegionUse& use_at(UseIndex index) noexcept { return uses_.at(index - 1); }

  /// Whether the cell notes an unfinished task.
  [[nodiscard]] bool is_noted(const Cell& cell) const noexcept {
    return cell.number >= frontier_ && cell.task->number == cell.number && !cell.task->done();
  }

  /// Visits all cells of the grid that may overlap a box.
  template <class F>
  [[gnu::noinline]] void visit_many(Grid& grid, std::uint64_t uses, int from, const Touch& touch, F& found) noexcept {
    const TensorState& tensor = *touch.tensor;
    Cells cells;
    if (!touch.box || !cells_of(tensor, grid, touch.box, uses, cells)) {
      for (int writer = from; writer < 2; ++writer) visit_grid(grid, writer, tensor, touch, found);
      return;
    }
    do {
      Box box;
      std::uint64_t key = grid.base;
      for (std::size_t d = 0; d < tensor.rank; ++d) {
        const std::uint64_t extent = grid.tile[d].value();
        box.sides[d] = {cells.at[d] * extent, extent};
        key += cells.at[d] * grid.pitch[d];
      }
      visit_cell(cells_.at(key), key, overlap(box, touch.box, tensor.rank), covers(touch.box, box, tensor.rank), touch,
                 &grid, found);
    } while (cells.advance(tensor.rank));
  }
  /// Visits a cell. `is_met`, `is_covered`: whether the touch overlaps it or covers it. Its lists may hold uses of
  /// other cells and grids.
  template <class F>
  [[gnu::always_inline]] void visit_cell(Cell& cell, std::uint64_t key, bool is_met, bool is_covered,
                                         const Touch& touch, const Grid* grid, F& found) noexcept {
    const bool writer = writes(touch.access);
    if (cell.number >= frontier_ && cell.key == key) {
      if (is_met) {
        found(*cell.task, cell.number);
        if (is_covered && writer) cell.number = 0;
      }
    }
    if (writer && cell.head[0] != 0) visit_list(cell.head[0], touch, grid, found);
    if (cell.head[1] != 0) visit_list(cell.head[1], touch, grid, found);
  }
  template <class F>
  [[gnu::noinline]] void visit_list(UseIndex index, const Touch& touch, const Grid* grid, F& found) noexcept {
    while (index != 0) {
      RegionUse& use = use_at(index);
      index = use.next;
      if (use.grid != grid || !meets(use, *touch.tensor, touch)) continue;
      if (!must_wait(use, *touch.tensor, touch, found)) leave_list(use);
    }
  }
  template <class F>
  void visit_grid(Grid& grid, int writer, const TensorState& tensor, const Touch& touch, F& found) noexcept {
    for (UseIndex index = grid.all[writer]; index != 0;) {
      RegionUse& use = use_at(index);
      index = use.grid_next;
      const bool is_there = use.noted != nullptr ? use.noted->number == use.task->number : use.place != nullptr;
      if (is_there) {
        if (use.noted != nullptr) use.box = box_of(grid, use.noted->key, tensor.rank);
        if (!meets(use, tensor, touch) || must_wait(use, tensor, touch, found)) continue;
        if (use.noted != nullptr) use.noted->number = 0;
        leave_list(use);
      }
      remove_from_grid(use);
    }
  }
  [[nodiscard]] static Box box_of(const Grid& grid, std::uint64_t key, std::size_t rank) noexcept {
    Box box{};
    std::uint64_t rest = key - grid.base;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::uint64_t extent = grid.tile[d].value();
      box.sides[d] = {rest / grid.pitch[d] * extent, extent};
      rest %= grid.pitch[d];
    }
    return box;
  }
  [[nodiscard]] static bool meets(const RegionUse& use, const TensorState& tensor, const Touch& touch) noexcept {
    return use.whole || !touch.box || overlap(use.box, touch.box, tensor.rank);
  }
  /// Reports the use; returns false if it no longer matters because its task is done or the touch covers it. A task
  /// that conflicts with a covered use also conflicts with the covering task, which waits for the use.
  template <class F>
  [[nodiscard]] static bool must_wait(RegionUse& use, const TensorState& tensor, const Touch& touch,
                                      F& found) noexcept {
    if (use.task->done()) return false;
    found(*use.task, use.task->number);
    return !writes(touch.access) || (touch.box && (use.whole || !covers(touch.box, use.box, tensor.rank)));
  }

  void insert_first(UseIndex& head, RegionUse& use, UseIndex index) noexcept {
    use.next = head;
    use.place = &head;
    if (head != 0) use_at(head).place = &use.next;
    head = index;
  }
  void leave_list(RegionUse& use) noexcept {
    if (use.noted != nullptr || use.place == nullptr) return;
    *use.place = use.next;
    if (use.next != 0) use_at(use.next).place = use.place;
    use.place = nullptr;
  }
  /// Takes a use out of its cell but leaves it in its grid's list until a walk finds it there or its task is reclaimed,
  /// because its neighbours in the list are in the cache then.
  void remove_from_grid(RegionUse& use) noexcept {
    if (use.grid == nullptr) return;
    Grid& grid = *use.grid;
    const int kind = use.writer ? 1 : 0;
    (use.grid_previous != 0 ? use_at(use.grid_previous).grid_next : grid.all[kind]) = use.grid_next;
    if (use.grid_next != 0) use_at(use.grid_next).grid_previous = use.grid_previous;
    --grid.count[kind];
    if (use.straddles != 0) --grid.straddlers;
    for (std::size_t d = 0; use.straddles >> d != 0; ++d) grid.straddling[d] -= use.straddles >> d & 1U;
    use.grid = nullptr;
  }

  static void note_straddling(Grid& grid, RegionUse& use, std::size_t rank) noexcept {
    for (std::size_t d = 0; d < rank; ++d) {
      const Box::Side& side = use.box.sides[d];
      const Divisor& tile = grid.tile[d];
      if (side.low + side.extent <= (tile.divide(side.low) + 1) * tile.value()) continue;
      use.straddles = static_cast<std::uint8_t>(use.straddles | 1U << d);
      ++grid.straddling[d];
    }
    if (use.straddles != 0) ++grid.straddlers;
  }

  [[nodiscard]] static bool is_of(const Grid& grid, const BoxView& box, std::size_t rank) noexcept {
    for (std::size_t d = 0; d < rank; ++d) {
      if (grid.tile[d].value() != box.extents[d]) return false;
    }
    return true;
  }
  /// Returns the grid for these extents, a slightly coarser one, or a new one; null if the tensor has too many.
  [[nodiscard, gnu::noinline]] Grid* choose_grid(TensorState& tensor, const BoxView& box) noexcept {
    Grid* coarser = nullptr;
    Grid* unused = nullptr;
    for (Grid* grid = tensor.grids; grid != nullptr; grid = grid->next) {
      if (is_of(*grid, box, tensor.rank)) return grid;
      bool fits = true;
      for (std::size_t d = 0; d < tensor.rank; ++d) {
        const std::uint64_t tile = grid->tile[d].value();
        fits &= tile >= box.extents[d] && tile / 4 < box.extents[d];
      }
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
      unused->base = next_base_;
      std::uint64_t pitch = 1;
      for (std::size_t d = tensor.rank; d-- > 0;) {
        unused->tile[d] = Divisor(box.extents[d]);
        unused->pitch[d] = pitch;
        pitch *= (tensor.extents[d] + box.extents[d] - 1) / box.extents[d];
      }
      next_base_ += pitch;
      unused->end = next_base_;
    }
    return unused;
  }

  Recycler<RegionUse> uses_;
  Recycler<Grid> grids_;
  CellTable cells_;
  std::uint64_t frontier_ = 1;
  std::uint64_t next_base_ = 0;
  std::uint64_t rewound_to_ = 0;  ///< `next_base_` at the start of the round
};

}  // namespace rondo::platform::sim::dynamic
