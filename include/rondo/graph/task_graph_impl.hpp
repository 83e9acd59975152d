// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/graph/task_graph.hpp>

#include <cstddef>
#include <initializer_list>
#include <vector>

/// The bodies of TaskGraph's longer members. Include task_graph.hpp instead.
#if RONDO_HAS_GRAPH_BODIES
namespace rondo {

RONDO_CONSTEXPR graph::NameRef TaskGraph::intern(std::string_view name) {
  const graph::NameRef ref{static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(name.size())};
  std::vector<char> own;  // the name may be part of the text, which grows
  for (const char c : name) own.push_back(c);
  for (const char c : own) text_.push_back(c);
  return ref;
}

RONDO_CONSTEXPR Dim TaskGraph::dim(std::string_view wanted, Where where) {
  if (wanted.empty()) refuse(where, {"a symbol has no name; give it one"});
  for (const graph::NameRef other : symbols_) {
    if (name(other) == wanted) {
      refuse(where, {"symbol '", wanted, "' is already there; give each its own name"});
    }
  }
  if (symbols_.size() == static_cast<std::size_t>(Dim::max_symbols)) {
    throw Error(Errc::limit_exceeded, Error::Text{"a graph has at most ", Dim::max_symbols, " symbols"}, where);
  }
  symbols_.push_back(intern(wanted));
  return Dim::symbol(static_cast<std::int32_t>(symbols_.size()) - 1);
}

RONDO_CONSTEXPR void TaskGraph::fix_addresses(TaskId task, Where where) {
  if (index(task) >= tasks_.size()) {
    refuse(where, {"fix_addresses: there is no task ", index(task), "; the graph has ", tasks_.size()});
  }
  for (const graph::ArgRecord& arg : args_of(tasks_[index(task)])) {
    if (!arg.is_address()) continue;
    const std::uint32_t home = graph::home_of(tensors_, arg.tensor);
    tensors_[arg.tensor].fixed = tensors_[graph::root_of(tensors_, arg.tensor)].fixed = tensors_[home].fixed = true;
    if (tensors_[home].direction != Direction::in) continue;
    for (graph::TensorRecord& output : tensors_) output.fixed = output.fixed || output.alias_of == home;
  }
}

RONDO_CONSTEXPR void TaskGraph::add_edge(TaskId before, TaskId after, Where where) {
  for (const TaskId task : {before, after}) {
    if (index(task) >= tasks_.size()) {
      refuse(where, {"add_edge: there is no task ", index(task), "; the graph has ", tasks_.size()});
    }
  }
  explicit_edges_.push_back({index(before), index(after)});
}

RONDO_CONSTEXPR void TaskGraph::check_new_tensor(std::string_view wanted, const SymbolicShape& shape,
                                                 Where where) const {
  if (wanted.empty()) {
    refuse(where, {"tensor ", tensors_.size(), " has no name; give it one"});
  }
  if (names_.find(wanted, tensor_name()) != graph::NameIndex::none) {
    refuse(where, {"tensor '", wanted, "' is already there; give each its own name"});
  }
  if (shape.rank() > max_rank) {
    refuse(where, {"tensor '", wanted, "' has ", shape.rank(), " dimensions; the most is ", max_rank});
  }
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (!shape.dim(d).empty()) {
      check_dim(shape.dim(d), "tensor", wanted, where);
    } else if (shape.extent(d) < 1) {
      refuse(where, {"tensor '", wanted, "': extent ", d,
                     shape.extent(d) == 0 ? " is zero" : " is negative or above 2^63-1", "; each must be at least 1"});
    }
  }
}

RONDO_CONSTEXPR TensorKey TaskGraph::push_tensor(std::string_view wanted, graph::TensorRecord record) {
  // With the first tensor, since the compiler makes global graphs, and since a graph may be used again after a move.
  if (tensors_.empty() && !graph::is_constant_expression()) tag_ = detail::next_graph_tag();
  const TensorKey key{TensorId{static_cast<std::uint32_t>(tensors_.size())}, tag_};
  record.name = intern(wanted);
  names_.reserve_one(tensor_name());
  tensors_.push_back(record);
  names_.add(name(record.name));  // `wanted` may have been part of the text, which has grown
  return key;
}

