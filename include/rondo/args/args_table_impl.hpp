// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/detail/compiled.hpp>
#include <rondo/detail/keyed.hpp>
#include <rondo/error.hpp>

#include <algorithm>
#include <vector>

#if RONDO_HAS_BODIES
/// The set-up functions of ArgsTable.
namespace rondo::args {

/// The size of a graph's table. Offsets in it have 32 bits. @throws Error overflow
[[nodiscard]] inline TableShape checked_shape_of(const graph::GraphView& graph) {
  const TableShape shape = shape_of(graph);
  if (shape.size() >= 0xFFFF'FFFF) {
    throw Error(Errc::overflow, Error::Text{"the args table takes ", shape.size(),
                                            " bytes, the most is 4 GiB; use fewer tasks or blocks"});
  }
  return shape;
}

RONDO_INLINE ArgsTable::ArgsTable(const graph::GraphView& graph, const Bases& bases, SystemProvider provider)
    : bases_{bases.layout},
      shape_{checked_shape_of(graph)},
      image_((shape_.size() + sizeof(Line) - 1) / sizeof(Line) + 1),
      task_begin_(graph.tasks.size()),
      block_bytes_(graph.tasks.size()),
      host_inputs_(graph.tensors.size()),
      use_begin_(bases.layout.count + 1),
      seen_{reinterpret_cast<std::uintptr_t>(image_.data())} {
  const std::vector<rondo::detail::Keyed> order = place(graph);
  write_constants(graph, bases.sources, provider);
  const std::vector<Relocation> found = find_addresses(graph, order, bases.sources);
  for (const Relocation& relocation : found) {
    ++use_begin_[relocation.base + 1];
    has_narrow_ = has_narrow_ || relocation.narrow != 0;
  }
  for (std::uint32_t b = 0; b < bases_.count; ++b) use_begin_[b + 1] += use_begin_[b];
  // By base, without comparisons. Then the addresses of a task may still be out of order, but not two tasks.
  std::vector<std::uint32_t> next = use_begin_;
  uses_.resize(found.size());
  for (const Relocation& relocation : found) {
    std::uint32_t to = next[relocation.base]++;
    for (; to > use_begin_[relocation.base] && uses_[to - 1].at > relocation.at; --to) uses_[to] = uses_[to - 1];
    uses_[to] = relocation;
  }
  (void)rewrite(BaseLayout::absolute, 0);
}

/// Returns the addresses in the table, those of a task after those of the tasks before it in `order`.
RONDO_INLINE std::vector<Relocation> ArgsTable::find_addresses(const graph::GraphView& graph,
                                                               const std::vector<rondo::detail::Keyed>& order,
                                                               const std::vector<Source>& sources) const {
  std::vector<Relocation> found;
  found.reserve(graph.args.size());
  for (const rondo::detail::Keyed& each : order) {
    const std::size_t t = each.item;
    const graph::TaskRecord& task = graph.tasks[t];
    for (std::uint32_t b = 0; b < task.blocks; ++b) {
      const std::uint32_t begin = task_begin_[t] + b * task.block_bytes;
      for (const graph::ArgRecord& arg : graph.args_of(task)) {
        Source source;
        if (arg.kind == graph::ArgRecord::Kind::own_block) {
          source = {BaseLayout::table, begin + static_cast<std::uint64_t>(arg.bits)};
        } else if (!arg.is_address()) {
          continue;
        } else if (is_carried_in_args(graph.tensors[arg.tensor].direction)) {
          source = {BaseLayout::table, host_inputs_[arg.tensor]};
        } else {
          source = sources[arg.tensor];
        }
        Relocation relocation;
        relocation.addend = source.offset;
        relocation.at = begin + arg.offset;
        relocation.base = source.base & 0x7FFF'FFFF;
        relocation.narrow = arg.width == 4 ? 1 : 0;
        found.push_back(relocation);
      }
    }
  }
  return found;
}

/// Decides where the arguments of each task and the host inputs are. Returns the tasks in that order.
RONDO_INLINE std::vector<rondo::detail::Keyed> ArgsTable::place(const graph::GraphView& graph) {
  std::vector<rondo::detail::Keyed> in[partition_count];  // often in order already, so each is sorted by itself
  const std::vector<std::uint32_t> groups = groups_of(graph);
  for (std::vector<rondo::detail::Keyed>& tasks : in) tasks.reserve(groups.size());
  for (std::size_t t = 0; t < groups.size(); ++t) {
    in[static_cast<std::size_t>(partition_of(graph, graph.tasks[t]))].push_back({groups[t], t});
  }
  std::vector<rondo::detail::Keyed> order;
  order.reserve(groups.size());
  for (std::size_t p = 0; p < partition_count; ++p) {
    sort_keyed(in[p]);
    std::uint64_t begin = shape_.begin[p];
    for (const rondo::detail::Keyed& each : in[p]) {
      const graph::TaskRecord& task = graph.tasks[each.item];
      task_begin_[each.item] = static_cast<std::uint32_t>(begin);
      block_bytes_[each.item] = task.block_bytes;
      begin += std::uint64_t{task.blocks} * task.block_bytes;
      order.push_back(each);
    }
  }
  std::uint64_t begin = shape_[Partition::host_input];
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (!is_carried_in_args(graph.tensors[t].direction)) continue;
    host_inputs_[t] = begin;
    begin += host_input_bytes(graph.tensors[t]);
  }
  return order;
}

/// The bytes from the start of the first workspace that each round zeroes to the end of the last.
[[nodiscard]] inline std::uint64_t filled_bytes(const graph::GraphView& graph, const std::vector<Source>& sources) {
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].zeroed != Zeroed::each_round || graph.tensors[t].bytes == 0) continue;
    begin = std::min(begin, sources[t].offset);
    end = std::max(end, sources[t].offset + graph.tensors[t].bytes);
  }
  return end - begin;
}

RONDO_INLINE void ArgsTable::write_constants(const graph::GraphView& graph, const std::vector<Source>& sources,
                                             SystemProvider provider) {
  using Kind = graph::ArgRecord::Kind;
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    const graph::TaskRecord& task = graph.tasks[t];
    for (const graph::ArgRecord& arg : graph.args_of(task)) {
      if (arg.kind == Kind::address || arg.kind == Kind::own_block) continue;
      auto bits = static_cast<std::uint64_t>(arg.bits);
      if (arg.kind == Kind::filled_bytes) bits = filled_bytes(graph, sources);
      if (arg.kind == Kind::system) bits = provider(SystemSlot::from_bits(arg.bits));
      for (std::uint32_t b = 0; b < task.blocks; ++b) {
        if (arg.kind == Kind::block) bits = static_cast<std::uint64_t>(rondo::detail::to_word(Block{b, task.blocks}));
        put(task_begin_[t] + b * task.block_bytes + arg.offset, bits, arg.width == 4);
      }
    }
  }
}

RONDO_INLINE std::vector<Relocation> ArgsTable::relocations() const {
  std::vector<rondo::detail::Keyed> order;
  order.reserve(uses_.size());
  for (std::size_t u = 0; u < uses_.size(); ++u) order.push_back({static_cast<std::int64_t>(uses_[u].at), u});
  sort_keyed(order);
  std::vector<Relocation> sorted(uses_.size());
  for (std::size_t u = 0; u < uses_.size(); ++u) sorted[u] = uses_[order[u].item];
  return sorted;
}

}  // namespace rondo::args
#endif
