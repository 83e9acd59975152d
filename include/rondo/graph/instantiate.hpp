// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/graph/task_graph.hpp>

#include <cstdint>
#include <span>
#if RONDO_HAS_GRAPH_BODIES
#include <rondo/error.hpp>
#include <rondo/graph/loop_order.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>
#endif
#if RONDO_HAS_BODIES
#include <rondo/graph/analysis.hpp>
#endif

/// Converts a symbolic graph to a plain one; usable in constant expressions as TaskGraph is.
namespace rondo::graph {

/// Returns the graph, with the same handles, for these values of its symbols, by number. Tasks that write only tensors
/// without elements, or have 0 blocks, are idle: freezing removes them. @throws Error invalid_argument, wrong_size or
/// overflow, with the name of the tensor or task and the symbols' values
[[nodiscard]] RONDO_CONSTEXPR TaskGraph instantiate(const TaskGraph& graph, std::span<const std::int64_t> values);

#if RONDO_HAS_GRAPH_BODIES
RONDO_CONSTEXPR TaskGraph instantiate(const TaskGraph& graph, std::span<const std::int64_t> values) {
  const auto fail = [&](Errc code, const char* what, std::string_view who, const char* wrong) {
    Error::Text text{what, " '", who, "' ", wrong, " with "};
    for (std::size_t s = 0; s < graph.symbols().size(); ++s) {
      if (s != 0) text.append(", ");
      text.append(Error::Text{graph.name(graph.symbols()[s]), " = ", values[s]});
    }
    throw Error(code, text);
  };
  if (values.size() != graph.symbols().size()) {
    throw Error(Errc::invalid_argument, Error::Text{"the graph has ", graph.symbols().size(), " symbols, ",
                                                    values.size(), " values were given"});
  }
  using Of = SymbolicSize::Of;
  TaskGraph result = graph;
  result.symbols_.clear();
  result.symbolic_sizes_ = {};
  std::vector<Shape> plain;  // each of the symbolic sizes
  for (const SymbolicSize& size : graph.symbolic_sizes()) {
    std::int64_t extents[max_rank] = {};
    std::int64_t count = 1;
    bool fits = true;
    bool is_negative = false;
    bool has_values = true;
    for (std::size_t d = 0; d < size.shape.rank(); ++d) {
      const Dim::Value extent = size.shape.evaluate(d, values.data());
      extents[d] = extent.value;
      has_values = has_values && extent.ok;
      is_negative = is_negative || extent.value < 0;
      fits = fits && !__builtin_mul_overflow(count, extent.value, &count);
    }
    const Shape& shape = plain.emplace_back(extents, size.shape.rank());
    const auto task_name = [&] { return graph.name(graph.tasks()[size.task].name); };
    switch (size.of) {
      case Of::tensor: {
        TensorRecord& tensor = result.tensors_[size.tensor];
        const std::string_view name = graph.name(tensor.name);
        std::int64_t bytes = 0;
        if (!has_values) fail(Errc::overflow, "tensor", name, "has an extent that does not fit into 64 bits");
        if (is_negative) fail(Errc::invalid_argument, "tensor", name, "has a negative extent");
        fits = fits && !__builtin_mul_overflow(count, static_cast<std::int64_t>(size_of(tensor.type)), &bytes);
        if (!fits) fail(Errc::overflow, "tensor", name, "is 2^63 bytes or more");
        if (is_carried_in_args(tensor.direction) && bytes > max_host_input_bytes) {
          fail(Errc::invalid_argument, "host input", name, "takes more than 4096 bytes");
        }
        tensor.shape = shape;
        tensor.symbolic = TensorRecord::not_symbolic;
        tensor.count = static_cast<std::uint64_t>(count);
        tensor.bytes = static_cast<std::uint64_t>(bytes);
        break;
      }
      case Of::view: {
        TensorRecord& view = result.tensors_[size.tensor];
        const TensorRecord& source = result.tensors_[size.task];
        const auto first = static_cast<std::uint64_t>(count);
        const std::string_view name = graph.name(view.name);
        if (!has_values || is_negative) {
          fail(Errc::invalid_argument, "view", name, "starts at a negative element, or beyond 2^63,");
        }
        if (first > source.count || view.count > source.count - first) {
          fail(Errc::invalid_argument, "view", name, "goes beyond the end of what it shows");
        }
        view.view_first = source.view_first + first;
        break;
      }
      case Of::blocks:
        if (!has_values || is_negative || count > 0xFFFF'FFFF) {
          fail(Errc::invalid_argument, "task", task_name(), "runs as a number of blocks below 0 or above 2^32-1");
        }
        result.tasks_[size.task].blocks = static_cast<std::uint32_t>(count);
        break;
      case Of::value:
        if (!has_values || is_negative) {
          fail(Errc::invalid_argument, graph.tasks()[size.task].call == nullptr ? "loop" : "library call", task_name(),
               "receives a value that is negative, or above 2^63-1,");
        }
        break;
      case Of::reshape:
        fits = fits && has_values && !is_negative;
        if (!fits || static_cast<std::uint64_t>(count) != result.tensors_[size.tensor].count) {
          fail(Errc::wrong_size, "task", task_name(), "takes a tensor under a shape that does not hold its elements");
        }
        break;
    }
  }
  for (const TensorRecord& tensor : result.tensors_) {
    if (tensor.alias_of != TensorRecord::no_alias && result.tensors_[tensor.alias_of].bytes != tensor.bytes) {
      fail(Errc::invalid_argument, "output", graph.name(tensor.name), "is not as large as the input that it reuses");
    }
  }
  for (TaskRecord& task : result.tasks_) {
    result.widen(task);
    bool writes_elements = false;
    bool writes_any = false;
    for (std::uint32_t a = task.first_arg; a < task.first_arg + task.arg_count; ++a) {
      ArgRecord& arg = result.args_[a];
      if (arg.kind == ArgRecord::Kind::extent && graph.tensors()[arg.tensor].is_symbolic()) {
        const TensorRecord& tensor = result.tensors_[arg.tensor];
        arg.bits = arg.dimension == ArgRecord::all_elements ? static_cast<ArgWord>(tensor.count)
                                                            : tensor.shape.extent(arg.dimension);
      }
      if (arg.kind == ArgRecord::Kind::reshaped_extent) {
        arg.bits = plain[static_cast<std::size_t>(arg.bits)].extent(arg.dimension);
        arg.kind = ArgRecord::Kind::extent;
      }
      if (arg.is_address() && writes(arg.access)) {
        writes_any = true;
        writes_elements = writes_elements || result.tensors_[arg.tensor].count != 0;
      }
    }
    if (task.blocks == 0 || (writes_any && !writes_elements)) task.idle = true;
  }
  if (!is_constant_expression()) need_idle(result.rare_code_);
  for (std::size_t l = result.loops_.size(); l-- > 0;) {
    refuse_open_loop(result.loops_[l]);
    TaskRecord& decision = result.tasks_[result.loops_[l].decision];
    const ArgWord most = result.args_[decision.first_arg + decision.arg_count - 1].bits;
    if (most < 1 || most > 0xFFFF'FFFF) {
      fail(Errc::invalid_argument, "loop", graph.name(decision.name), "repeats at most 0 times, or 2^32 and more,");
    }
    const auto has_work = [&](const TaskRecord& task) {
      return !task.idle && &task != &decision && is_within(result.loops_, task.loop, static_cast<std::uint32_t>(l));
    };
    decision.idle = std::none_of(result.tasks_.begin(), result.tasks_.end(), has_work);
  }
  return result;
}
#endif

}  // namespace rondo::graph

namespace rondo {
using graph::instantiate;
#if RONDO_HAS_BODIES
RONDO_INLINE void graph::need_idle(RareCode& code) noexcept { code.leave_out_idle = &leave_out_idle; }
#endif
}  // namespace rondo
