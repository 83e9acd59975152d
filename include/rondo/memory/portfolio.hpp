// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/check_plan.hpp>
#include <rondo/memory/exact_search.hpp>
#include <rondo/memory/first_fit.hpp>
#include <rondo/memory/local_search.hpp>
#include <rondo/memory/lower_bound.hpp>
#include <rondo/memory/orders.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>
#include <rondo/memory/skyline.hpp>
#include <rondo/memory/timeline_fit.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace rondo::memory {

/// Throws Error if two pinned buffers that must be kept apart share bytes.
inline void require_compatible_pins(const Problem& problem) {
  Problem pinned;
  std::vector<std::uint32_t> number;
  std::vector<std::uint32_t> position(problem.size(), 0);
  Plan plan;
  for (std::uint32_t i = 0; i < problem.size(); ++i) {
    if (!problem.buffers[i].is_pinned()) continue;
    position[i] = static_cast<std::uint32_t>(number.size());
    number.push_back(i);
    pinned.buffers.push_back(problem.buffers[i]);
    plan.offsets.push_back(problem.buffers[i].pinned);
  }
  for (const auto& [a, b] : problem.conflicts) {
    if (problem.buffers[a].is_pinned() && problem.buffers[b].is_pinned()) {
      pinned.conflicts.emplace_back(position[a], position[b]);
    }
  }
  plan.arena = arena_of(pinned, plan.offsets);
  const Violation v = check_plan(pinned, plan);
  if (v.ok()) return;
  throw Error{Errc::invalid_argument,
              Error::Text{"buffers ", std::min(number[v.a], number[v.b]), " and ", std::max(number[v.a], number[v.b]),
                          " are pinned to the same bytes while both are in use; move one pin"}};
}

namespace detail {

/// A problem and what all planners want to know of it.
struct Planning {
  explicit Planning(const Problem& p) : problem{(validate(p), p)}, sections{p} {
    require_compatible_pins(p);
    const std::vector<std::int64_t> per_buffer = count_overlaps(p);
    overlaps = std::accumulate(per_buffer.begin(), per_buffer.end(), std::int64_t{0}) / 2 +
               static_cast<std::int64_t>(p.conflicts.size());
    for (const Buffer& b : p.buffers) pinned = pinned || b.is_pinned();
    best.lower_bound = lower_bound(p, sections);
    best.arena = std::numeric_limits<std::int64_t>::max();
  }

  void offer(const std::vector<std::int64_t>& offsets, const char* planner) {
    const std::int64_t arena = arena_of(problem, offsets);
    if (arena >= best.arena) return;
    best.offsets = offsets;
    best.arena = arena;
    best.planner = planner;
  }

  const Problem& problem;
  Sections sections;
  std::int64_t overlaps = 0;  ///< pairs of overlapping lifetimes, and explicit conflicts
  bool pinned = false;
  Plan best{};
};

/// The greedy planners, cheapest and best first, until one reaches the lower bound. Which ones are tried depends on the
/// number of pairs that meet, never on the clock.
inline void plan_greedily(Planning& p, unsigned threads) {
  constexpr std::array orders{Order::size,    Order::duration,  Order::area,
                              Order::breadth, Order::conflicts, Order::start};
  const auto n = static_cast<std::int64_t>(p.problem.size());
  const bool stackable = !p.pinned && p.problem.conflicts.empty();
  const std::int64_t work = p.overlaps + 16 * n;  // of one first fit
  const bool small = work <= 50'000;
  const std::size_t first_fits = small ? orders.size() : work <= 1'000'000 ? 3 : work <= 40'000'000 ? 1 : 0;
  // Where first fit is too dear, methods whose cost does not depend on how many are alive at once.
  if (first_fits == 0 && stackable) {
    p.offer(skyline(p.problem, p.sections, make_order(p.problem, p.sections, Order::duration)), "skyline by duration");
    if (!p.best.optimal()) p.offer(timeline_fit(p.problem, Fit::best), "timeline best fit");
    if (!p.best.optimal()) {
      p.offer(skyline(p.problem, p.sections, make_order(p.problem, p.sections, Order::area)), "skyline by area");
    }
    return;
  }
  if (first_fits <= 1) {
    FirstFit fitter{p.problem};
    p.offer(fitter.run(make_order(p.problem, p.sections, Order::size)), to_string(Order::size));
    if (!p.best.optimal() && stackable) p.offer(timeline_fit(p.problem, Fit::best), "timeline best fit");
    return;
  }
  if (small || threads <= 1) {
    FirstFit fitter{p.problem};
    for (std::size_t k = 0; k < first_fits && !p.best.optimal(); ++k) {
      p.offer(fitter.run(make_order(p.problem, p.sections, orders[k])), to_string(orders[k]));
    }
  } else {
    std::vector<std::vector<std::int64_t>> found(first_fits);
    first_winner(first_fits, threads, [&](std::size_t k, const std::atomic<bool>&) {
      FirstFit fitter{p.problem};
      found[k] = fitter.run(make_order(p.problem, p.sections, orders[k]));
      return arena_of(p.problem, found[k]) <= p.best.lower_bound;
    });
    for (std::size_t k = 0; k < first_fits && !p.best.optimal(); ++k) {
      if (!found[k].empty() || p.problem.buffers.empty()) p.offer(found[k], to_string(orders[k]));
    }
  }
  if (!p.best.optimal() && stackable) p.offer(timeline_fit(p.problem, Fit::best), "timeline best fit");
}

}  // namespace detail

