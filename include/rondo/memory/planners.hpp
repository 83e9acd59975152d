// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/problem.hpp>
#include <rondo/memory/static_plan.hpp>

#include <concepts>

/// The planners of sessions: `using Plan = rondo::memory::Greedy;` in the policies. The folder search/ has more.
namespace rondo::memory {

/// A planner: a type with `static Plan plan(const Problem&)`, which returns a plan that check_plan() accepts, or throws
/// Error. If it is constexpr, it can also plan static graphs. The log shows its `static constexpr const char* name`, if
/// it has one.
template <class P>
concept Planner = requires(const Problem& problem) {
  { P::plan(problem) } -> std::same_as<Plan>;
};

/// Names the parts that P lacks to be a Planner.
template <class P>
consteval bool check_planner() {
  static_assert(Planner<P>, "rondo: a planner needs `static rondo::memory::Plan plan(const rondo::memory::Problem&);`");
  return Planner<P>;
}

/// Places every buffer separately, so that each tensor can be inspected after a round.
struct Disjoint {
  static constexpr const char* name = "disjoint";
  [[nodiscard]] static constexpr Plan plan(const Problem& problem) {
    validate(problem);
    Plan result;
    result.planner = "disjoint";
    for (const Buffer& buffer : problem.buffers) {
      result.offsets.push_back(aligned(result.arena, buffer.alignment));
      if (buffer.size != 0) result.arena = result.offsets.back() + buffer.size;
    }
    result.lower_bound = result.arena;
    return result;
  }
};

/// The smallest of a dozen greedy plans and that of Disjoint; reaches the lower bound for most networks.
/// Cost: less than a millisecond for a graph of hundreds of tensors.
struct Greedy {
  static constexpr const char* name = "greedy";
  [[nodiscard]] static constexpr Plan plan(const Problem& problem) {
    Plan best = plan_statically(problem);
    if (best.optimal()) return best;
    Plan apart = Disjoint::plan(problem);
    if (apart.arena < best.arena) {
      best.offsets = apart.offsets;
      best.arena = apart.arena;
      best.planner = apart.planner;
    }
    return best;
  }
};

/// The default: Greedy. In programs that link rondo::compiled, a smaller plan is then searched for, for 20 ms at most,
/// if it may save 64 KiB or more. The compiler plans static graphs as Greedy does.
struct DefaultPlanner : Greedy {};

/// Plans all buffers except those of ports with P, and places the ports after them, where they share no memory:
/// outputs, then inputs, the smallest first. For sessions whose rounds bind device memory.
template <class P>
struct PortsLast : P {};

/// Places residents first, in the graph's order, and plans the rest with P after them. So graphs that differ only in
/// the sizes of other tensors have their residents at the same offsets.
template <class P>
struct ResidentsFirst : P {};

}  // namespace rondo::memory
