// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/task_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

/// Set-up only, and usable in constant expressions: the one task that sets a round's zeroed workspaces to zero.
namespace rondo::graph {

/// What it runs where kernels are host functions: the first word is the address, the second how many bytes. Elsewhere
/// the platform has a call of its own for it.
inline void fill_zeros(ArgWord* args) noexcept {
  __builtin_memset(reinterpret_cast<void*>(args[0]), 0, static_cast<std::size_t>(args[1]));  // NOLINT: device memory
}

/// Is this tensor among those that each round's fill sets to zero?
[[nodiscard]] constexpr bool is_filled(const TensorRecord& tensor) noexcept {
  return tensor.zeroed == Zeroed::each_round && tensor.bytes != 0;
}

/// The graph with the task that fills its zeroed workspaces, if it has any: behind all others in number, before all
/// others in order. The workspaces lie side by side (see memory/zeroed_block.hpp), so that the first one's address and
/// a number of bytes say it all; the others are arguments for whoever looks at who writes what.
[[nodiscard, gnu::cold]] constexpr TaskGraph with_fill(TaskGraph graph) {
  std::vector<ArgRecord> args;
  bool is_fixed = false;
  for (std::uint32_t t = 0; t < graph.tensors().size(); ++t) {
    if (!is_filled(graph.tensors()[t])) continue;
    is_fixed = is_fixed || graph.tensors()[t].fixed;
    args.push_back({ArgRecord::Kind::address, Access::write, t, 0});
    if (args.size() == 1) args.push_back({ArgRecord::Kind::filled_bytes});
  }
  // A Scratch is written only; one of zeros is read as well.
  for (ArgRecord& arg : graph.args_) {
    const bool is_zeros = arg.is_address() && graph.tensors_[arg.tensor].zeroed != Zeroed::never;
    if (is_zeros) arg.access = Access::read_write;
  }
  if (args.empty()) return graph;
  std::uint32_t bytes = 0;
  for (ArgRecord& arg : args) {
    arg.offset = bytes;
    bytes += static_cast<std::uint32_t>(sizeof(ArgWord));
  }
  const TaskId fill = graph.add_laid_out("rondo_zero", CoreType::vector, Blocks{1}, &fill_zeros, args, bytes);
  graph.tasks_[index(fill)].fills = true;
  // If one is fixed, the fill fixes all of them.
  for (TensorRecord& tensor : graph.tensors_) tensor.fixed = tensor.fixed || (is_fixed && is_filled(tensor));
  return graph;
}
/// Is anything to be zeroed?
[[nodiscard]] constexpr bool has_zeroed(const TaskGraph& graph) noexcept {
  for (const TensorRecord& tensor : graph.tensors()) {
    if (tensor.zeroed != Zeroed::never) return true;
  }
  return false;
}

}  // namespace rondo::graph
