// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/graph/task_graph_impl.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

/// The task that zeroes the workspaces of a round; usable in constant expressions.
namespace rondo::graph {

/// The kernel of the task on platforms whose kernels are host functions: the first word is the address, the second the
/// number of bytes. Other platforms have a function of their own.
inline void fill_zeros(ArgWord* args) noexcept {
  __builtin_memset(reinterpret_cast<void*>(args[0]), 0, static_cast<std::size_t>(args[1]));  // NOLINT: device memory
}

/// Whether the fill of each round zeroes this tensor.
[[nodiscard]] constexpr bool is_filled(const TensorRecord& tensor) noexcept {
  return tensor.zeroed == Zeroed::each_round && tensor.bytes != 0;
}

#if RONDO_HAS_GRAPH_BODIES
/// Adds the task that fills the zeroed workspaces, if there are any. It has the highest number but comes first in
/// order. The workspaces are adjacent (see memory/zeroed_block.hpp), so the first address and a number of bytes
/// suffice; the other arguments only record which tensors the task writes.
[[nodiscard]] RONDO_CONSTEXPR TaskGraph with_fill(TaskGraph graph) {
  std::vector<ArgRecord> args;
  bool is_fixed = false;
  for (std::uint32_t t = 0; t < graph.tensors().size(); ++t) {
    if (!is_filled(graph.tensors()[t])) continue;
    is_fixed = is_fixed || graph.tensors()[t].fixed;
    args.push_back({ArgRecord::Kind::address, Access::write, t, 0});
    if (args.size() == 1) args.push_back({ArgRecord::Kind::filled_bytes});
  }
  // A Scratch parameter is only written, unless its workspace is zeroed: then it is also read.
  for (ArgRecord& arg : graph.args_) {
    const bool is_zeros = arg.is_address() && graph.tensors_[arg.tensor].zeroed != Zeroed::never;
    if (is_zeros && writes(arg.access)) arg.access = Access::read_write;
  }
  graph.rare_code_.with_fill = nullptr;  // done
  if (args.empty()) return graph;
  std::uint32_t bytes = 0;
  for (ArgRecord& arg : args) {
    arg.offset = bytes;
    bytes += static_cast<std::uint32_t>(sizeof(ArgWord));
  }
  const TaskId fill = graph.add_laid_out("rondo_zero", CoreType::vector, Blocks{1}, &fill_zeros, args, bytes);
  graph.tasks_[index(fill)].fills = true;
  // If one address is fixed, the fill fixes all of them.
  for (TensorRecord& tensor : graph.tensors_) tensor.fixed = tensor.fixed || (is_fixed && is_filled(tensor));
  return graph;
}
#endif

#if RONDO_HAS_BODIES
RONDO_INLINE void need_fill(RareCode& code) noexcept {
  code.with_fill = [](const TaskGraph& graph) { return with_fill(graph); };
}
#endif

}  // namespace rondo::graph
