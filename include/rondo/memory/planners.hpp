// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/first_fit.hpp>
#include <rondo/memory/lower_bound.hpp>
#include <rondo/memory/orders.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

/// The planners of sessions: `using Plan = rondo::memory::Greedy;` in the policies. The folder search/ has more.
namespace rondo::memory {

/// A planner: a type with `static Plan plan(const Problem&)`, which returns a plan that check_plan() accepts, or throws
/// Error. If it is constexpr, it can also plan static graphs. The log shows its `static constexpr const char* name`, if
/// it has one.
template <class P>
concept Planner = requires(const Problem& problem) {
  { P::plan(problem) } -> std::same_as<Plan>;
};

/// Places every buffer separately, so that each tensor can be inspected after a round; above those with fixed offsets.
/// It does not look at lifetimes, so its lower bound is only the largest end that a single buffer has by itself.
struct Disjoint {
  static constexpr const char* name = "disjoint";
  [[nodiscard]] static constexpr Plan plan(const Problem& problem) {
    validate(problem);
    Plan result;
    result.planner = "disjoint";
    for (const Buffer& buffer : problem.buffers) {
      result.offsets.push_back(std::max(buffer.fixed_offset, std::int64_t{0}));
      if (buffer.is_fixed()) result.arena = std::max(result.arena, buffer.fixed_offset + buffer.size);
      if (buffer.occupies()) result.lower_bound = std::max(result.lower_bound, result.offsets.back() + buffer.size);
    }
    for (std::size_t i = 0; i < problem.size(); ++i) {
      const Buffer& buffer = problem.buffers[i];
      if (buffer.is_fixed() || buffer.size == 0) continue;
      result.offsets[i] = aligned(result.arena, buffer.alignment);
      result.arena = result.offsets[i] + buffer.size;
    }
    return result;
  }
};

/// The smallest plan of all greedy orders with first fit and best fit, and that of Disjoint; reaches the lower bound
/// for most networks. Of more than 1,024 buffers, Disjoint's plan is taken at once if it is optimal. Throws Error as
/// validate() does; it does not check whether fixed offsets overlap. Cost: up to
/// twelve runs of FirstFit, or up to two if many conflicts make each run slow; less than a millisecond for a graph of
/// hundreds of tensors.
struct Greedy {
  static constexpr const char* name = "greedy";
  [[nodiscard]] static constexpr Plan plan(const Problem& problem) {
    validate(problem);
    const Sections sections{problem};
    Plan best = Disjoint::plan(problem);
    best.lower_bound = lower_bound(problem, sections);
    // FirstFit takes quadratic time for buffers that are all in use together. Small plans are left to it, as it places
    // inputs next to each other, which are then copied at once.
    constexpr std::size_t many = 1024;
    if (best.optimal() && problem.size() > many) return best;
    bool is_apart = true;
    FirstFit fitter{problem};
    const bool is_long = problem.conflicts.size() > (std::size_t{1} << 18);
    for (const Order order :
         {Order::size, Order::breadth, Order::duration, Order::conflicts, Order::start, Order::area}) {
      const std::vector<std::uint32_t> numbers = make_order(problem, sections, order);
      for (const Fit fit : {Fit::first, Fit::best}) {
        const std::vector<std::int64_t>& offsets = fitter.run(numbers, fit);
        const std::int64_t arena = arena_of(problem, offsets);
        if (is_apart ? arena > best.arena : arena >= best.arena) continue;
        is_apart = false;
        best.offsets = offsets;
        best.arena = arena;
        best.planner = to_string(order);
        if (best.optimal()) return best;
      }
      if (is_long) break;
    }
    best.out_of_budget = true;
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