/// Threads a planner uses unless told otherwise.
[[nodiscard]] inline unsigned default_threads() noexcept { return std::max(1U, std::thread::hardware_concurrency()); }

namespace detail {

inline void plan_fast(Planning& p, unsigned threads) {
  plan_greedily(p, threads);
  if (p.best.optimal()) return;
  if (ExactSearch::fits(p.problem.size(), p.overlaps) && p.overlaps <= 100'000) {
    ExactSearch search{p.problem, p.sections};
    SearchBudget budget;
    budget.threads = threads;
    budget.rounds = 2;
    search.improve(p.best, budget);
    if (p.best.optimal()) return;
  }
  if (p.problem.size() > 1000) {
    LocalSearch local{p.problem, p.sections};
    LocalBudget budget;
    budget.nodes = 20'000;
    local.improve(p.best, p.best.lower_bound, budget);
  }
}

}  // namespace detail

/// A good plan at once: greedy planners, then a search small enough to take milliseconds where they fall short.
///
/// Throws Error as validate() and require_compatible_pins() do. Same result whatever the number and timing of threads.
/// Cost: see docs; about 10 ms for hard problems of some hundred buffers, below 1 ms for networks, below 1 s for 1e5.
[[nodiscard]] inline Plan plan_fast(const Problem& problem, unsigned threads = default_threads()) {
  detail::Planning planning{problem};
  if (problem.buffers.empty()) return {{}, 0, 0, "nothing to plan", false};
  detail::plan_fast(planning, threads);
  planning.best.out_of_budget = !planning.best.optimal();
  return planning.best;
}

/// The best plan that can be found within `budget`: plan_fast, then search until the arena is proved minimal or the
/// time is up; then the best plan found so far is returned and says so (Plan::out_of_budget).
///
/// Throws Error as plan_fast does. A result found before the time was up does not depend on the timing of threads.
[[nodiscard]] inline Plan plan_best(const Problem& problem, std::chrono::steady_clock::duration budget,
                                    unsigned threads = default_threads()) {
  const auto start = std::chrono::steady_clock::now();
  const auto endless = std::chrono::steady_clock::time_point::max();
  const auto deadline = budget < endless - start ? start + budget : endless;
  detail::Planning planning{problem};
  if (problem.buffers.empty()) return {{}, 0, 0, "nothing to plan", false};
  detail::plan_fast(planning, threads);
  Plan& best = planning.best;
  if (!best.optimal() && ExactSearch::fits(problem.size(), planning.overlaps)) {
    ExactSearch search{problem, planning.sections};
    SearchBudget limits;
    limits.threads = threads;
    limits.deadline = deadline;
    search.improve(best, limits);
  }
  for (std::uint64_t seed = 1; !best.optimal() && std::chrono::steady_clock::now() < deadline; ++seed) {
    LocalSearch local{problem, planning.sections};
    LocalBudget limits;
    limits.nodes = 1'000'000;
    limits.deadline = deadline;
    limits.seed = seed;
    const std::int64_t room = best.arena - best.lower_bound;
    local.improve(best, best.lower_bound + (seed % 2 == 0 ? 0 : room / 2), limits);
  }
  best.out_of_budget = !best.optimal();
  return best;
}

}  // namespace rondo::memory
