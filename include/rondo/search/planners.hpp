// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/first_fit.hpp>
#include <rondo/memory/lower_bound.hpp>
#include <rondo/memory/orders.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>
#include <rondo/search/detail/fill_holes.hpp>
#include <rondo/search/detail/joined_buffers.hpp>
#include <rondo/search/displacement.hpp>
#include <rondo/search/exact_search.hpp>
#include <rondo/search/fixed_offsets.hpp>
#include <rondo/search/skyline.hpp>
#include <rondo/search/timeline_fit.hpp>

#include <algorithm>
#include <array>
#include <atomic>
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

  /// Offers the plan of the joined problem as one of this problem.
  void offer_joined() {
    std::vector<std::int64_t> offsets = join->expand(joined->best.offsets);
    offsets.resize(problem.size());
    offer(offsets, joined->best.planner);
  }

  const Problem& problem;
  Sections sections;
  std::int64_t overlaps = 0;  ///< pairs of overlapping lifetimes, and explicit conflicts
  bool has_fixed = false;
  Plan best{};
  std::unique_ptr<ExactSearch> search{};                        ///< null if the problem is too large for it
  std::array<std::unique_ptr<DisplacementSearch>, 2> movers{};  ///< made when first used
  Problem filled{};                       ///< the problem with buffers that fill its holes; empty if it has none
  std::unique_ptr<JoinedBuffers> join{};  ///< null if no buffers belong together
  std::unique_ptr<Planning> joined{};     ///< the planning of the joined problem
};

/// The estimated cost of one first fit of the whole problem, in accesses to placed buffers.
[[nodiscard]] inline std::int64_t first_fit_work(const Planning& p) {
  return p.overlaps + 16 * static_cast<std::int64_t>(p.problem.size());
}

/// The cost of about half a second.
inline constexpr std::int64_t affordable = 15'000'000;

/// First fit by size. If many buffers are alive at once, planners whose cost does not depend on that are tried first,
/// and first fit only if it is affordable and their result is not close to the bound.
inline void plan_first(Planning& p) {
  const std::int64_t work = first_fit_work(p);
  const bool stackable = !p.has_fixed && p.problem.conflicts.empty();
  if (stackable && work > 500'000) {
    p.offer(skyline(p.problem, p.sections, make_order(p.problem, p.sections, Order::duration)), "skyline by duration");
    if (!p.best.optimal() && work > affordable / 4) p.offer(timeline_fit(p.problem), "timeline best fit");
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
  FirstFit fitter{p.problem};
  for (std::size_t k = 0; k < tried && !p.best.optimal(); ++k) {
    p.offer(fitter.run(make_order(p.problem, p.sections, orders[k])), to_string(orders[k]));
  }
  if (p.best.optimal() || p.has_fixed || !p.problem.conflicts.empty()) return;
  p.offer(timeline_fit(p.problem), "timeline best fit");
}

}  // namespace detail

/// The default number of threads of a planner.
[[nodiscard]] inline unsigned default_threads() noexcept { return std::max(1U, std::thread::hardware_concurrency()); }

