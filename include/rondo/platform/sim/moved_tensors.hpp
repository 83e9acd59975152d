// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace rondo::platform::sim {

/// Tensors that a round binds to device memory of the caller. For the duration of a round they can be moved back to
/// their places in the arena, so that code that reads the arena also sees them.
///
/// Cost: a comparison for each argument that may hold the address of such a tensor; only construction allocates.
class MovedTensors {
 public:
  /// Reads the places in the arena from the args table, which must outlive this object.
  MovedTensors(const graph::GraphView& graph, const args::ArgsTable& args)
      : graph_{graph}, moved_(graph.tensors.size()) {
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
      for (std::uint32_t block = 0; block < graph.tasks[t].blocks; ++block) {
        for (const graph::ArgRecord& arg : graph.args_of(graph.tasks[t])) {
          if (!arg.is_address() || arg.width != sizeof(std::uint64_t)) continue;
          if (is_carried_in_args(graph.tensors[arg.tensor].direction)) continue;
          std::byte* const word = reinterpret_cast<std::byte*>(args.block(t, block)) + arg.offset;
          slots_.push_back({word, address_in(word), arg.tensor});
        }
      }
    }
  }

  /// Copies the contents of moved tensors into the arena, and makes the tasks use them there.
  void move_back() noexcept {
    for (const Slot& slot : slots_) {
      const std::uint64_t now = address_in(slot.word);
      if (now == slot.place) continue;
      const graph::TensorRecord& tensor = graph_.tensors[slot.tensor];
      if (moved_[slot.tensor] == 0 && tensor.is_defined_at_start()) copy(slot.place, now, tensor.bytes);
      moved_[slot.tensor] = now;
      std::memcpy(slot.word, &slot.place, sizeof slot.place);
    }
  }
  /// Undoes move_back(); `with_contents`: also copies what the tasks wrote to the caller's memory.
  void move_again(bool with_contents) noexcept {
    for (const Slot& slot : slots_) {
      const std::uint64_t address = moved_[slot.tensor];
      if (address == 0) continue;
      const graph::TensorRecord& tensor = graph_.tensors[slot.tensor];
      if (with_contents && address_in(slot.word) == slot.place && kernels_may_write(tensor.direction)) {
        copy(address, slot.place, tensor.bytes);
      }
      std::memcpy(slot.word, &address, sizeof address);
    }
    moved_.assign(moved_.size(), 0);
  }

 private:
  struct Slot {
    std::byte* word;
    std::uint64_t place;  ///< the address in the arena
    std::uint32_t tensor;
  };
  [[nodiscard]] static std::uint64_t address_in(const std::byte* word) noexcept {
    std::uint64_t address = 0;
    std::memcpy(&address, word, sizeof address);
    return address;
  }
  static void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) noexcept {
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);  // NOLINT: host memory
  }

  graph::GraphView graph_;
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> moved_;  ///< by tensor; 0: not moved
};

}  // namespace rondo::platform::sim