RONDO_CONSTEXPR TensorKey TaskGraph::add_tensor(std::string_view wanted, DataType type, Direction direction,
                                                const SymbolicShape& shape, Where where) {
  check_new_tensor(wanted, shape, where);
  std::int64_t count = 1;
  std::int64_t bytes = 0;
  bool overflow = false;
  for (std::size_t d = 0; d < shape.rank(); ++d) overflow |= __builtin_mul_overflow(count, shape.extent(d), &count);
  if (shape.is_symbolic()) count = 0, overflow = false;  // only instantiate() knows the size
  overflow |= __builtin_mul_overflow(count, static_cast<std::int64_t>(size_of(type)), &bytes);
  if (overflow) {
    throw Error(Errc::overflow, Error::Text{"tensor '", wanted, "' is 2^63 bytes or more; use smaller extents"}, where);
  }
  if (is_carried_in_args(direction) && bytes > graph::max_host_input_bytes) {
    refuse(where, {"host input '", wanted, "' takes ", bytes, " bytes, the most is ", graph::max_host_input_bytes,
                   "; make it an input"});
  }
  graph::TensorRecord record{
      {}, type, direction, shape.plain(), static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(bytes)};
  if (!shape.is_symbolic()) return push_tensor(wanted, record);
  detail::make_room(symbolic_sizes_, 1);
  record.symbolic = static_cast<std::uint32_t>(symbolic_sizes_.size());
  const TensorKey key = push_tensor(wanted, record);
  symbolic_sizes_.push_back({graph::SymbolicSize::Of::tensor, 0, index(key.tensor()), shape});
  return key;
}

RONDO_CONSTEXPR TensorKey TaskGraph::add_value(std::string_view wanted, const graph::RoundValue& value,
                                               std::size_t bytes, TensorKey described, Where where) {
  check_new_tensor(wanted, {}, where);
  const bool is_descriptor = value.kind == graph::ValueKind::descriptor;
  if (is_descriptor && !has(described)) refuse(where, {"value '", wanted, "' describes a tensor of another graph"});
  if (bytes > static_cast<std::size_t>(graph::max_host_input_bytes)) {
    refuse(where, {"value '", wanted, "' takes ", bytes, " bytes, the most is ", graph::max_host_input_bytes});
  }
  graph::TensorRecord record{{}, DataType::uint8, Direction::session_value, Shape{}, bytes, bytes};
  record.value = value;
  return push_tensor(wanted, record);
}

RONDO_CONSTEXPR void TaskGraph::declare_alias(TensorKey output, TensorKey input, Where where) {
  const auto fail = [&](std::initializer_list<detail::TextPart> text) { refuse(where, text, "alias: "); };
  for (const TensorKey key : {output, input}) {
    if (!has(key)) fail({"a tensor is of another graph"});
  }
  graph::TensorRecord& to = tensors_[index(output.tensor())];
  graph::TensorRecord& from = tensors_[index(input.tensor())];
  if (!to.is_symbolic() && !from.is_symbolic() && to.bytes != from.bytes) {
    fail({"output '", name(to.name), "' takes ", to.bytes, " bytes, input '", name(from.name), "' ", from.bytes});
  }
  for (const graph::TensorRecord& other : tensors_) {
    if (other.alias_of == index(input.tensor())) fail({"input '", name(from.name), "' is reused already"});
  }
  if (to.alias_of != graph::TensorRecord::no_alias) fail({"output '", name(to.name), "' reuses an input already"});
  if (to.is_view()) fail({"output '", name(to.name), "' is a view"});
  to.alias_of = index(input.tensor());
  to.fixed = from.fixed = to.fixed || from.fixed;
}

