// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

/// The positions of the tasks' arguments in the table. They depend only on the graph, so for a static graph they are
/// constants.
namespace rondo::args {

/// The parts of the table, by what changes them; in this order, a round refreshes one contiguous suffix. A task belongs
/// to the part of its most volatile slot.
enum class Partition : std::uint8_t {
  never,        ///< constants, and tensors whose address is fixed
  feature_map,  ///< an address in an arena, but none that rounds bind
  model_io,     ///< the address of an input, output or inout
  host_input,   ///< the bytes of host inputs themselves
};
inline constexpr std::size_t partition_count = 4;

/// The partition for a slot with the address of `tensor`. A host input's own address never changes.
[[nodiscard]] constexpr Partition partition_of(const graph::TensorRecord& tensor) noexcept {
  if (tensor.fixed || is_carried_in_args(tensor.direction)) return Partition::never;
  return is_model_io(tensor.direction) ? Partition::model_io : Partition::feature_map;
}
[[nodiscard]] constexpr Partition partition_of(const graph::GraphView& graph, const graph::TaskRecord& task) noexcept {
  Partition most = Partition::never;
  for (const graph::ArgRecord& arg : graph.args_of(task)) {
    if (!arg.is_address()) continue;
    const Partition p = partition_of(graph.tensors[graph::root_of(graph.tensors, arg.tensor)]);
    if (p > most) most = p;
  }
  return most;
}

/// The size of a partition whose contents take `length` bytes: 32 bytes protect against a device that reads beyond the
/// end, and copies start at multiples of 64. An empty partition takes none.
[[nodiscard]] constexpr std::uint64_t partition_bytes(std::uint64_t length) noexcept {
  return length == 0 ? 0 : align_up(length + 32, 64);
}
/// The bytes of a host input, rounded up to 32.
[[nodiscard]] constexpr std::uint64_t host_input_bytes(const graph::TensorRecord& tensor) noexcept {
  return align_up(tensor.bytes, 32);
}

/// The partitions' offsets, in bytes from the start of the table.
struct TableShape {
  std::uint64_t begin[partition_count + 1] = {};  ///< the last entry is the table's size
  std::uint64_t host_inputs = 0;                  ///< bytes of host inputs, without the guard

  [[nodiscard]] constexpr std::uint64_t operator[](Partition p) const noexcept {
    return begin[static_cast<std::size_t>(p)];
  }
  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return begin[partition_count]; }
};

[[nodiscard]] constexpr TableShape shape_of(const graph::GraphView& graph) noexcept {
  std::uint64_t length[partition_count] = {};
  for (const graph::TaskRecord& task : graph.tasks) {
    length[static_cast<std::size_t>(partition_of(graph, task))] += std::uint64_t{task.blocks} * task.block_bytes;
  }
  TableShape shape;
  for (const graph::TensorRecord& tensor : graph.tensors) {
    if (is_carried_in_args(tensor.direction)) shape.host_inputs += host_input_bytes(tensor);
  }
  length[static_cast<std::size_t>(Partition::host_input)] = shape.host_inputs;
  for (std::size_t p = 0; p < partition_count; ++p) shape.begin[p + 1] = shape.begin[p] + partition_bytes(length[p]);
  return shape;
}

/// Orders the tasks within a partition by group, then by position. Tasks that share an input or output form a group,
/// named by the position of its first task, so that the slots of a base that moves are close together. A task with
/// several such tensors is in the group of the one that the fewest other tasks share.
[[nodiscard]] constexpr std::vector<std::uint32_t> groups_of(const graph::GraphView& graph) {
  constexpr std::uint32_t none = 0xFFFF'FFFF;
  std::vector<std::uint32_t> uses(graph.tensors.size(), 0);
  std::vector<std::uint32_t> first_user(graph.tensors.size(), none);
  std::vector<std::uint32_t> groups(graph.tasks.size(), 0);
  const auto visit = [&](const graph::TaskRecord& task, auto&& use) {
    for (const graph::ArgRecord& arg : graph.args_of(task)) {
      if (!arg.is_address()) continue;
      const std::uint32_t tensor = graph::root_of(graph.tensors, arg.tensor);
      if (partition_of(graph.tensors[tensor]) == Partition::model_io) use(tensor);
    }
  };
  for (const graph::TaskRecord& task : graph.tasks) visit(task, [&](std::uint32_t tensor) { ++uses[tensor]; });
  for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
    std::uint32_t least = none;
    visit(graph.tasks[t], [&](std::uint32_t tensor) {
      if (uses[tensor] > 1 && (least == none || uses[tensor] < uses[least])) least = tensor;
    });
    if (least != none && first_user[least] == none) first_user[least] = t;
    groups[t] = least == none ? t : first_user[least];
  }
  return groups;
}

/// The number of words before the first argument block of the task at `position`. A task of n blocks has n consecutive
/// argument blocks, which differ only in their block words. O(tasks); ArgsTable::block() is O(1).
[[nodiscard]] constexpr std::size_t words_before(const graph::GraphView& graph, std::size_t position) {
  const Partition own = partition_of(graph, graph.tasks[position]);
  const std::vector<std::uint32_t> groups = groups_of(graph);
  std::uint64_t bytes = shape_of(graph)[own];
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    const bool is_before = groups[t] != groups[position] ? groups[t] < groups[position] : t < position;
    if (!is_before || partition_of(graph, graph.tasks[t]) != own) continue;
    bytes += std::uint64_t{graph.tasks[t].blocks} * graph.tasks[t].block_bytes;
  }
  return bytes / sizeof(ArgWord);
}

}  // namespace rondo::args
