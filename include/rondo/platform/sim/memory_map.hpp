// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/graph/records.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace rondo::platform::sim {

/// The memory of the tensors that tasks use, whose addresses are read from the arguments: the part of the arena from
/// the lowest to the highest of them, then each tensor that has memory of its own. Offsets count from the first byte
/// through all of these. Tensors with disjoint lifetimes may overlap. Tensors that a round binds to device memory of
/// the caller can be moved back to their places in the arena for the duration of a round, so that code that reads the
/// arena also sees them. Descriptors of such tensors, see launch::Descriptor, move with them.
///
/// Cost of moving: a comparison for each argument that may hold the address of such a tensor; only construction
/// allocates.
class MemoryMap {
 public:
  /// A range of memory that belongs to the same tensors throughout, or to none.
  struct Segment {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint32_t tensor = 0;  ///< the first tensor that covers it; `no_tensor` for a gap
  };
  /// The place of a tensor, as offsets; empty if no task uses it.
  struct Place {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] std::uint64_t size() const noexcept { return end - begin; }
  };
  static constexpr std::uint32_t no_tensor = 0xFFFF'FFFF;

  /// Reads the addresses from the args table, which must outlive this object, except those of host inputs, which are in
  /// the table itself.
  MemoryMap(const graph::GraphView& graph, const args::ArgsTable& args)
      : graph_{graph}, places_(graph.tensors.size()), moved_(graph.tensors.size()) {
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
      for (std::uint32_t block = 0; block < graph.tasks[t].blocks; ++block) {
        for (const graph::ArgRecord& arg : graph.args_of(graph.tasks[t])) {
          if (!arg.is_address() || arg.width != sizeof(std::uint64_t)) continue;
          std::byte* const word = reinterpret_cast<std::byte*>(args.block(t, block)) + arg.offset;
          const std::uint64_t address = address_in(word);
          if (graph.tensors[arg.tensor].value.kind == graph::ValueKind::descriptor) {
            descriptors_.push_back({reinterpret_cast<std::byte*>(address), arg.tensor});  // NOLINT: host memory
          }
          if (is_carried_in_args(graph.tensors[arg.tensor].direction)) continue;
          slots_.push_back({word, address, arg.tensor});
          places_[arg.tensor] = {address, address + graph.tensors[arg.tensor].bytes};
        }
      }
    }
    const auto is_in_arena = [&](std::uint32_t t) { return !has_memory_of_its_own(t); };
    add_block(is_in_arena);  // the first, even if it is empty
    for (std::uint32_t home = 0; home < places_.size(); ++home) {
      const auto is_in = [&](std::uint32_t t) { return graph::home_of(graph_.tensors, t) == home; };
      if (has_memory_of_its_own(home)) add_block(is_in);
    }
    std::vector<std::uint64_t> cuts;
    for (const Place& place : places_) {
      if (place.size() == 0) continue;
      cuts.push_back(place.begin);
      cuts.push_back(place.end);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      segments_.push_back({cuts[c], cuts[c + 1], covering(cuts[c], cuts[c + 1])});
    }
  }

  /// Copies the contents of moved tensors into the arena, and makes the tasks use them there.
  void move_back() noexcept {
    for (const Slot& slot : slots_) {
      const std::uint64_t now = address_in(slot.word);
      if (now == slot.place) continue;
      const graph::TensorRecord& tensor = graph_.tensors[slot.tensor];
      const bool has_contents = graph_.tensors[graph::home_of(graph_.tensors, slot.tensor)].is_defined_at_start();
      if (moved_[slot.tensor] == 0 && has_contents) copy(slot.place, now, tensor.bytes);
      moved_[slot.tensor] = now;
      std::memcpy(slot.word, &slot.place, sizeof slot.place);
      describe(slot.tensor, slot.place);
    }
  }
  /// Undoes move_back(); `with_contents`: also copies the tasks' results to the caller's memory.
  void move_again(bool with_contents) noexcept {
    for (const Slot& slot : slots_) {
      const std::uint64_t address = moved_[slot.tensor];
      if (address == 0) continue;
      const graph::TensorRecord& tensor = graph_.tensors[slot.tensor];
      if (with_contents && !tensor.is_view() && address_in(slot.word) == slot.place &&
          kernels_may_write(tensor.direction)) {
        copy(address, slot.place, tensor.bytes);
      }
      std::memcpy(slot.word, &address, sizeof address);
      describe(slot.tensor, address);
    }
    moved_.assign(moved_.size(), 0);
  }

  /// The arena has moved by `distance` bytes, modulo 2^64. No tensor is moved back.
  void move_arena(std::uint64_t distance) noexcept {
    blocks_[0].address += distance;
    for (Slot& slot : slots_) {
      if (!has_memory_of_its_own(slot.tensor)) slot.place += distance;
    }
  }

  /// The number of bytes.
  [[nodiscard]] std::size_t size() const noexcept { return blocks_.back().end; }
  [[nodiscard]] std::byte* at(std::uint64_t offset) const noexcept {
    std::size_t b = 0;
    while (offset >= blocks_[b].end && b + 1 < blocks_.size()) ++b;
    return memory(blocks_[b]) + (offset - blocks_[b].begin);
  }
  void save(std::vector<std::byte>& copy) const noexcept {
    for (const Block& b : blocks_) std::copy_n(memory(b), b.end - b.begin, copy.data() + b.begin);
  }
  void restore(const std::vector<std::byte>& copy) const noexcept {
    for (const Block& b : blocks_) std::copy_n(copy.data() + b.begin, b.end - b.begin, memory(b));
  }
  [[nodiscard]] const std::vector<Segment>& segments() const noexcept { return segments_; }
  [[nodiscard]] const Place& place(std::size_t tensor) const noexcept { return places_[tensor]; }
  [[nodiscard]] bool covers(std::size_t tensor, const Segment& s) const noexcept {
    return places_[tensor].begin <= s.begin && s.end <= places_[tensor].end;
  }
  /// The last tensor that ends before `offset`, the start of a gap.
  [[nodiscard]] std::uint32_t before(std::uint64_t offset) const noexcept {
    std::uint32_t found = no_tensor;
    for (std::uint32_t t = 0; t < places_.size(); ++t) {
      if (places_[t].size() != 0 && places_[t].end <= offset &&
          (found == no_tensor || places_[t].end > places_[found].end)) {
        found = t;
      }
    }
    return found;
  }

 private:
  struct Slot {
    std::byte* word;
    std::uint64_t place;  ///< the address in the arena
    std::uint32_t tensor;
  };
  /// A descriptor in the args table.
  struct Descriptor {
    std::byte* at;
    std::uint32_t value;  ///< its tensor
  };
  /// Contiguous memory.
  struct Block {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t address;
  };
  [[nodiscard]] static std::byte* memory(const Block& block) noexcept {
    return reinterpret_cast<std::byte*>(block.address);  // NOLINT: simulated device memory
  }
  /// Makes the descriptors of a tensor for another address.
  void describe(std::uint32_t tensor, std::uint64_t address) const noexcept {
    for (const Descriptor& d : descriptors_) {
      const graph::RoundValue& value = graph_.tensors[d.value].value;
      if (value.source == tensor) value.make(d.at, address, graph_.tensors[tensor].shape);
    }
  }
  [[nodiscard]] bool has_memory_of_its_own(std::uint32_t tensor) const noexcept {
    return graph_.tensors[graph::home_of(graph_.tensors, tensor)].is_outside_arena();
  }
  /// Adds the memory of the tensors for which `is_in(tensor)`, and makes their addresses offsets.
  template <class IsIn>
  void add_block(const IsIn& is_in) {
    const std::uint64_t begin = blocks_.empty() ? 0 : blocks_.back().end;
    Block block{begin, begin, ~std::uint64_t{0}};
    const auto for_each_place = [&](const auto& visit) {
      for (std::uint32_t t = 0; t < places_.size(); ++t) {
        if (places_[t].size() != 0 && is_in(t)) visit(places_[t]);
      }
    };
    for_each_place([&](const Place& place) { block.address = std::min(block.address, place.begin); });
    for_each_place([&](Place& place) {
      place = {begin + (place.begin - block.address), begin + (place.end - block.address)};
      block.end = std::max(block.end, place.end);
    });
    blocks_.push_back(block);
  }
  [[nodiscard]] static std::uint64_t address_in(const std::byte* word) noexcept {
    std::uint64_t address = 0;
    std::memcpy(&address, word, sizeof address);
    return address;
  }
  static void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) noexcept {
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);  // NOLINT: host memory
  }
  [[nodiscard]] std::uint32_t covering(std::uint64_t begin, std::uint64_t end) const noexcept {
    for (std::uint32_t t = 0; t < places_.size(); ++t) {
      if (covers(t, {begin, end, t})) return t;
    }
    return no_tensor;
  }

  graph::GraphView graph_;
  std::vector<Slot> slots_;
  std::vector<Descriptor> descriptors_;
  std::vector<Place> places_;         ///< by tensor
  std::vector<std::uint64_t> moved_;  ///< by tensor: its address in the memory of the caller; 0: not moved
  std::vector<Block> blocks_;         ///< the arena's first
  std::vector<Segment> segments_;
};

}  // namespace rondo::platform::sim