RONDO_CONSTEXPR void TaskGraph::declare_view(TensorKey tensor, TensorKey source, const Extent& first, Where where) {
  const auto fail = [&](std::initializer_list<detail::TextPart> text) { refuse(where, text, "make_view: "); };
  for (const TensorKey key : {tensor, source}) {
    if (!has(key)) fail({"a tensor is of another graph"});
  }
  graph::TensorRecord to = tensors_[index(tensor.tensor())];
  const graph::TensorRecord& from = tensors_[index(source.tensor())];
  const std::uint32_t root = graph::root_of(tensors_, index(source.tensor()));
  if (to.is_view()) fail({"tensor '", name(to.name), "' is a view already"});
  if (tensor == source) fail({"tensor '", name(to.name), "' cannot be a view of itself"});
  if (to.alias_of != graph::TensorRecord::no_alias || to.zeroed != Zeroed::never || to.kept || to.fixed) {
    fail({"tensor '", name(to.name), "' has memory of its own: it reuses an input, is zeroed, kept or fixed"});
  }
  for (const graph::TensorRecord& other : tensors_) {
    if (other.view_of == index(tensor.tensor())) fail({"others are views of tensor '", name(to.name), "'"});
  }
  for (const graph::ArgRecord& arg : args_) {
    if (arg.is_address_of(index(tensor.tensor()))) {
      fail({"a task uses tensor '", name(to.name), "' already; make it a view first"});
    }
  }
  if (first.dim.empty() && first.value < 0) fail({"tensor '", name(to.name), "' starts at a negative element"});
  if (!first.dim.empty()) check_dim(first.dim, "view", name(to.name), where);
  const bool is_known = first.dim.empty() && !to.is_symbolic() && !from.is_symbolic();
  const auto skipped = static_cast<std::uint64_t>(first.value);
  if (is_known && (skipped > from.count || to.count > from.count - skipped)) {
    fail({"tensor '", name(to.name), "' of ", to.count, " elements, from element ", skipped, " on, goes beyond the ",
          from.count, " of '", name(from.name), "'"});
  }
  if (is_symbolic()) {
    symbolic_sizes_.push_back(
        {graph::SymbolicSize::Of::view, index(source.tensor()), index(tensor.tensor()), SymbolicShape{first}});
  }
  to.view_first = from.view_first + skipped;
  to.view_of = root;
  to.viewed_at = static_cast<std::uint32_t>(tasks_.size());
  to.fixed = tensors_[root].fixed;
  tensors_[index(tensor.tensor())] = to;
  if (to.direction == Direction::out) tensors_[root].delivered = true;
}

RONDO_CONSTEXPR graph::TensorRecord& TaskGraph::record_of(const char* call, TensorKey tensor, Where where) {
  if (!has(tensor)) refuse(where, {call, ": the tensor is of another graph"});
  return tensors_[index(tensor.tensor())];
}

RONDO_CONSTEXPR void TaskGraph::set_zeroed(graph::TensorRecord& tensor, Zeroed when) noexcept {
  tensor.zeroed = when;
  if (!graph::is_constant_expression()) graph::need_fill(rare_code_);
}

RONDO_CONSTEXPR void TaskGraph::zero_memory(TensorKey tensor, Zeroed when, Where where) {
  graph::TensorRecord& record = record_of("zero", tensor, where);
  if (record.is_view()) {
    refuse(where, {"zero: workspace '", name(record.name), "' is a view; zero what it shows"});
  }
  if (record.zeroed != Zeroed::never && record.zeroed != when) {
    refuse(where, {"zero: workspace '", name(record.name),
                   "' is zeroed each round and once; choose one, or take two workspaces"});
  }
  set_zeroed(record, when);
}

RONDO_CONSTEXPR void TaskGraph::check_dim(const Dim& dim, std::string_view what, std::string_view wanted,
                                          Where where) const {
  bool known = dim.valid();
  dim.for_each_symbol([&](std::int32_t s) { known = known && static_cast<std::size_t>(s) < symbols_.size(); });
  if (!known) {
    refuse(where, {what, " '", wanted, "': a size ",
                   dim.valid() ? "is made of a symbol of another graph"
                               : "is an expression of too many parts, of an empty one, or of a number above 2^31-1"});
  }
}

}  // namespace rondo
#endif
