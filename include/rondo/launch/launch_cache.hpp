// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/launch/shape_key.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo::launch {

/// The capacity of a LaunchCache, which evicts the least recently used entry.
template <std::size_t Capacity>
struct Lru {
  static_assert(Capacity > 0, "rondo: the capacity of a cache must be at least 1");
  static constexpr std::size_t capacity = Capacity;
};

/// Does not count lookups.
struct NoCounts {};

/// Counts lookups.
struct Counts {
  std::uint64_t hits_on_last = 0;   ///< rounds of the same shapes as the previous round
  std::uint64_t hits_in_table = 0;  ///< rounds of other shapes in the cache
  std::uint64_t misses = 0;         ///< rounds of new shapes
  std::uint64_t evictions = 0;      ///< entries removed to make room
};

/// Maps the shapes of a round to the entry that holds what its launch needs. The last entry found is compared first;
/// otherwise the hash of the key finds it in a flat table. Full keys are compared in either case.
///
/// Lifetime: entries have stable addresses until evicted. The next entry reuses an evicted one's memory, so a full
/// cache allocates no more. Thread safety: none; a cache belongs to one session. Errors: a key with too many words is
/// never found, and insert() refuses it. Cost on the hot path: a hit takes no allocation, lock or system call.
/// With the construction of the key, one tensor of rank 4 takes about 3 ns for the last entry and 12 ns for another of
/// 256; sixteen tensors take 25 and 70 ns. insert() allocates until the cache is full.
///
///     LaunchCache<LaunchEntry, Lru<100>> cache{words_of_a_key};
///     Entry* entry = cache.find(key);
///     if (entry == nullptr) entry = &cache.insert(key, [&] { return plan(graph, shapes); });
template <class Entry, class Capacity = Lru<100>, class Count = NoCounts>
class LaunchCache {
 public:
  /// Creates a cache for keys of at most `most_words` words.
  explicit LaunchCache(std::size_t most_words) : most_words_{most_words} {}
  LaunchCache(const LaunchCache&) = delete;
  LaunchCache& operator=(const LaunchCache&) = delete;
  ~LaunchCache() {
    clear();
    give_back(spare_);
  }

  [[nodiscard, gnu::always_inline]] Entry* find(KeyView key) noexcept {
    Entry* const last = find_last(key);
    return last != nullptr ? last : find_in_table(key);
  }
  /// Returns the entry that was found last if it has this key; otherwise nullptr: call find_in_table() then.
  [[nodiscard, gnu::always_inline]] Entry* find_last(KeyView key) noexcept {
    if (key.size() == last_size_ && same_words(key.data(), last_->words(), key.size())) {
      if constexpr (counts_lookups) ++count_.hits_on_last;
      return &last_->entry;
    }
    return nullptr;
  }
  /// Returns the entry with this key, or nullptr, without comparing the last entry first. Not inlined, so that callers
  /// that try the last entry first need not save registers.
  [[nodiscard, gnu::noinline]] Entry* find_in_table(KeyView key) noexcept {
    if (Node* const node = look_up(hash_of(key.data(), key.size()), key)) {
      if constexpr (counts_lookups) ++count_.hits_in_table;
      return &use(*node);
    }
    if constexpr (counts_lookups) ++count_.misses;
    return nullptr;
  }
  void forget_last() noexcept {
    last_ = nullptr;
    last_size_ = SIZE_MAX;
  }

  /// Returns the entry with this key; if there is none, builds one in place from the result of `make()`. In a full
  /// cache the least recently used entry is destroyed afterwards. `make` must not use this cache. @throws Error if the
  /// key has too many words; std::bad_alloc; and as make() does. Nothing has changed then.
  template <std::invocable Make>
    requires std::same_as<std::invoke_result_t<Make&>, Entry>
  Entry& insert(KeyView key, Make&& make) {
    if (key.size() > most_words_) refuse(key.size());
    const std::uint64_t hash = hash_of(key.data(), key.size());
    if (Node* const known = look_up(hash, key)) return use(*known);

    Node* const victim = size_ < Capacity::capacity ? nullptr : static_cast<Node*>(ends_.newer);  // the oldest
    Node* const node = build(hash, key, make);
    // Nothing below throws.
    if (victim != nullptr) {
      erase(*victim);
      if constexpr (counts_lookups) ++count_.evictions;
    }
    std::size_t i = hash & mask_;
    while (cells_[i].node != nullptr) i = (i + 1) & mask_;
    cells_[i] = {hash, node};
    ++size_;
    link_as_newest(*node);
    remember(*node);
    return node->entry;
  }

