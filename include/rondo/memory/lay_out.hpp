// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/detail/keyed.hpp>
#include <rondo/memory/check_plan.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/memory/lifetimes.hpp>
#include <rondo/memory/planners.hpp>
#include <rondo/memory/zeroed_block.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// The implementation of lay_out(): from lifetimes to a plan to offsets.
namespace rondo::memory {

namespace detail {

/// The buffers of the ports: outputs, then inputs, the smallest first.
[[nodiscard]] constexpr std::vector<std::uint32_t> order_ports(const graph::GraphView& graph, const Lifetimes& lives) {
  std::vector<std::uint32_t> order;
  std::vector<char> is_listed(lives.problem.size(), 0);
  std::vector<rondo::detail::Keyed> inputs;
  for (const bool outputs : {true, false}) {
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      const std::uint32_t buffer = lives.buffer_of[t];
      const graph::TensorRecord& tensor = graph.tensors[t];
      const bool is_output = copies_out(tensor.direction) || tensor.direction == Direction::workspace;
      if (buffer == Lifetimes::no_buffer || tensor.is_view() || !tensor.has_memory_per_slot()) continue;
      if (is_output != outputs || tensor.zeroed != Zeroed::never || is_listed[buffer] != 0) continue;
      is_listed[buffer] = 1;
      if (outputs) order.push_back(buffer);
      if (!outputs) inputs.push_back({lives.problem.buffers[buffer].size, buffer});
    }
  }
  sort_keyed(inputs);
  for (const auto& [size, buffer] : inputs) order.push_back(static_cast<std::uint32_t>(buffer));
  return order;
}

/// Whether a plan has one offset for each buffer, and all of them lie within an arena of at most 2^62 bytes. More
/// tensors can then be placed after that arena. A plan that is not so is wrong, and the checker reports why.
[[nodiscard]] constexpr bool is_extensible(const Plan& plan, std::size_t buffers) noexcept {
  bool is_inside = plan.offsets.size() == buffers && plan.arena >= 0 && plan.arena <= std::int64_t{1} << 62U;
  for (const std::int64_t offset : plan.offsets) is_inside = is_inside && offset >= 0 && offset <= plan.arena;
  return is_inside;
}

[[nodiscard]] constexpr Plan plan_ports(const PlannerCall& planner, const graph::GraphView& graph,
                                        const Lifetimes& lives) {
  if (!planner.ports_last) return planner.plan(lives.problem);
  const std::vector<std::uint32_t> ports = order_ports(graph, lives);
  Problem rest = lives.problem;
  for (const std::uint32_t port : ports) rest.buffers[port] = Buffer{};
  Plan plan = planner.plan(rest);
  if (!is_extensible(plan, rest.size())) return plan;
  for (const std::uint32_t port : ports) {
    const Buffer& buffer = lives.problem.buffers[port];
    plan.offsets[port] = aligned(plan.arena, buffer.alignment);
    plan.arena = plan.offsets[port] + buffer.size;
  }
  return plan;
}

[[nodiscard]] constexpr Plan plan_graph(const PlannerCall& planner, const graph::GraphView& graph,
                                        const Lifetimes& lives) {
  if (!planner.residents_first) return plan_ports(planner, graph, lives);
  std::vector<std::uint32_t> residents;
  Lifetimes rest = lives;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].direction != Direction::resident || lives.buffer_of[t] == Lifetimes::no_buffer) continue;
    residents.push_back(lives.buffer_of[t]);
    rest.problem.buffers[residents.back()] = Buffer{};
  }
  Plan plan = plan_ports(planner, graph, rest);
  if (!is_extensible(plan, rest.problem.size())) return plan;
  std::int64_t front = 0;
  std::int64_t alignment = 1;
  for (const Buffer& buffer : lives.problem.buffers) alignment = std::max(alignment, buffer.alignment);
  for (const std::uint32_t r : residents) front = aligned(front, alignment) + lives.problem.buffers[r].size;
  const std::int64_t shift = plan.arena == 0 ? 0 : aligned(front, alignment);
  for (std::int64_t& offset : plan.offsets) offset += shift;
  plan.arena = plan.arena == 0 ? front : plan.arena + shift;
  plan.lower_bound += front;
  front = 0;
  for (const std::uint32_t r : residents) {
    plan.offsets[r] = aligned(front, alignment);
    front = plan.offsets[r] + lives.problem.buffers[r].size;
  }
  return plan;
}

