// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/memory/check_plan.hpp>
#include <rondo/memory/lower_bound.hpp>
#include <rondo/memory/planners.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>
#include <rondo/search/detail/parallel.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <utility>

namespace rondo::search {

/// The result of one planner of a Portfolio.
struct PlannerOutcome {
  const char* planner = "";       ///< its name
  bool has_run = false;           ///< false: another planner had reached the lower bound before its turn
  memory::Plan plan{};            ///< empty if it threw or has not run
  memory::Violation violation{};  ///< the first mistake in the plan
  std::string error{};            ///< the text of the exception that it threw

  [[nodiscard]] bool is_valid() const noexcept { return has_run && error.empty() && violation.ok(); }
};

/// A session planner that runs several others at the same time and takes the smallest valid plan, of equal ones that of
/// the planner named first:
///
///     struct MyPolicies : rondo::DefaultPolicies {
///       using Plan = rondo::search::Portfolio<rondo::memory::Greedy, rondo::search::StorageTokens, MyPlanner>;
///     };
///
/// A planner is any type that memory::Planner describes. Each plan is checked by memory::check_plan(); a wrong plan, or
/// a planner that throws, is left out. plan_all() returns the result of each planner.
///
/// Thread safety: each planner is called on a thread of its own, so planners must not share data that they write. The
/// result does not depend on the timing of threads. Cost: with enough threads, the time of the slowest planner; once a
/// planner has reached the lower bound, those named after it are not started.
template <memory::Planner... P>
struct Portfolio {
  static_assert(sizeof...(P) > 0, "rondo: a Portfolio needs planners; name at least one");

  /// The name in the log.
  static constexpr const char* name = "portfolio";

  /// The smallest valid plan, made on at most `threads` threads; 0: one for each core. @throws Error as
  /// memory::validate(); check_failed if no planner has a valid plan, with what each of them did
  [[nodiscard]] static memory::Plan plan(const memory::Problem& problem, unsigned threads = 0) {
    auto outcomes = plan_all(problem, threads != 0 ? threads : std::thread::hardware_concurrency());
    PlannerOutcome* best = nullptr;
    for (PlannerOutcome& outcome : outcomes) {
      if (outcome.is_valid() && (best == nullptr || outcome.plan.arena < best->plan.arena)) best = &outcome;
    }
    if (best != nullptr) return std::move(best->plan);
    Error::Text text("no planner of the portfolio made a valid plan");
    for (const PlannerOutcome& outcome : outcomes) {
      text.append(Error::Text{"; '", outcome.planner, "': ",
                              outcome.error.empty() ? to_string(outcome.violation.kind) : outcome.error.c_str()});
    }
    throw Error(Errc::check_failed, text);
  }

  /// The result of each planner, in the order in which the Portfolio names them, on at most `threads` threads,
  /// including the caller's. @throws Error as memory::validate(); std::bad_alloc
  [[nodiscard]] static std::array<PlannerOutcome, sizeof...(P)> plan_all(const memory::Problem& problem,
                                                                         unsigned threads) {
    memory::validate(problem);
    const std::int64_t bound = lower_bound(problem, memory::Sections{problem});
    constexpr memory::Plan (*planners[])(const memory::Problem&) = {
        [](const memory::Problem& p) { return P::plan(p); }...};
    std::array<PlannerOutcome, sizeof...(P)> outcomes{PlannerOutcome{name_of<P>()}...};
    const auto run = [&](std::size_t k, const std::atomic<bool>&) {
      PlannerOutcome& outcome = outcomes[k];
      outcome.has_run = true;
      try {
        outcome.plan = planners[k](problem);
        outcome.plan.lower_bound = bound;  // in place of the planner's own
        outcome.violation = memory::check_plan(problem, outcome.plan);
      } catch (const std::exception& error) {
        outcome.error = error.what();
      } catch (...) {
        outcome.error = "an exception that is no std::exception";
      }
      return outcome.is_valid() && outcome.plan.optimal();
    };
    (void)detail::first_winner(sizeof...(P), threads, run);
    return outcomes;
  }

 private:
  template <class Q>
  [[nodiscard]] static constexpr const char* name_of() noexcept {
    if constexpr (requires { Q::name; }) {
      return Q::name;
    } else {
      return "a planner without a name";
    }
  }
};

}  // namespace rondo::search
