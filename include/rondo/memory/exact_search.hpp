// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/detail/parallel.hpp>
#include <rondo/memory/detail/search_model.hpp>
#include <rondo/memory/detail/section_search.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

namespace rondo::memory {

/// How much work an exact search may do.
struct SearchBudget {
  std::uint64_t first_nodes = 0;  ///< nodes per strategy in the first round; 0: twice the number of buffers, and 100
  double growth = 1.5;            ///< by what the nodes grow from round to round
  unsigned rounds = std::numeric_limits<unsigned>::max();
  unsigned threads = 1;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

/// Shrinks a plan by complete search, as far as its budget allows, and raises the lower bound where it proves more.
///
/// Works in rounds. In each, a fixed list of strategies tries in turn, each up to a number of nodes that grows from
/// round to round; priorities are shuffled anew, since the time to a plan varies wildly from one order to the next.
/// Even rounds ask for the lower bound itself (the size of the arena says little about how hard it is to find: the
/// lower bound leaves nothing to waste and so little to choose); odd ones, for plans between it and the best known.
///
/// The result depends on the problem and the budget, not on the timing of threads, unless the deadline cuts a round.
/// Lifetime: refers to problem and sections. Thread safety: one caller at a time; it starts threads of its own.
/// Cost: memory is linear in the number of pairs that meet; see fits().
class ExactSearch {
 public:
  ExactSearch(const Problem& problem, const Sections& sections) : problem_{problem} {
    std::vector<std::uint32_t> free;
    std::vector<std::uint32_t> fixed;
    std::vector<std::int64_t> offsets(problem.size(), 0);
    for (std::uint32_t i = 0; i < problem.size(); ++i) {
      if (sections.empty(i)) continue;
      offsets[i] = std::max<std::int64_t>(0, problem.buffers[i].pinned);
      (problem.buffers[i].is_pinned() ? fixed : free).push_back(i);
    }
    model_ = detail::make_search_model(problem, sections, std::move(free), fixed, offsets, common_alignment(problem));
  }

  /// Is the problem small enough for this search? `overlaps` is the number of pairs alive together.
  [[nodiscard]] static bool fits(std::size_t buffers, std::int64_t overlaps) noexcept {
    return buffers <= 8000 && overlaps <= 2'000'000;
  }

  /// Improves `plan` (valid, with its lower bound set) until it is optimal or the budget is spent.
  void improve(Plan& plan, const SearchBudget& budget) {
    if (plan.optimal() || model_.count() == 0) return;
    // Offsets and their sums stay below twice the larger of the two.
    const std::int64_t highest = std::max(model_.largest, plan.arena / model_.unit);
    if (highest < std::numeric_limits<std::int32_t>::max() / 4) {
      rounds<std::int32_t>(plan, budget);
    } else {
      rounds<std::int64_t>(plan, budget);
    }
  }

 private:
  static constexpr std::array<detail::Preference, 4> preferences{
      detail::Preference::size, detail::Preference::duration, detail::Preference::area, detail::Preference::pressure};
  static constexpr std::array<detail::Branching, 4> branchings{
      detail::Branching::fewest_options, detail::Branching::lowest_fewest, detail::Branching::lowest_tightest,
      detail::Branching::tightest};
  static constexpr std::size_t strategies = preferences.size() * branchings.size();

  /// What one strategy found in one round.
  struct Finding {
    std::vector<std::int64_t> offsets{};
    std::int64_t arena = std::numeric_limits<std::int64_t>::max();
    std::int64_t proved = 0;  ///< no plan is below this
  };

  template <class Offset>
  void rounds(Plan& plan, const SearchBudget& budget) {
    using Search = detail::SectionSearch<Offset>;
    std::array<std::unique_ptr<Search>, strategies> searches;
    const std::size_t table = std::size_t{1} << std::min<std::size_t>(17, 8 + std::bit_width(model_.count()));
    double nodes = budget.first_nodes != 0 ? static_cast<double>(budget.first_nodes)
                                           : 2.0 * static_cast<double>(model_.count()) + 100;
    for (unsigned round = 0; round < budget.rounds && !plan.optimal(); ++round, nodes *= budget.growth) {
      if (std::chrono::steady_clock::now() > budget.deadline) return;
      std::array<Finding, strategies> findings;
      const bool ask_for_bound = round % 2 == 0;
      const auto task = [&](std::size_t k, const std::atomic<bool>& cancelled) {
        if (!searches[k]) searches[k] = std::make_unique<Search>(model_, table);
        Finding& finding = findings[k];
        finding.proved = plan.lower_bound;
        const detail::SearchStrategy strategy{branchings[k % branchings.size()], preferences[k / branchings.size()],
                                              round == 0 ? 0.0 : 0.3, round};
        const detail::SearchLimit limit{static_cast<std::uint64_t>(nodes), budget.deadline, &cancelled};
        return attempt(*searches[k], plan, strategy, limit, ask_for_bound, finding);
      };
      const std::size_t winner = detail::first_winner(strategies, budget.threads, task);
      // Strategies after the winner were cut short at an instant that depends on timing: forget what they learned.
      for (std::size_t k = winner + 1; k < strategies; ++k) searches[k].reset();
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

  /// One strategy's part of a round; true if nothing is left to be found below it.
  template <class Search>
  bool attempt(Search& search, const Plan& plan, const detail::SearchStrategy& strategy,
               const detail::SearchLimit& limit, bool ask_for_bound, Finding& finding) const {
    std::int64_t reached = plan.arena;
    for (int step = 0; step < 8; ++step) {
      const std::int64_t capacity = ask_for_bound ? plan.lower_bound : finding.proved + (reached - finding.proved) / 2;
      if (capacity >= reached) return false;
      const detail::SearchResult result = search.run(capacity, strategy, limit);
      if (result == detail::SearchResult::gave_up) return false;
      if (result == detail::SearchResult::impossible) {
        finding.proved = std::max(finding.proved, model_.next_capacity(capacity));
        return ask_for_bound;
      }
      finding.offsets = plan.offsets;
      for (std::size_t c = 0; c < model_.count(); ++c) finding.offsets[model_.buffer[c]] = search.offset(c);
      finding.arena = reached = arena_of(problem_, finding.offsets);
      if (ask_for_bound || reached <= finding.proved) return true;
    }
    return false;
  }

  const Problem& problem_;
  detail::SearchModel model_;
};

}  // namespace rondo::memory
