// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/first_fit.hpp>
#include <rondo/memory/lower_bound.hpp>
#include <rondo/memory/orders.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>
#include <rondo/search/exact_search.hpp>
#include <rondo/search/fixed_offsets.hpp>
#include <rondo/search/local_search.hpp>
#include <rondo/search/skyline.hpp>
#include <rondo/search/timeline_fit.hpp>

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

namespace rondo::search {

using memory::Buffer;
using memory::FirstFit;
using memory::Fit;
using memory::Order;
using memory::Plan;
using memory::Problem;
using memory::Sections;

namespace detail {

/// A problem and the data about it that all planners use.
struct Planning {
  explicit Planning(const Problem& p) : problem{(validate(p), p)}, sections{p} {
    require_compatible_fixed_offsets(p);
    const std::vector<std::int64_t> per_buffer = memory::detail::count_overlaps(p);
    overlaps = std::accumulate(per_buffer.begin(), per_buffer.end(), std::int64_t{0}) / 2 +
               static_cast<std::int64_t>(p.conflicts.size());
    for (const Buffer& b : p.buffers) has_fixed = has_fixed || b.is_fixed();
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
  bool has_fixed = false;
  Plan best{};
  std::unique_ptr<ExactSearch> search{};  ///< null if the problem is too large for it
};

/// The estimated cost of one first fit of the whole problem, in accesses to placed buffers.
[[nodiscard]] inline std::int64_t first_fit_work(const Planning& p) {
  return p.overlaps + 16 * static_cast<std::int64_t>(p.problem.size());
}

/// The cost of about half a second.
inline constexpr std::int64_t affordable = 15'000'000;

/// Whether re-planning parts is worthwhile. It is not if so many are alive at once that a part is almost the whole.
[[nodiscard]] inline bool can_improve_parts(const Planning& p) {
  return p.overlaps <= 400 * static_cast<std::int64_t>(p.problem.size()) && first_fit_work(p) <= 3 * affordable;
}

/// First fit by size. If many buffers are alive at once, planners whose cost does not depend on that are tried first,
/// and first fit only if it is affordable and their result is not close to the bound.
inline void plan_first(Planning& p) {
  const std::int64_t work = first_fit_work(p);
  const bool stackable = !p.has_fixed && p.problem.conflicts.empty();
  if (stackable && work > 500'000) {
    p.offer(skyline(p.problem, p.sections, make_order(p.problem, p.sections, Order::duration)), "skyline by duration");
    if (!p.best.optimal() && work > affordable / 4) p.offer(timeline_fit(p.problem, Fit::best), "timeline best fit");
    if (p.best.optimal() || (work > affordable / 4 && p.best.ratio() < 1.001)) return;
    if (work > 3 * affordable || (work > affordable && p.best.ratio() < 1.02)) return;
  }
  p.offer(FirstFit{p.problem}.run(make_order(p.problem, p.sections, Order::size)), to_string(Order::size));
}

/// The other greedy planners, in a fixed order, until one reaches the lower bound. The number of planners tried depends
/// on the number of pairs that overlap in time, never on the clock.
inline void plan_greedily(Planning& p) {
  constexpr std::array orders{Order::breadth, Order::duration, Order::conflicts, Order::start, Order::area};
  const std::int64_t work = first_fit_work(p);
  const std::size_t tried = work <= 100'000 ? orders.size() : 3;
  if (tried > 0) {
    FirstFit fitter{p.problem};
    for (std::size_t k = 0; k < tried && !p.best.optimal(); ++k) {
      p.offer(fitter.run(make_order(p.problem, p.sections, orders[k])), to_string(orders[k]));
    }
  }
  if (p.best.optimal() || p.has_fixed || !p.problem.conflicts.empty()) return;
  p.offer(timeline_fit(p.problem, Fit::best), "timeline best fit");
}

}  // namespace detail

/// The default number of threads of a planner.
[[nodiscard]] inline unsigned default_threads() noexcept { return std::max(1U, std::thread::hardware_concurrency()); }

namespace detail {

/// Re-plans the stretches of time in which the best plan is too high, for several targets at once: the lower bound and
/// a few percent above it. Uses the lowest target that is reached, or else the best result.
inline void replan_stretches(Planning& p, unsigned threads, const LocalBudget& budget) {
  // At first a few percent above the bound; if the best plan is closer than that, fractions of the distance.
  const auto bound = static_cast<double>(p.best.lower_bound);
  const double room = static_cast<double>(p.best.arena) - bound;
  std::array aims{0.0, 0.004 * bound, 0.015 * bound, 0.03 * bound};
  if (aims[2] >= room) aims = {0.0, room / 4, room / 2, room * 0.8};
  std::array<Plan, 4> found;
  first_winner(aims.size(), threads, [&](std::size_t k, const std::atomic<bool>& cancelled) {
    const auto target = p.best.lower_bound + static_cast<std::int64_t>(aims[k]);
    if (target >= p.best.arena) return false;
    found[k] = p.best;
    LocalBudget limits = budget;
    limits.cancelled = &cancelled;
    LocalSearch{p.problem, p.sections}.improve_stretches(found[k], target, limits);
    return found[k].arena <= target;
  });
  for (const Plan& plan : found) {
    if (!plan.offsets.empty()) p.offer(plan.offsets, plan.planner);
  }
}

inline void plan_fast(Planning& p, unsigned threads) {
  plan_first(p);
  if (p.best.optimal()) return;
  const std::size_t n = p.problem.size();
  SearchBudget budget;
  budget.threads = threads;
  budget.rounds = 1;
  if (ExactSearch::fits(n, p.overlaps)) p.search = std::make_unique<ExactSearch>(p.problem, p.sections);
  const auto replan = [&] {
    if (!p.best.optimal() && can_improve_parts(p)) {
      replan_stretches(p, threads, {.nodes = 6'000, .per_window = 1.3});
    }
  };
  if (!p.search || n > 1500) {
    if (first_fit_work(p) <= 1'000'000) plan_greedily(p);
    replan();
    return;
  }
  budget.nodes = 1.5;
  budget.strategies = n <= 150 ? 16 : n <= 250 ? 10 : 6;
  p.search->improve(p.best, budget);
  if (!p.best.optimal()) plan_greedily(p);
  if (n > 600) replan();
  if (p.best.optimal()) return;
  budget.strategies = n <= 150 ? 6 : 2;
  budget.nodes = 1.2;
  p.search->improve(p.best, budget);
}

}  // namespace detail

/// A good plan quickly: greedy planners, followed by a search of a few milliseconds if they do not reach the bound.
///
/// Throws Error as validate() and require_compatible_fixed_offsets() do. The result does not depend on the number or
/// timing of threads. Cost: about 10 ms for hard problems of some hundred buffers, below 1 ms for networks, below 1 s
/// for 1e5 buffers.
[[nodiscard]] inline Plan plan_fast(const Problem& problem, unsigned threads = default_threads()) {
  detail::Planning planning{problem};
  if (problem.buffers.empty()) return {{}, 0, 0, "nothing to plan", false};
  detail::plan_fast(planning, threads);
  planning.best.out_of_budget = !planning.best.optimal();
  return planning.best;
}

/// The best plan that can be found within `budget`: plan_fast, then search until the arena is proved minimal or the
/// time is up; in the latter case, Plan::out_of_budget is set in the best plan found.
///
/// Throws Error as plan_fast does. A result found before the time is up does not depend on the timing of threads.
[[nodiscard]] inline Plan plan_best(const Problem& problem, std::chrono::steady_clock::duration budget,
                                    unsigned threads = default_threads()) {
  const auto start = std::chrono::steady_clock::now();
  const auto endless = std::chrono::steady_clock::time_point::max();
  const auto deadline = budget < endless - start ? start + budget : endless;
  detail::Planning planning{problem};
  if (problem.buffers.empty()) return {{}, 0, 0, "nothing to plan", false};
  detail::plan_fast(planning, threads);
  Plan& best = planning.best;
  const auto time_left = [&] { return !best.optimal() && std::chrono::steady_clock::now() < deadline; };
  SearchBudget limits;
  limits.threads = threads;
  limits.deadline = deadline;
  if (planning.search && problem.size() <= 1500) planning.search->improve(best, limits);
  // Larger problems: re-plan where the plan is too high, each time with other priorities and larger budgets, and
  // between two such attempts search the whole for a while if it is small enough for that.
  limits.rounds = 2;
  LocalBudget local{.nodes = 12'000, .per_window = 1.5, .deadline = deadline};
  for (local.seed = 1; detail::can_improve_parts(planning) && time_left(); ++local.seed) {
    detail::replan_stretches(planning, threads, local);
    local.nodes += 3'000;
    local.per_window *= 1.1;
    if (planning.search && local.seed % 4 == 0) planning.search->improve(best, limits);
  }
  best.out_of_budget = !best.optimal();
  return best;
}

/// Session planners (see planners.hpp): plan_fast, and plan_best within a number of milliseconds. For graphs whose
/// Greedy plan is above the lower bound, as memory_report() shows.
struct Fast {
  static constexpr const char* name = "fast";
  [[nodiscard]] static Plan plan(const Problem& problem) { return plan_fast(problem); }
};
/// plan_best() as a policy: the time that opening a session may spend on its plan, in milliseconds.
template <std::uint64_t milliseconds>
struct Best {
  static constexpr const char* name = "best";
  [[nodiscard]] static Plan plan(const Problem& problem) {
    return plan_best(problem, std::chrono::milliseconds{milliseconds});
  }
};

}  // namespace rondo::search
