// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::launch::detail {

/// A hash table of at most `capacity` nodes whose hashes the caller computes. Insertion allocates nothing, so it cannot
/// fail; no container of the standard library offers both. Open addressing with linear probing; at most half full.
/// Erasing moves later cells back, so that probe sequences stay short after any number of evictions (Knuth, The Art of
/// Computer Programming 3, 6.4, algorithm R).
template <class Node, std::size_t capacity>
class FlatTable {
  struct Cell {
    std::uint64_t hash;
    Node* node;  // nullptr: empty
  };

 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Returns the node with this hash for which `is_it(node)` is true, or nullptr.
  template <class IsIt>
  [[nodiscard, gnu::always_inline]] Node* find(std::uint64_t hash, IsIt is_it) const noexcept {
    const Cell* const cells = cells_.data();
    for (std::size_t i = hash & mask_; cells[i].node != nullptr; i = (i + 1) & mask_) {
      if (cells[i].hash == hash && is_it(*cells[i].node)) return cells[i].node;
    }
    return nullptr;
  }

  /// Precondition: the node is not in the table, which has fewer than `capacity`.
  void insert(std::uint64_t hash, Node& node) noexcept {
    place({hash, &node});
    ++size_;
  }

  void erase(std::uint64_t hash, const Node& node) noexcept {
    std::size_t hole = hash & mask_;
    while (cells_[hole].node != &node) hole = (hole + 1) & mask_;
    for (std::size_t i = (hole + 1) & mask_; cells_[i].node != nullptr; i = (i + 1) & mask_) {
      // A cell may move back into the hole unless the hole lies before its home position.
      const std::size_t from_home = (i - (cells_[i].hash & mask_)) & mask_;
      const std::size_t from_hole = (i - hole) & mask_;
      if (from_home < from_hole) continue;
      cells_[hole] = cells_[i];
      hole = i;
    }
    cells_[hole].node = nullptr;
    --size_;
  }

  /// Calls f(node) for each node, in no particular order; f may destroy the node.
  template <class F>
  void for_each(F f) const {
    for (const Cell& cell : cells_) {
      if (cell.node != nullptr) f(*cell.node);
    }
  }

  void clear() noexcept {
    for (Cell& cell : cells_) cell.node = nullptr;
    size_ = 0;
  }

 private:
  void place(Cell cell) noexcept {
    std::size_t i = cell.hash & mask_;
    while (cells_[i].node != nullptr) i = (i + 1) & mask_;
    cells_[i] = cell;
  }

  static constexpr std::size_t mask_ = std::bit_ceil(2 * capacity) - 1;  ///< the number of cells minus 1
  std::vector<Cell> cells_ = std::vector<Cell>(mask_ + 1);
  std::size_t size_ = 0;
};

}  // namespace rondo::launch::detail