  void clear() noexcept {
    for (Cell& cell : cells_) {
      if (Node* const node = std::exchange(cell.node, nullptr)) destroy(*node);
    }
    size_ = 0;
    ends_ = {&ends_, &ends_};
    forget_last();
  }

  /// Calls f(entry) for each entry, in no particular order.
  template <class F>
  void for_each(F f) {
    for (const Cell& cell : cells_) {
      if (cell.node != nullptr) f(cell.node->entry);
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const Count& counts() const noexcept { return count_; }

 private:
  static constexpr bool counts_lookups = std::is_same_v<Count, Counts>;
  /// A link of the list in order of use, a ring that `ends_` closes.
  struct Link {
    Link* newer;
    Link* older;
  };
  struct Node : Link {
    template <class Make>
    Node(std::uint64_t hash_, KeyView key, Make& make) : Link{}, hash{hash_}, size{key.size()}, entry{make()} {
      std::copy_n(key.data(), size, words());
    }
    [[nodiscard]] std::uint64_t* words() noexcept { return reinterpret_cast<std::uint64_t*>(this + 1); }

    std::uint64_t hash;
    std::size_t size;  ///< the size of the key, in words
    Entry entry;
  };
  /// A cell of the hash table, which has linear probing and is at most half full. Inserting into it allocates nothing,
  /// so it cannot fail; no container of the standard library offers both.
  struct Cell {
    std::uint64_t hash;
    Node* node;  // nullptr: empty
  };

  [[nodiscard]] Node* look_up(std::uint64_t hash, KeyView key) const noexcept {
    const Cell* const cells = cells_.data();
    for (std::size_t i = hash & mask_; cells[i].node != nullptr; i = (i + 1) & mask_) {
      Node& node = *cells[i].node;
      if (cells[i].hash != hash || node.size != key.size()) continue;
      if (same_words(key.data(), node.words(), key.size())) return &node;
    }
    return nullptr;
  }

  Entry& use(Node& node) noexcept {
    if (&node != last_) {
      unlink(node);
      link_as_newest(node);
    }
    remember(node);
    return node.entry;
  }

  void remember(Node& node) noexcept {
    last_ = &node;
    last_size_ = node.size;
  }

  void link_as_newest(Node& node) noexcept {
    node.newer = &ends_;
    node.older = ends_.older;
    ends_.older->newer = &node;
    ends_.older = &node;
  }
  void unlink(Node& node) noexcept {
    node.newer->older = node.older;
    node.older->newer = node.newer;
  }

  [[noreturn]] void refuse(std::size_t words) const {
    throw Error{Errc::invalid_argument,
                Error::Text{"a key of ", words, " words for a launch cache whose keys have at most ", most_words_,
                            "; append only the words of one round"}};
  }

  template <class Make>
  [[nodiscard]] Node* build(std::uint64_t hash, KeyView key, Make& make) {
    // If make() throws, the memory is kept for the next entry.
    if (spare_ == nullptr) {
      spare_ = ::operator new(sizeof(Node) + most_words_ * sizeof(std::uint64_t), std::align_val_t{alignof(Node)});
    }
    Node* const node = ::new (spare_) Node(hash, key, make);
    spare_ = nullptr;
    return node;
  }

  void erase(Node& node) noexcept {
    unlink(node);
    std::size_t hole = node.hash & mask_;
    while (cells_[hole].node != &node) hole = (hole + 1) & mask_;
    // Moves later cells back, so that probe sequences stay short after any number of evictions (Knuth, The Art of
    // Computer Programming 3, 6.4, algorithm R).
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
    if (last_ == &node) forget_last();
    destroy(node);
  }

  void destroy(Node& node) noexcept {
    node.~Node();
    if (spare_ == nullptr) {
      spare_ = &node;
    } else {
      give_back(&node);
    }
  }

  static void give_back(void* memory) noexcept { ::operator delete(memory, std::align_val_t{alignof(Node)}); }

  std::size_t most_words_;
  /// The size of the last entry's key, or SIZE_MAX while there is no last entry, so that one comparison answers both
  /// questions.
  std::size_t last_size_ = SIZE_MAX;
  Node* last_ = nullptr;
  static constexpr std::size_t mask_ = std::bit_ceil(2 * Capacity::capacity) - 1;  ///< the number of cells minus 1
  std::vector<Cell> cells_ = std::vector<Cell>(mask_ + 1);
  std::size_t size_ = 0;
  void* spare_ = nullptr;
  Link ends_{&ends_, &ends_};  ///< `newer` is the oldest entry, `older` the newest
  [[no_unique_address]] Count count_;
};

}  // namespace rondo::launch
