// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/task_graph.hpp>

/// The bodies of TaskGraph's members that have to do with symbols; include task_graph.hpp.
namespace rondo {

namespace graph::detail {
/// What a task runs that has nothing to do.
inline void do_nothing(ArgWord*) noexcept {}
}  // namespace graph::detail

constexpr Dim TaskGraph::dim(std::string_view wanted, std::source_location where) {
  if (wanted.empty()) throw Error(Errc::invalid_argument, Error::Text("a symbol has no name; give it one"), where);
  for (const graph::NameRef other : symbols_) {
    if (name(other) == wanted) {
      throw Error(Errc::invalid_argument, Error::Text("symbol '", wanted, "' is already there; give each its own name"),
                  where);
    }
  }
  if (symbols_.size() == static_cast<std::size_t>(Dim::max_symbols)) {
    throw Error(Errc::limit_exceeded, Error::Text("a graph has at most ", Dim::max_symbols, " symbols"), where);
  }
  symbols_.push_back(intern(wanted));
  return Dim::symbol(static_cast<std::int32_t>(symbols_.size()) - 1);
}

constexpr void TaskGraph::check_dim(const Dim& dim, std::string_view what, std::string_view wanted,
                                    std::source_location where) const {
  bool known = dim.valid();
  dim.for_each_symbol([&](std::int32_t s) { known = known && static_cast<std::size_t>(s) < symbols_.size(); });
  if (!known) {
    throw Error(Errc::invalid_argument,
                Error::Text(what, " '", wanted, "': a size ",
                            dim.valid() ? "is made of a symbol of another graph"
                                        : "is an expression of too many parts, or of a number above 2^31-1"),
                where);
  }
}

/// Formats bake the shapes of tensors into constants.
constexpr void TaskGraph::Draft::refuse_symbols(std::string_view task) const {
  for (const graph::ArgRecord& arg : args) {
    if (arg.kind == graph::ArgRecord::Kind::address && graph.tensors_[arg.tensor].shape.is_symbolic()) {
      throw Error(Errc::unsupported, Error::Text("task '", task, "' has an args format, and tensor '",
                                                 graph.name(graph.tensors_[arg.tensor].name),
                                                 "' a symbolic shape; formats take plain shapes only"));
    }
  }
}

constexpr TaskGraph TaskGraph::instantiate(std::span<const std::int64_t> values) const {
  const auto fail = [&](Errc code, const char* what, std::string_view who, const char* wrong) {
    Error::Text text(what, " '", who, "' ", wrong, " with ");
    for (std::size_t s = 0; s < symbols_.size(); ++s) {
      if (s != 0) text.append(", ");
      text.append(Error::Text(name(symbols_[s]), " = ", values[s]));
    }
    throw Error(code, text);
  };
  if (values.size() != symbols_.size()) {
    throw Error(Errc::invalid_argument,
                Error::Text("the graph has ", symbols_.size(), " symbols, ", values.size(), " values were given"));
  }
  TaskGraph result = *this;
  result.symbols_.clear();
  for (graph::TensorRecord& tensor : result.tensors_) {
    if (!tensor.shape.is_symbolic()) continue;
    std::int64_t count = 1;
    std::int64_t bytes = 0;
    std::int64_t extents[max_rank] = {};
    bool fits = true;
    for (std::size_t d = 0; d < tensor.shape.rank(); ++d) {
      const Dim& dim = tensor.shape.dim(d);
      const Dim::Value extent = dim.empty() ? Dim::Value{tensor.shape.extent(d), true} : dim.evaluate(values.data());
      if (!extent.ok) fail(Errc::overflow, "tensor", name(tensor.name), "has an extent that does not fit into 64 bits");
      if (extent.value < 0) fail(Errc::invalid_argument, "tensor", name(tensor.name), "has a negative extent");
      extents[d] = extent.value;
      fits = fits && !__builtin_mul_overflow(count, extent.value, &count);
    }
    fits = fits && !__builtin_mul_overflow(count, static_cast<std::int64_t>(size_of(tensor.type)), &bytes);
    if (!fits) fail(Errc::overflow, "tensor", name(tensor.name), "is 2^63 bytes or more");
    if (rides_in_args(tensor.direction) && bytes > graph::max_host_input_bytes) {
      fail(Errc::invalid_argument, "host input", name(tensor.name), "takes more than 4096 bytes");
    }
    tensor.shape = Shape(extents, tensor.shape.rank());
    tensor.count = static_cast<std::uint64_t>(count);
    tensor.bytes = static_cast<std::uint64_t>(bytes);
  }
  for (const graph::TensorRecord& tensor : result.tensors_) {
    if (tensor.alias_of == graph::TensorRecord::no_alias) continue;
    if (result.tensors_[tensor.alias_of].bytes != tensor.bytes) {
      fail(Errc::invalid_argument, "output", name(tensor.name), "is not as large as the input that it reuses");
    }
  }
  for (graph::TaskRecord& task : result.tasks_) {
    if (!task.blocks_dim.empty()) {
      const Dim::Value blocks = task.blocks_dim.evaluate(values.data());
      if (!blocks.ok || blocks.value < 0 || blocks.value > 0xFFFF'FFFF) {
        fail(Errc::invalid_argument, "task", name(task.name), "runs as a number of blocks below 0 or above 2^32-1");
      }
      task.blocks = static_cast<std::uint32_t>(blocks.value);
      task.blocks_dim = {};
    }
    bool writes_elements = false;
    bool writes_any = false;
    for (std::uint32_t a = task.first_arg; a < task.first_arg + task.arg_count; ++a) {
      graph::ArgRecord& arg = result.args_[a];
      const graph::TensorRecord& tensor = result.tensors_[arg.tensor];
      if (arg.kind == graph::ArgRecord::Kind::extent && tensors_[arg.tensor].shape.is_symbolic()) {
        arg.bits = arg.dimension == graph::ArgRecord::all_elements ? static_cast<ArgWord>(tensor.count)
                                                                   : tensor.shape.extent(arg.dimension);
      }
      if (arg.kind == graph::ArgRecord::Kind::address && writes(arg.access)) {
        writes_any = true;
        writes_elements = writes_elements || tensor.count != 0;
      }
    }
    if (task.blocks == 0 || (writes_any && !writes_elements)) {
      task.entry = &graph::detail::do_nothing;
      task.blocks = 1;
    }
  }
  return result;
}

}  // namespace rondo
