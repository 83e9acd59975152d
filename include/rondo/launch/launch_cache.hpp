// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
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

/// The part of LaunchCache that does not depend on the type of its entries: a table of keys, and their order of use.
class LaunchTable {
 public:
  LaunchTable(const LaunchTable&) = delete;
  LaunchTable& operator=(const LaunchTable&) = delete;
  void forget_last() noexcept {
    last_ = nullptr;
    last_size_ = SIZE_MAX;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 protected:
  /// A link of the list in order of use, a ring that `ends_` closes.
  struct Link {
    Link* newer;
    Link* older;
  };
  /// Precedes an entry; the words of the key follow the entry.
  struct Node : Link {
    std::uint64_t hash;
    std::size_t size;  ///< the size of the key, in words
  };
  /// A cell of the hash table, which has linear probing and is at most half full. Inserting into it allocates nothing,
  /// so it cannot fail; no container of the standard library offers both.
  struct Cell {
    std::uint64_t hash;
    Node* node;  // nullptr: empty
  };

  /// `node_bytes`: the bytes of a node with its entry.
  LaunchTable(std::size_t capacity, std::size_t most_words, std::size_t node_bytes, std::align_val_t alignment);
  /// The derived class has destroyed all nodes.
  ~LaunchTable();

  /// Returns the node with this key, and makes it the last one found; nullptr if there is none.
  Node* find_node(std::uint64_t hash, KeyView key) noexcept;
  /// The node that makes room for one more; nullptr if there is room.
  [[nodiscard]] Node* victim() const noexcept {
    return size_ < capacity_ ? nullptr : static_cast<Node*>(ends_.newer);  // the oldest
  }
  /// @throws Error if the key has too many words
  void check_size(KeyView key) const;
  /// Makes sure that there is spare memory for a node. @throws std::bad_alloc
  void reserve_spare();
  /// Adds a node, which was built in the spare memory.
  void insert_node(Node& node, std::uint64_t hash, KeyView key) noexcept;
  void erase_node(Node& node) noexcept;
  /// Keeps the memory of a node for the next one, if none is kept yet.
  void reuse(Node& node) noexcept { spare_ == nullptr ? void(spare_ = &node) : give_back(&node); }
  void forget_all() noexcept {
    size_ = 0;
    ends_ = {&ends_, &ends_};
    forget_last();
  }

  /// The size of the last entry's key, or SIZE_MAX while there is no last entry, so that one comparison answers both
  /// questions.
  std::size_t last_size_ = SIZE_MAX;
  Node* last_ = nullptr;
  std::vector<Cell> cells_;
  void* spare_ = nullptr;  ///< memory for the next node

 private:
  [[nodiscard]] std::uint64_t* words_of(Node& node) const noexcept {
    return reinterpret_cast<std::uint64_t*>(reinterpret_cast<std::byte*>(&node) + node_bytes_);
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
  static void unlink(Node& node) noexcept {
    node.newer->older = node.older;
    node.older->newer = node.newer;
  }
  void give_back(void* memory) const noexcept { ::operator delete(memory, alignment_); }

  std::size_t most_words_;
  std::size_t node_bytes_;
  std::align_val_t alignment_;
  std::size_t capacity_;
  std::size_t mask_;  ///< the number of cells minus 1
  std::size_t size_ = 0;
  Link ends_{&ends_, &ends_};  ///< `newer` is the oldest entry, `older` the newest
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
class LaunchCache : public LaunchTable {
 public:
  /// Creates a cache for keys of at most `most_words` words.
  explicit LaunchCache(std::size_t most_words)
      : LaunchTable(Capacity::capacity, most_words, sizeof(EntryNode), std::align_val_t{alignof(EntryNode)}) {}
  ~LaunchCache() { clear(); }

  [[nodiscard, gnu::always_inline]] Entry* find(KeyView key) noexcept {
    Entry* const last = find_last(key);
    return last != nullptr ? last : find_in_table(key);
  }
  /// Returns the entry that was found last if it has this key; otherwise nullptr: call find_in_table() then.
  [[nodiscard, gnu::always_inline]] Entry* find_last(KeyView key) noexcept {
    if (key.size() == last_size_) {
      EntryNode& last = static_cast<EntryNode&>(*last_);
      if (same_words(key.data(), reinterpret_cast<const std::uint64_t*>(&last + 1), key.size())) {
        if constexpr (counts_lookups) ++count_.hits_on_last;
        return &last.entry;
      }
    }
    return nullptr;
  }
  /// Returns the entry with this key, or nullptr, without comparing the last entry first. Not inlined, so that callers
  /// that try the last entry first need not save registers.
  [[nodiscard, gnu::noinline]] Entry* find_in_table(KeyView key) noexcept {
    if (Node* const node = find_node(hash_of(key.data(), key.size()), key)) {
      if constexpr (counts_lookups) ++count_.hits_in_table;
      return &static_cast<EntryNode*>(node)->entry;
    }
    if constexpr (counts_lookups) ++count_.misses;
    return nullptr;
  }

  /// Returns the entry with this key; if there is none, builds one in place from the result of `make()`. In a full
  /// cache the least recently used entry is destroyed afterwards. `make` must not use this cache, and `key`
  /// must not be part of an entry. @throws Error if the key has too many words; std::bad_alloc; and as make() does.
  /// Nothing has changed then.
  template <std::invocable Make>
    requires std::same_as<std::invoke_result_t<Make&>, Entry>
  Entry& insert(KeyView key, Make&& make) {
    check_size(key);
    const std::uint64_t hash = hash_of(key.data(), key.size());
    if (Node* const known = find_node(hash, key)) return static_cast<EntryNode*>(known)->entry;
    reserve_spare();
    auto* const made = ::new (spare_) EntryNode(make);
    // Nothing below throws.
    spare_ = nullptr;
    if (Node* const oldest = victim()) {
      erase_node(*oldest);
      destroy(*oldest);
      if constexpr (counts_lookups) ++count_.evictions;
    }
    insert_node(*made, hash, key);
    return made->entry;
  }

  void clear() noexcept {
    for (Cell& cell : cells_) {
      if (Node* const node = std::exchange(cell.node, nullptr)) destroy(*node);
    }
    forget_all();
  }

  /// Calls f(entry) for each entry, in no particular order.
  template <class F>
  void for_each(F f) {
    for (const Cell& cell : cells_) {
      if (cell.node != nullptr) f(static_cast<EntryNode*>(cell.node)->entry);
    }
  }

  [[nodiscard]] const Count& counts() const noexcept { return count_; }

 private:
  static constexpr bool counts_lookups = std::is_same_v<Count, Counts>;
  struct EntryNode : Node {
    template <class Make>
    explicit EntryNode(Make& make) : Node{}, entry{make()} {}
    Entry entry;
  };

  void destroy(Node& node) noexcept {
    static_cast<EntryNode&>(node).~EntryNode();
    reuse(node);
  }

  [[no_unique_address]] Count count_;
};

#if RONDO_HAS_BODIES
RONDO_INLINE LaunchTable::LaunchTable(std::size_t capacity, std::size_t most_words, std::size_t node_bytes,
                                      std::align_val_t alignment)
    : cells_(std::bit_ceil(2 * capacity)),
      most_words_{most_words},
      node_bytes_{node_bytes},
      alignment_{alignment},
      capacity_{capacity},
      mask_{cells_.size() - 1} {}
RONDO_INLINE LaunchTable::~LaunchTable() { give_back(spare_); }

RONDO_INLINE LaunchTable::Node* LaunchTable::find_node(std::uint64_t hash, KeyView key) noexcept {
  const Cell* const cells = cells_.data();
  for (std::size_t i = hash & mask_; cells[i].node != nullptr; i = (i + 1) & mask_) {
    Node& node = *cells[i].node;
    if (cells[i].hash != hash || node.size != key.size() || !same_words(key.data(), words_of(node), key.size())) {
      continue;
    }
    if (&node != last_) {
      unlink(node);
      link_as_newest(node);
    }
    remember(node);
    return &node;
  }
  return nullptr;
}

RONDO_INLINE void LaunchTable::check_size(KeyView key) const {
  if (key.size() <= most_words_) return;
  throw Error{Errc::invalid_argument,
              Error::Text{"a key of ", key.size(), " words for a launch cache whose keys have at most ", most_words_,
                          "; append only the words of one round"}};
}

RONDO_INLINE void LaunchTable::reserve_spare() {
  if (spare_ == nullptr) spare_ = ::operator new(node_bytes_ + most_words_ * sizeof(std::uint64_t), alignment_);
}

RONDO_INLINE void LaunchTable::insert_node(Node& node, std::uint64_t hash, KeyView key) noexcept {
  node.hash = hash;
  node.size = key.size();
  std::copy_n(key.data(), key.size(), words_of(node));
  std::size_t i = hash & mask_;
  while (cells_[i].node != nullptr) i = (i + 1) & mask_;
  cells_[i] = {hash, &node};
  ++size_;
  link_as_newest(node);
  remember(node);
}

RONDO_INLINE void LaunchTable::erase_node(Node& node) noexcept {
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
}
#endif

}  // namespace rondo::launch
