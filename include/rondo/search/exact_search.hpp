// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>
#include <rondo/search/detail/parallel.hpp>
#include <rondo/search/detail/search_model.hpp>
#include <rondo/search/detail/section_search.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace rondo::search {

using memory::Plan;
using memory::Problem;
using memory::Sections;

/// The budget of an exact search.
struct SearchBudget {
  unsigned rounds = std::numeric_limits<unsigned>::max();
  unsigned strategies = 16;  ///< the number of its 16 strategies that take part
  double nodes = 2.0;        ///< per strategy in its first round, as a multiple of the number of buffers
  double growth = 1.5;       ///< the factor by which the nodes increase from round to round
  unsigned threads = 1;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

/// Shrinks a plan by complete search within its budget, and raises the lower bound if it can prove a higher one.
///
/// Works in rounds. In each round, the strategies of a fixed list try one after the other, each up to a number of nodes
/// that increases from round to round; priorities are randomised each time, since the time to a plan varies widely
/// between orders. Three rounds in four search for the lower bound itself, which is not always harder to reach than a
/// larger arena: it leaves no bytes to waste, and so few choices. The second round of each four searches for plans
/// between the bound and the best known plan.
///
/// The result depends on the problem and the budgets, not on the timing of threads, unless a deadline interrupts a
/// round. Lifetime: refers to the problem. Thread safety: one caller at a time; it starts threads of its own.
/// Cost: memory is linear in the number of pairs that overlap in time; see fits().
class ExactSearch {
 public:
  ExactSearch(const Problem& problem, const Sections& sections)
      : problem_{problem}, model_{detail::make_search_model(problem, sections)} {}

  /// Whether the problem is small enough for this search. `overlaps` is the number of pairs that overlap in time.
  [[nodiscard]] static bool fits(std::size_t buffers, std::int64_t overlaps) noexcept {
    return buffers <= 8000 && overlaps <= 2'000'000;
  }

  /// Improves `plan` (valid, with its lower bound set) until it is optimal or the budget is used up. A later call
  /// continues where the last one ended.
  void improve(Plan& plan, const SearchBudget& budget) {
    if (plan.optimal() || model_.count() == 0) return;
    // Offsets and their sums are below twice the larger of the two.
    const std::int64_t highest = std::max(model_.largest, plan.arena / model_.unit);
    if (highest < std::numeric_limits<std::int32_t>::max() / 4) {
      run_rounds(plan, budget, narrow_);
    } else {
      run_rounds(plan, budget, wide_);
    }
  }

 private:
  static constexpr std::array<detail::Preference, 4> preferences{
      detail::Preference::size, detail::Preference::duration, detail::Preference::area, detail::Preference::pressure};
  static constexpr std::array<detail::Branching, 4> branchings{
      detail::Branching::fewest_options, detail::Branching::lowest_fewest, detail::Branching::lowest_tightest,
      detail::Branching::tightest};
  static constexpr std::array<double, 3> noise{0.3, 0.1, 0.6};
  static constexpr std::size_t strategies = preferences.size() * branchings.size();

  /// The result of one strategy in one round.
  struct Finding {
    std::vector<std::int64_t> offsets{};
    std::int64_t arena = std::numeric_limits<std::int64_t>::max();
    std::int64_t proved = 0;  ///< a proved lower bound
  };

  template <class Offset>
  using Searches = std::array<std::unique_ptr<detail::SectionSearch<Offset>>, strategies>;

  template <class Offset>
  void run_rounds(Plan& plan, const SearchBudget& budget, Searches<Offset>& searches) {
    const std::size_t table = std::size_t{1} << std::min(17, 8 + static_cast<int>(std::bit_width(model_.count())));
    const std::size_t count = std::min<std::size_t>(budget.strategies, strategies);
    double nodes = budget.nodes * static_cast<double>(model_.count()) + 50;
    for (unsigned k = 0; k < budget.rounds && !plan.optimal(); ++k, ++round_, nodes *= budget.growth) {
      if (std::chrono::steady_clock::now() > budget.deadline) return;
      std::array<Finding, strategies> findings;
      const bool ask_for_bound = round_ % 4 != 1;
      const auto task = [&](std::size_t s, const std::atomic<bool>& cancelled) {
        if (!searches[s]) searches[s] = std::make_unique<detail::SectionSearch<Offset>>(model_, table);
        Finding& finding = findings[s];
        finding.proved = plan.lower_bound;
        const detail::SearchStrategy strategy{branchings[s % branchings.size()], preferences[s / branchings.size()],
                                              round_ == 0 ? 0.0 : noise[round_ % noise.size()], round_};
        const detail::SearchLimit limit{static_cast<std::uint64_t>(nodes), budget.deadline, &cancelled};
        // The first target: half or a quarter of the way from the best known plan to the bound.
        const std::int64_t divisor = std::int64_t{2} << (round_ / 4 % 2);
        return attempt(*searches[s], plan, strategy, limit, ask_for_bound ? 0 : divisor, finding);
      };
      const std::size_t winner = detail::first_winner(count, budget.threads, task);
      // Strategies after the winner were interrupted at arbitrary points: discard their state.
      for (std::size_t s = winner + 1; s < strategies; ++s) searches[s].reset();
      for (const Finding& f : findings) {
        plan.lower_bound = std::max(plan.lower_bound, f.proved);
        if (f.arena >= plan.arena) continue;
        plan.arena = f.arena;
        plan.offsets = f.offsets;
        plan.planner = "exact search";
      }
      plan.lower_bound = std::min(plan.lower_bound, plan.arena);
    }
  }

  /// One strategy's part of a round: searches for the lower bound (divisor 0), or for smaller and smaller plans, each
  /// time by this fraction of the distance to the bound. Returns true if no smaller plan is left to be found.
  template <class Search>
  bool attempt(Search& search, const Plan& plan, const detail::SearchStrategy& strategy,
               const detail::SearchLimit& limit, std::int64_t divisor, Finding& finding) const {
    const bool ask_for_bound = divisor == 0;
    std::int64_t reached = plan.arena;
    std::int64_t missed = 0;  // the last capacity at which the search gave up
    for (int step = 0; step < 4; ++step) {
      const std::int64_t from = std::max(finding.proved, missed);
      const std::int64_t capacity =
          ask_for_bound ? plan.lower_bound : reached - std::max<std::int64_t>(1, (reached - from) / divisor);
      if (capacity >= reached || capacity <= missed) return false;
      switch (search.run(capacity, strategy, limit)) {
        case detail::SearchResult::gave_up:
          if (ask_for_bound) return false;
          missed = capacity;
          break;
        case detail::SearchResult::impossible:
          finding.proved = std::max(finding.proved, model_.next_capacity(capacity));
          if (ask_for_bound) return true;
          break;
        case detail::SearchResult::found:
          finding.offsets = plan.offsets;
          for (std::size_t c = 0; c < model_.count(); ++c) finding.offsets[model_.buffer[c]] = search.offset(c);
          finding.arena = reached = arena_of(problem_, finding.offsets);
          if (ask_for_bound || reached <= finding.proved) return true;
          break;
      }
    }
    return false;
  }

  const Problem& problem_;
  detail::SearchModel model_;
  Searches<std::int32_t> narrow_{};
  Searches<std::int64_t> wide_{};
  unsigned round_ = 0;
};

}  // namespace rondo::search
