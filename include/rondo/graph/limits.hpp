// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/detail/compiled.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>

namespace rondo::graph {

/// Whether the chip supports elements of this type.
[[nodiscard]] constexpr bool knows(const arch::Limits& chip, DataType type) noexcept {
  return is_a5_only(type) ? chip.has_fp8 : !is_double(type) || chip.has_float64;
}
/// Returns a platform that supports a type which not all chips support.
[[nodiscard]] constexpr const char* chip_with(DataType type) noexcept {
  return is_a5_only(type) ? "a5" : "the platform host (RONDO_PLATFORM=host)";
}

/// Checks a graph against the limits of a chip: blocks, tensors and scalars per task, tensors that each round binds,
/// and element types. @throws Error limit_exceeded, misaligned or unsupported, which names the task or tensor
RONDO_CONSTEXPR void check_limits(const GraphView& graph, const arch::Limits& chip);
/// Refuses loops on a platform that does not run them. @throws Error unsupported, which names the first loop
void refuse_loops(const GraphView& graph, const char* platform);

#if RONDO_HAS_GRAPH_BODIES
RONDO_CONSTEXPR void check_limits(const GraphView& graph, const arch::Limits& chip) {
  const auto fail = [&](const TaskRecord& task, std::uint64_t count, const char* what, std::uint64_t most) {
    throw Error(Errc::limit_exceeded, Error::Text{"task ", task.added_as, " '", graph.name(task.name), "' has ", count,
                                                  " ", what, "; the most on ", chip.name, " is ", most});
  };
  for (const TaskRecord& task : graph.tasks) {
    if (task.fills) continue;  // not a kernel; its tensors are a single range of memory
    std::uint64_t tensors = 0;
    std::uint64_t scalars = 0;
    for (const ArgRecord& arg : graph.args_of(task)) {
      if (arg.is_address()) ++tensors;
      if (arg.kind == ArgRecord::Kind::scalar) ++scalars;
    }
    if (task.blocks > chip.max_blocks) fail(task, task.blocks, "blocks", chip.max_blocks);
    if (tensors > chip.max_task_tensors) fail(task, tensors, "tensors", chip.max_task_tensors);
    if (scalars > chip.max_task_scalars) fail(task, scalars, "scalars", chip.max_task_scalars);
  }
  std::uint64_t bound = 0;
  for (const TensorRecord& tensor : graph.tensors) {
    if (is_bound_each_round(tensor.direction)) ++bound;
    if (tensor.count != 0 && tensor.view_offset() % chip.view_alignment != 0) {
      throw Error(Errc::misaligned,
                  Error::Text{"tensor '", graph.name(tensor.name), "' is a view that starts at byte ",
                              tensor.view_offset(), " of '", graph.name(graph.tensors[tensor.view_of].name), "'; on ",
                              chip.name, " tensors start at multiples of ", chip.view_alignment});
    }
    if (!knows(chip, tensor.type)) {
      throw Error(Errc::unsupported,
                  Error::Text{"tensor '", graph.name(tensor.name), "' is ", to_string(tensor.type), ", which ",
                              chip.name, " does not support; choose ", chip_with(tensor.type), " or another type"});
    }
  }
  if (bound > chip.max_graph_tensors) {
    throw Error(Errc::limit_exceeded, Error::Text{"the graph has ", bound, " inputs, outputs and inouts; the most on ",
                                                  chip.name, " is ", chip.max_graph_tensors});
  }
}
#endif

#if RONDO_HAS_BODIES
RONDO_INLINE void refuse_loops(const GraphView& graph, const char* platform) {
  for (const LoopRecord& loop : graph.loops) {
    if (!loop.has_work()) continue;
    const TaskRecord& decision = graph.tasks[loop.decision];
    throw Error(Errc::unsupported,
                Error::Text{"loop '", graph.name(decision.name), "', task ", decision.added_as, ": ", platform,
                            ", with the engine that it is opened with, runs no "
                            "loops; unroll it, or run a round for each repetition"});
  }
}
#endif

}  // namespace rondo::graph
