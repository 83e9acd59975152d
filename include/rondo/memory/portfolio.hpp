// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/exact_search.hpp>
#include <rondo/memory/first_fit.hpp>
#include <rondo/memory/hot_spots.hpp>
#include <rondo/memory/local_search.hpp>
#include <rondo/memory/lower_bound.hpp>
#include <rondo/memory/orders.hpp>
#include <rondo/memory/pins.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>
#include <rondo/memory/skyline.hpp>
#include <rondo/memory/timeline_fit.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace rondo::memory {

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
  std::unique_ptr<ExactSearch> search{};  ///< made where the problem is small enough for it
};

/// How much one first fit of the whole problem costs: about this many looks at a placed buffer.
[[nodiscard]] inline std::int64_t first_fit_work(const Planning& p) {
  return p.overlaps + 16 * static_cast<std::int64_t>(p.problem.size());
}

/// First fit by size; where too many buffers are alive at once for that, methods whose cost does not depend on it.
inline void plan_first(Planning& p) {
  if (first_fit_work(p) <= 40'000'000 || p.pinned || !p.problem.conflicts.empty()) {
    p.offer(FirstFit{p.problem}.run(make_order(p.problem, p.sections, Order::size)), to_string(Order::size));
    return;
  }
  p.offer(skyline(p.problem, p.sections, make_order(p.problem, p.sections, Order::duration)), "skyline by duration");
  if (!p.best.optimal()) p.offer(timeline_fit(p.problem, Fit::best), "timeline best fit");
  if (!p.best.optimal()) {
    p.offer(skyline(p.problem, p.sections, make_order(p.problem, p.sections, Order::area)), "skyline by area");
  }
}

/// The other greedy planners, in a fixed order, until one reaches the lower bound. How many are tried depends on the
/// number of pairs that meet, never on the clock.
inline void plan_greedily(Planning& p) {
  constexpr std::array orders{Order::breadth, Order::duration, Order::conflicts, Order::start, Order::area};
  const std::int64_t work = first_fit_work(p);
  const std::size_t tried = work <= 100'000 ? orders.size() : work <= 2'000'000 ? 3 : 0;
  if (tried > 0) {
    FirstFit fitter{p.problem};
    for (std::size_t k = 0; k < tried && !p.best.optimal(); ++k) {
      p.offer(fitter.run(make_order(p.problem, p.sections, orders[k])), to_string(orders[k]));
    }
  }
  if (p.best.optimal() || p.pinned || !p.problem.conflicts.empty()) return;
  p.offer(timeline_fit(p.problem, Fit::best), "timeline best fit");
}

}  // namespace detail

/// Threads a planner uses unless told otherwise.
[[nodiscard]] inline unsigned default_threads() noexcept { return std::max(1U, std::thread::hardware_concurrency()); }

namespace detail {

inline void plan_fast(Planning& p, unsigned threads) {
  plan_first(p);
  if (p.best.optimal()) return;
  const std::size_t n = p.problem.size();
  SearchBudget budget;
  budget.threads = threads;
  budget.rounds = 1;
  if (ExactSearch::fits(n, p.overlaps)) p.search = std::make_unique<ExactSearch>(p.problem, p.sections);
  if (p.search && n <= 1500) {
    budget.nodes = 1.5;
    budget.strategies = n <= 150 ? 16 : n <= 250 ? 10 : 6;
    p.search->improve(p.best, budget);
    if (p.best.optimal()) return;
    plan_greedily(p);
    if (p.best.optimal()) return;
    budget.strategies = n <= 150 ? 6 : n <= 250 ? 3 : 2;
    budget.nodes = 1.2;
    p.search->improve(p.best, budget);
    return;
  }
  plan_greedily(p);
  if (p.best.optimal() || first_fit_work(p) > 40'000'000) return;
  for (const double share : {0.9, 0.8}) {
    const std::vector<std::int64_t> offsets =
        plan_hot_spots(p.problem, p.sections, p.best.lower_bound, share, budget, 2000);
    if (!offsets.empty()) p.offer(offsets, "hot spots first");
    if (p.best.optimal()) return;
  }
  LocalSearch local{p.problem, p.sections};
  LocalBudget limits;
  limits.nodes = 5'000;
  local.improve(p.best, p.best.lower_bound, limits);
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
  if (!best.optimal() && planning.search) {
    SearchBudget limits;
    limits.threads = threads;
    limits.deadline = deadline;
    planning.search->improve(best, limits);
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
