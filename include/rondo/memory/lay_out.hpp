// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/algorithm.hpp>
#include <rondo/list.hpp>
#include <rondo/memory/check_plan.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/memory/lifetimes.hpp>
#include <rondo/memory/planners.hpp>
#include <rondo/memory/zeroed_block.hpp>
#include <rondo/slice.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

/// The body of lay_out(): lifetimes ▶ planner ▶ offsets.
namespace rondo::memory {

namespace detail {

/// The buffers of what rounds bind: those of outputs, then those of inputs, the smallest first.
[[nodiscard]] constexpr List<std::uint32_t> order_ports(const graph::GraphView& graph, const Lifetimes& lives) {
  List<std::uint32_t> order;
  for (const bool outputs : {true, false}) {
    const std::size_t begin = order.size();
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      const std::uint32_t buffer = lives.buffer_of[t];
      const graph::TensorRecord& tensor = graph.tensors[t];
      const bool is_output = copies_out(tensor.direction) || tensor.direction == Direction::workspace;
      if (buffer == Lifetimes::no_buffer || tensor.is_view() || !tensor.lies_with_ports()) continue;
      if (is_output != outputs || tensor.zeroed != Zeroed::never) continue;
      if (rondo::detail::none_of(order, [&](std::uint32_t other) { return other == buffer; })) order.push_back(buffer);
    }
    if (outputs) continue;
    rondo::detail::sort(order.data() + begin, order.size() - begin, [&](std::uint32_t a, std::uint32_t b) {
      const std::int64_t x = lives.problem.buffers[a].size;
      const std::int64_t y = lives.problem.buffers[b].size;
      return x != y ? x < y : a < b;
    });
  }
  return order;
}

/// Plans with P what is to be planned.
template <Planner P>
[[nodiscard]] constexpr Plan plan_graph(P, const graph::GraphView&, const Lifetimes& lives) {
  return P::plan(lives.problem);
}
/// Plans with P all but the ports, then lays the ports behind.
template <Planner P>
[[nodiscard]] constexpr Plan plan_graph(PortsLast<P>, const graph::GraphView& graph, const Lifetimes& lives) {
  const List<std::uint32_t> ports = order_ports(graph, lives);
  Problem rest = lives.problem;
  for (const std::uint32_t port : ports) rest.buffers[port] = Buffer{};
  Plan plan = P::plan(rest);
  for (const std::uint32_t port : ports) {
    const Buffer& buffer = lives.problem.buffers[port];
    plan.offsets[port] = aligned(plan.arena, buffer.alignment);
    plan.arena = plan.offsets[port] + buffer.size;
  }
  return plan;
}

/// Lays residents out, then plans the rest with P.
template <Planner P>
[[nodiscard]] constexpr Plan plan_graph(ResidentsFirst<P>, const graph::GraphView& graph, const Lifetimes& lives) {
  List<std::uint32_t> residents;
  Lifetimes rest = lives;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].direction != Direction::resident) continue;
    residents.push_back(lives.buffer_of[t]);
    rest.problem.buffers[residents.back()] = Buffer{};
  }
  Plan plan = plan_graph(P{}, graph, rest);
  std::int64_t front = 0;
  std::int64_t alignment = 1;
  for (const Buffer& buffer : lives.problem.buffers) alignment = rondo::detail::max(alignment, buffer.alignment);
  for (const std::uint32_t r : residents) front = aligned(front, alignment) + lives.problem.buffers[r].size;
  const std::int64_t behind = plan.arena == 0 ? 0 : aligned(front, alignment);
  for (std::int64_t& offset : plan.offsets) offset += behind;
  plan.arena = plan.arena == 0 ? front : plan.arena + behind;
  plan.lower_bound += front;
  front = 0;
  for (const std::uint32_t r : residents) {
    plan.offsets[r] = aligned(front, alignment);
    front = plan.offsets[r] + lives.problem.buffers[r].size;
  }
  return plan;
}

/// The plan of somebody's planner, held against the problem. @throws Error check_failed, naming the planner and tensors
inline void require_valid(const graph::GraphView& graph, const Lifetimes& lives, const Plan& plan) {
  const Violation violation = check_plan(lives.problem, plan);
  if (violation.ok()) return;
  const auto name_of = [&](std::size_t buffer) {
    std::size_t t = 0;
    while (t + 1 < lives.buffer_of.size() && lives.buffer_of[t] != buffer) ++t;
    return lives.buffer_of.empty() ? std::string_view{} : graph.name(graph.tensors[t].name);
  };
  throw Error(Errc::check_failed,
              Error::Text("the planner '", plan.planner, "' made a wrong plan: ", to_string(violation.kind),
                          "; see tensors '", name_of(violation.a), "' and '", name_of(violation.b), "'"));
}

}  // namespace detail

template <arch::Arch A, class P, Concurrency concurrency>
constexpr std::uint64_t lay_out(const graph::GraphView& graph, Slice<std::uint64_t> offsets) {
  static_assert(check_planner<P>());
  // Who wants all apart wants nothing done in place either.
  constexpr Concurrency order = std::is_same_v<P, Disjoint> ? Concurrency::unordered : concurrency;
  Lifetimes lives = find_lifetimes<A>(graph, order);
  const ZeroedBlock each_round(graph, lives, Zeroed::each_round);
  const ZeroedBlock once(graph, lives, Zeroed::once);
  Plan plan = detail::plan_graph(P{}, graph, lives);
#ifndef NDEBUG
  if (!std::is_constant_evaluated()) detail::require_valid(graph, lives, plan);
#endif
  each_round.place(plan);
  once.place(plan);
  for (std::size_t t = 0; t < offsets.size(); ++t) {
    const std::uint32_t buffer = lives.buffer_of[t];
    if (buffer == Lifetimes::no_buffer) {
      offsets[t] = 0;
    } else {
      offsets[t] = static_cast<std::uint64_t>(plan.offsets[buffer]) + graph.tensors[t].view_offset();
    }
  }
  return static_cast<std::uint64_t>(plan.arena);
}

}  // namespace rondo::memory