constexpr std::uint64_t lay_out(const graph::GraphView& graph, std::span<std::uint64_t> offsets,
                                const arch::Limits& chip, const PlannerCall& planner, FindLifetimes find) {
  Lifetimes lives = find(graph, chip, planner.ports_last);
  const ZeroedBlock each_round(graph, lives, Zeroed::each_round);
  const ZeroedBlock once(graph, lives, Zeroed::once);
  Plan plan;  // no conditional operator: see make_order()
  if (std::is_constant_evaluated()) {
    plan = plan_graph(planner, graph, lives);
  } else if (planner.in_parts != nullptr) {
    plan = planner.in_parts(planner, graph, lives);
  } else {
    plan = planner.plan(lives.problem);
  }
  if (planner.check != nullptr) planner.check(graph, lives, plan);
  if (plan.offsets.size() != lives.problem.size()) {
    throw Error(Errc::check_failed, Error::Text{"the planner '", plan.planner,
                                                "' made a wrong plan: ", to_string(Violation::Kind::wrong_count)});
  }
  each_round.place(plan);
  once.place(plan);
  for (std::size_t t = 0; t < offsets.size(); ++t) {
    const std::uint32_t buffer = lives.buffer_of[t];
    offsets[t] = buffer == Lifetimes::no_buffer
                     ? 0
                     : static_cast<std::uint64_t>(plan.offsets[buffer]) + graph.tensors[t].view_offset();
  }
  return static_cast<std::uint64_t>(plan.arena);
}

#if RONDO_HAS_BODIES
RONDO_INLINE void require_valid(const graph::GraphView& graph, const Lifetimes& lives, const Plan& plan) {
  const Violation violation = check_plan(lives.problem, plan);
  if (violation.ok()) return;
  const auto name_of = [&](std::size_t buffer) {
    std::size_t t = 0;
    while (t + 1 < lives.buffer_of.size() && lives.buffer_of[t] != buffer) ++t;
    return lives.buffer_of.empty() ? std::string_view{} : graph.name(graph.tensors[t].name);
  };
  throw Error(Errc::check_failed,
              Error::Text{"the planner '", plan.planner, "' made a wrong plan: ", to_string(violation.kind),
                          "; see tensors '", name_of(violation.a), "' and '", name_of(violation.b), "'"});
}

RONDO_INLINE Plan plan_greedily(const Problem& problem) { return Greedy::plan(problem); }
RONDO_INLINE Plan plan_by_default(const Problem& problem) {
  Plan plan = Greedy::plan(problem);
  // The greedy plan tends to place inputs next to each other, which are then copied at once; a few bytes are not worth
  // another copy in each round.
  constexpr std::int64_t worth_a_search = 64 << 10;
  if (linked_search != nullptr && plan.arena - plan.lower_bound >= worth_a_search) linked_search(problem, plan);
  return plan;
}
RONDO_INLINE Plan plan_in_parts(const PlannerCall& planner, const graph::GraphView& graph, const Lifetimes& lives) {
  return plan_graph(planner, graph, lives);
}
RONDO_INLINE Plan plan_apart(const Problem& problem) { return Disjoint::plan(problem); }
RONDO_INLINE std::uint64_t lay_out_at_run_time(const graph::GraphView& graph, std::span<std::uint64_t> offsets,
                                               const arch::Limits& chip, const PlannerCall& planner,
                                               FindLifetimes find) {
  return lay_out(graph, offsets, chip, planner, find);
}
template <Concurrency concurrency>
Lifetimes find_lifetimes_at_run_time(const graph::GraphView& graph, const arch::Limits& chip, bool ports_apart) {
  return find_lifetimes_in<concurrency>(graph, chip, ports_apart);
}
#ifdef RONDO_COMPILED
template Lifetimes find_lifetimes_at_run_time<Concurrency::sequential>(const graph::GraphView&, const arch::Limits&,
                                                                       bool);
template Lifetimes find_lifetimes_at_run_time<Concurrency::in_lanes>(const graph::GraphView&, const arch::Limits&,
                                                                     bool);
template Lifetimes find_lifetimes_at_run_time<Concurrency::parallel>(const graph::GraphView&, const arch::Limits&,
                                                                     bool);
template Lifetimes find_lifetimes_at_run_time<Concurrency::unordered>(const graph::GraphView&, const arch::Limits&,
                                                                      bool);
#endif
#endif

}  // namespace detail

template <arch::Arch A, class P, Concurrency concurrency>
constexpr std::uint64_t lay_out(const graph::GraphView& graph, std::span<std::uint64_t> offsets) {
  detail::PlannerCall planner = detail::call_of<P>;
  planner.plan = [](const Problem& problem) { return P::plan(problem); };  // a constant expression calls no linked code
  planner.check = nullptr;
  return detail::lay_out(graph, offsets, arch::limits_of<A>, planner,
                         &detail::find_lifetimes_in<detail::concurrency_for<P>(concurrency)>);
}

}  // namespace rondo::memory
