// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/exact_search.hpp>
#include <rondo/memory/first_fit.hpp>
#include <rondo/memory/orders.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace rondo::memory {

/// Plans the fullest times first and everything else around them.
///
/// In a long schedule the arena is decided at the few times at which nearly as much is in use as ever. The buffers
/// alive at a section whose load is at least `share` of the lower bound are planned on their own, by complete search,
/// as if nothing else existed; the others are then placed by descending size, first fit, clear of them. They only meet
/// in sections with room to spare.
///
/// Returns the offsets, or none if the hot part is too large to be searched. Deterministic unless the budget's deadline
/// cuts it. Cost: one first fit of the whole problem and the search.
[[nodiscard]] inline std::vector<std::int64_t> plan_hot_spots(const Problem& problem, const Sections& sections,
                                                              std::int64_t lower_bound, double share,
                                                              const SearchBudget& budget,
                                                              std::size_t most_buffers = 4000) {
  const auto count = static_cast<std::size_t>(sections.count());
  std::vector<std::int64_t> load(count + 1, 0);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    for (const SectionRange* r = sections.begin(i); r != sections.end(i); ++r) {
      load[static_cast<std::size_t>(r->first)] += problem.buffers[i].size;
      load[static_cast<std::size_t>(r->last)] -= problem.buffers[i].size;
    }
  }
  std::vector<std::uint32_t> hot_until(count + 1, 0);  // how many hot sections there are before this one
  std::int64_t sum = 0;
  for (std::size_t s = 0; s < count; ++s) {
    sum += load[s];
    const bool hot = static_cast<double>(sum) >= share * static_cast<double>(lower_bound);
    hot_until[s + 1] = hot_until[s] + (hot ? 1U : 0U);
  }

  constexpr std::uint32_t cool = std::numeric_limits<std::uint32_t>::max();
  Problem hot;
  std::vector<std::uint32_t> number;
  std::vector<std::uint32_t> position(problem.size(), cool);
  for (std::uint32_t i = 0; i < problem.size(); ++i) {
    bool is_hot = false;
    for (const SectionRange* r = sections.begin(i); r != sections.end(i); ++r) {
      is_hot = is_hot || hot_until[static_cast<std::size_t>(r->first)] != hot_until[static_cast<std::size_t>(r->last)];
    }
    if (!is_hot && !(problem.buffers[i].is_pinned() && problem.buffers[i].size > 0)) continue;
    if (number.size() == most_buffers) return {};
    position[i] = static_cast<std::uint32_t>(number.size());
    number.push_back(i);
    hot.buffers.push_back(problem.buffers[i]);
  }
  for (const auto& [a, b] : problem.conflicts) {
    if (position[a] != cool && position[b] != cool) hot.conflicts.emplace_back(position[a], position[b]);
  }

  const Sections hot_sections{hot};
  Plan plan;
  plan.offsets = FirstFit{hot}.run(make_order(hot, hot_sections, Order::size));
  plan.arena = arena_of(hot, plan.offsets);
  plan.lower_bound = lower_bound;
  const std::vector<std::int64_t> overlaps = detail::count_overlaps(hot);
  std::int64_t pairs = 0;
  for (const std::int64_t o : overlaps) pairs += o;
  if (plan.arena > lower_bound) {
    if (!ExactSearch::fits(hot.size(), pairs / 2)) return {};
    ExactSearch{hot, hot_sections}.improve(plan, budget);
  }

  std::vector<std::int64_t> preset(problem.size(), -1);
  for (std::size_t k = 0; k < number.size(); ++k) preset[number[k]] = plan.offsets[k];
  return FirstFit{problem}.run(make_order(problem, sections, Order::size), Fit::first, preset);
}

}  // namespace rondo::memory