namespace detail {

/// Shrinks the best plan by moving buffers, with each of the movers up to this number of steps.
inline void displace(Planning& p, unsigned threads, std::uint64_t steps,
                     std::chrono::steady_clock::time_point deadline) {
  std::array<Plan, 2> found{p.best, p.best};
  first_winner(found.size(), threads, [&](std::size_t k, const std::atomic<bool>& cancelled) {
    if (!p.movers[k]) p.movers[k] = std::make_unique<DisplacementSearch>(p.problem, p.overlaps, k);
    p.movers[k]->improve(found[k], {steps, deadline, &cancelled});
    return found[k].optimal();
  });
  for (const Plan& plan : found) p.offer(plan.offsets, plan.planner);
}

inline constexpr auto no_deadline = std::chrono::steady_clock::time_point::max();
[[nodiscard]] inline std::chrono::steady_clock::time_point deadline_after(std::chrono::steady_clock::duration budget) {
  const auto now = std::chrono::steady_clock::now();
  return budget < no_deadline - now ? now + budget : no_deadline;
}

inline void plan_fast(Planning& p, unsigned threads, std::chrono::steady_clock::time_point deadline = no_deadline);

/// Plans the problem in which buffers that belong together are joined, if there are any. If few buffers fill the bytes
/// that a plan at the bound leaves free, as in a tiling with holes, these are added first.
inline void plan_joined(Planning& p, unsigned threads, std::chrono::steady_clock::time_point deadline) {
  const std::size_t n = p.problem.size();
  const auto join = [&](const Problem& problem, std::size_t most) {
    p.join = std::make_unique<JoinedBuffers>(problem, p.best.lower_bound);
    return p.join->any() && p.join->joined().size() <= most;
  };
  bool joined = false;
  if (const std::vector<Buffer> fillers = fill_holes(p.problem, p.best.lower_bound, n / 4); !fillers.empty()) {
    p.filled = p.problem;
    p.filled.buffers.insert(p.filled.buffers.end(), fillers.begin(), fillers.end());
    joined = join(p.filled, n / 20 + 1);  // otherwise the holes are hardly those of a tiling
  }
  if (!joined && !join(p.problem, n > 10'000 ? n / 4 * 3 : n)) return p.join.reset();
  p.joined = std::make_unique<Planning>(p.join->joined());
  plan_fast(*p.joined, threads, deadline);
  p.offer_joined();
}

inline void plan_fast(Planning& p, unsigned threads, std::chrono::steady_clock::time_point deadline) {
  const bool large = first_fit_work(p) > 500'000;
  if (large) plan_joined(p, threads, deadline);
  if (!p.best.optimal()) plan_first(p);
  if (!p.best.optimal() && !large) plan_joined(p, threads, deadline);
  if (p.best.optimal()) return;
  const std::size_t n = p.problem.size();
  SearchBudget budget;
  budget.threads = threads;
  budget.rounds = 1;
  budget.deadline = deadline;
  if (ExactSearch::fits(n, p.overlaps)) p.search = std::make_unique<ExactSearch>(p.problem, p.sections);
  if (!p.search || n > 1500) {
    if (first_fit_work(p) <= 1'000'000) plan_greedily(p);
    if (!p.best.optimal()) displace(p, threads, 30'000'000, deadline);
    return;
  }
  budget.nodes = 1.5;
  budget.strategies = n <= 150 ? 16 : n <= 250 ? 10 : 6;
  p.search->improve(p.best, budget);
  if (!p.best.optimal()) plan_greedily(p);
  if (!p.best.optimal() && n > 600) displace(p, threads, 3'000'000, deadline);
  if (p.best.optimal()) return;
  budget.strategies = n <= 150 ? 6 : 2;
  budget.nodes = 1.2;
  p.search->improve(p.best, budget);
}

/// Continues the search of plan_fast() until the plan is optimal or the time is up.
inline void plan_on(Planning& p, unsigned threads, std::chrono::steady_clock::time_point deadline) {
  const auto time_left = [&] { return !p.best.optimal() && std::chrono::steady_clock::now() < deadline; };
  if (p.joined && time_left()) {
    // Half of the time is for the joined problem, which is smaller and may lead to the bound.
    const auto now = std::chrono::steady_clock::now();
    plan_on(*p.joined, threads, now + (deadline - now) / 2);
    p.offer_joined();
  }
  SearchBudget limits;
  limits.threads = threads;
  limits.deadline = deadline;
  const std::size_t n = p.problem.size();
  if (p.search && n <= 600) p.search->improve(p.best, limits);
  // Larger problems: move buffers and search the whole by turns, if it is small enough for that.
  limits.rounds = n <= 1500 ? 4 : 2;
  for (std::uint64_t steps = 200'000'000; time_left(); steps += steps / 4) {
    if (p.search) p.search->improve(p.best, limits);
    if (time_left()) displace(p, threads, p.search ? steps / 20 : steps, deadline);
  }
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
/// time is up. Plan::out_of_budget is set in a result that is not proved minimal.
///
/// Throws Error as plan_fast does. A result found before the time is up does not depend on the timing of threads.
[[nodiscard]] inline Plan plan_best(const Problem& problem, std::chrono::steady_clock::duration budget,
                                    unsigned threads = default_threads()) {
  const auto deadline = detail::deadline_after(budget);
  detail::Planning planning{problem};
  if (problem.buffers.empty()) return {{}, 0, 0, "nothing to plan", false};
  detail::plan_fast(planning, threads, deadline);
  Plan& best = planning.best;
  detail::plan_on(planning, threads, deadline);
  best.out_of_budget = !best.optimal();
  return best;
}

/// Searches for a smaller plan than `plan` (valid, with its lower bound set) until none is smaller or the time is up.
/// @throws Error as plan_fast does
inline void improve_plan(const Problem& problem, Plan& plan, std::chrono::steady_clock::duration budget,
                         unsigned threads = default_threads()) {
  if (plan.optimal()) return;
  const auto deadline = detail::deadline_after(budget);
  detail::Planning planning{problem};
  planning.best = plan;
  detail::plan_joined(planning, threads, deadline);
  if (ExactSearch::fits(problem.size(), planning.overlaps)) {
    planning.search = std::make_unique<ExactSearch>(problem, planning.sections);
  }
  detail::plan_on(planning, threads, deadline);
  planning.best.out_of_budget = !planning.best.optimal();
  if (planning.best.arena < plan.arena || planning.best.optimal()) plan = std::move(planning.best);
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
