// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/detail/overlap_index.hpp>
#include <rondo/memory/detail/section_search.hpp>
#include <rondo/memory/lower_bound.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace rondo::memory {

/// How much work a local search may do.
struct LocalBudget {
  std::uint64_t nodes = 0;       ///< of all window searches together
  std::size_t window = 250;      ///< most buffers set free at once
  std::uint64_t per_window = 0;  ///< nodes per strategy and window; 0: four times its buffers
  std::uint64_t seed = 0;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

/// Shrinks a plan by re-planning small neighbourhoods completely: takes out the buffers that reach above a target, and
/// for each sets free those around it, in time and then in memory, and asks the section search for places below the
/// target, everything else staying where it is. Made for problems too large to be searched as a whole: only where and
/// when the arena is too high is there anything to do.
///
/// Deterministic unless the deadline cuts it. Lifetime: refers to problem and sections. Thread safety: one thread at a
/// time. Cost: O(n) memory.
class LocalSearch {
 public:
  LocalSearch(const Problem& problem, const Sections& sections)
      : problem_{problem}, sections_{sections}, index_{problem}, rounding_{common_alignment(problem)} {}

  /// Tries to bring `plan` (valid) down to `target` bytes. The plan is replaced if what comes out is smaller, whether
  /// or not the target was reached.
  void improve(Plan& plan, std::int64_t target, const LocalBudget& budget) {
    offsets_ = plan.offsets;
    in_place_.assign(problem_.size(), 1);
    nodes_left_ = budget.nodes;
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < problem_.size(); ++i) {
      const Buffer& b = problem_.buffers[i];
      if (b.is_pinned() || offsets_[i] + b.size <= target) continue;
      out.push_back(i);
      in_place_[i] = 0;
    }
    std::sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::int64_t x = problem_.buffers[a].size;
      const std::int64_t y = problem_.buffers[b].size;
      return x != y ? x > y : a < b;
    });
    std::int64_t height = target;
    for (const std::uint32_t i : out) {
      const std::int64_t size = problem_.buffers[i].size;
      const std::int64_t place = lowest_place(i);
      if (place + size > height && nodes_left_ > 0 && std::chrono::steady_clock::now() < budget.deadline &&
          replan(i, height, budget)) {
        continue;
      }
      offsets_[i] = lowest_place(i);
      in_place_[i] = 1;
      // What could not be helped need not be bettered elsewhere.
      height = std::max(height, offsets_[i] + size);
      if (height >= plan.arena) return;
    }
    const std::int64_t arena = arena_of(problem_, offsets_);
    if (arena >= plan.arena) return;
    plan.arena = arena;
    plan.offsets = offsets_;
    plan.planner = "local search";
  }

 private:
  [[nodiscard]] std::int64_t lowest_place(std::uint32_t i) {
    taken_.clear();
    index_.for_each_rival(i, [&](std::uint32_t other) {
      if (in_place_[other] != 0) taken_.emplace_back(offsets_[other], offsets_[other] + problem_.buffers[other].size);
    });
    std::sort(taken_.begin(), taken_.end());
    std::int64_t offset = 0;
    for (const auto& [low, high] : taken_) {
      if (low >= offset + problem_.buffers[i].size) break;
      if (high > offset) offset = aligned(high, problem_.buffers[i].alignment);
    }
    return offset;
  }

  /// A stretch of three times the length, as far as 64 bits go.
  [[nodiscard]] static Span widened(Span s) {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto length = static_cast<std::uint64_t>(s.upper) - static_cast<std::uint64_t>(s.lower);
    const auto below = static_cast<std::uint64_t>(s.lower) - static_cast<std::uint64_t>(least);
    const auto above = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(s.upper);
    return {length < below ? static_cast<std::int64_t>(static_cast<std::uint64_t>(s.lower) - length) : least,
            length < above ? static_cast<std::int64_t>(static_cast<std::uint64_t>(s.upper) + length) : most};
  }

  [[nodiscard]] double duration(std::uint32_t i) const {
    return static_cast<double>(problem_.buffers[i].upper) - static_cast<double>(problem_.buffers[i].lower);
  }

  /// Sets free what surrounds buffer i, in two widths, and looks for places within `capacity`.
  bool replan(std::uint32_t i, std::int64_t capacity, const LocalBudget& budget) {
    const Span life = problem_.buffers[i].lifetime();
    for (const bool wide : {false, true}) {
      std::vector<std::uint32_t> free{i};
      mark_.assign(problem_.size(), 0);
      mark_[i] = 1;
      // Short-lived ones first: they are the ones that can move without moving much else.
      std::vector<std::uint32_t> near;
      index_.for_each_alive(wide ? widened(life) : life, [&](std::uint32_t other) {
        const bool movable = in_place_[other] != 0 && !problem_.buffers[other].is_pinned() && !sections_.empty(other);
        if (other != i && movable) near.push_back(other);
      });
      std::sort(near.begin(), near.end(), [&](std::uint32_t a, std::uint32_t b) {
        const double x = duration(a);
        const double y = duration(b);
        return x != y ? x < y : a < b;
      });
      if (near.size() > budget.window) near.resize(budget.window);
      for (const std::uint32_t other : near) {
        free.push_back(other);
        mark_[other] = 1;
      }
      if (solve(std::move(free), capacity, budget)) return true;
    }
    return false;
  }

  bool solve(std::vector<std::uint32_t> free, std::int64_t capacity, const LocalBudget& budget) {
    std::vector<std::uint32_t> fixed;
    for (const std::uint32_t f : free) {
      index_.for_each_rival(f, [&](std::uint32_t other) {
        if (mark_[other] != 0 || in_place_[other] == 0) return;
        mark_[other] = 2;
        fixed.push_back(other);
      });
    }
    const detail::SearchModel model =
        detail::make_search_model(problem_, sections_, std::move(free), fixed, offsets_, rounding_);
    if (model.largest + capacity / model.unit < std::numeric_limits<std::int32_t>::max() / 4) {
      return search<std::int32_t>(model, capacity, budget);
    }
    return search<std::int64_t>(model, capacity, budget);
  }

  template <class Offset>
  bool search(const detail::SearchModel& model, std::int64_t capacity, const LocalBudget& budget) {
    using detail::Branching;
    using detail::Preference;
    constexpr std::array<std::pair<Branching, Preference>, 4> ways{{
        {Branching::lowest_fewest, Preference::size},
        {Branching::fewest_options, Preference::duration},
        {Branching::lowest_tightest, Preference::area},
        {Branching::tightest, Preference::size},
    }};
    detail::SectionSearch<Offset> search{model, 1024};
    const std::uint64_t nodes = budget.per_window != 0 ? budget.per_window : 4 * model.count() + 100;
    for (const auto& [branching, preference] : ways) {
      const detail::SearchStrategy strategy{branching, preference, budget.seed == 0 ? 0.0 : 0.3, budget.seed};
      const detail::SearchResult result =
          search.run(capacity, strategy, {std::min(nodes, nodes_left_), budget.deadline, nullptr});
      nodes_left_ -= std::min(nodes_left_, search.nodes());
      if (result == detail::SearchResult::impossible) return false;
      if (result != detail::SearchResult::found) continue;
      for (std::size_t c = 0; c < model.count(); ++c) {
        offsets_[model.buffer[c]] = search.offset(c);
        in_place_[model.buffer[c]] = 1;
      }
      return true;
    }
    return false;
  }

  const Problem& problem_;
  const Sections& sections_;
  detail::OverlapIndex index_;
  std::int64_t rounding_;
  std::vector<std::int64_t> offsets_{};
  std::vector<std::uint8_t> in_place_{}, mark_{};
  std::vector<std::pair<std::int64_t, std::int64_t>> taken_{};
  std::uint64_t nodes_left_ = 0;
};

}  // namespace rondo::memory
