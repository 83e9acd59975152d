// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/first_fit.hpp>
#include <rondo/memory/lower_bound.hpp>
#include <rondo/memory/orders.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::memory {

/// The smallest of the plans by all greedy orders with first fit and best fit. Usable in constant expressions:
/// `static_assert(rondo::memory::plan_statically(problem).arena <= 128);`
///
/// Throws Error as validate() does; it does not check whether fixed offsets overlap. Cost: up to twelve runs of
/// FirstFit, or up to two if many conflicts make each run slow.
[[nodiscard]] constexpr Plan plan_statically(const Problem& problem) {
  validate(problem);
  const Sections sections{problem};
  Plan best;
  best.lower_bound = lower_bound(problem, sections);
  FirstFit fitter{problem};
  bool first = true;
  const bool is_long = problem.conflicts.size() > (std::size_t{1} << 18);
  for (const Order order :
       {Order::size, Order::breadth, Order::duration, Order::conflicts, Order::start, Order::area}) {
    const std::vector<std::uint32_t> numbers = make_order(problem, sections, order);
    for (const Fit fit : {Fit::first, Fit::best}) {
      const std::vector<std::int64_t>& offsets = fitter.run(numbers, fit);
      const std::int64_t arena = arena_of(problem, offsets);
      if (!first && arena >= best.arena) continue;
      first = false;
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

}  // namespace rondo::memory
