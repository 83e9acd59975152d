// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/lower_bound.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>
#include <rondo/search/detail/overlap_index.hpp>
#include <rondo/search/detail/section_search.hpp>

#include <range/v3/algorithm/sort.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace rondo::search {

using memory::aligned;
using memory::Buffer;
using memory::Plan;
using memory::Problem;
using memory::SectionRange;
using memory::Sections;
using memory::Span;

/// The budget of a local search.
struct LocalBudget {
  std::uint64_t nodes = 0;   ///< all window searches together
  std::size_t window = 250;  ///< the most buffers that are re-planned at once
  double per_window = 4;     ///< nodes per strategy and window, as a multiple of its buffers
  std::uint64_t seed = 0;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  const std::atomic<bool>* cancelled = nullptr;  ///< ends the search early when set
};

/// Shrinks a plan by re-planning small neighbourhoods completely: takes out the buffers that reach above a target, and
/// for each of them frees its surroundings, in time and then in memory, and uses the section search to find places
/// below the target; everything else stays where it is. For problems that are too large to be searched as a whole: only
/// the parts of the arena that are too high cost time.
///
/// Deterministic unless the deadline interrupts it. Lifetime: refers to problem and sections. Thread safety: one thread
/// at a time. Cost: O(n) memory.
class LocalSearch {
 public:
  LocalSearch(const Problem& problem, const Sections& sections)
      : problem_{problem}, sections_{sections}, index_{problem}, rounding_{common_alignment(problem)} {}

  /// Tries to shrink `plan` (valid) to `target` bytes. The plan is replaced if the result is smaller, even if the
  /// target was not reached.
  void improve(Plan& plan, std::int64_t target, const LocalBudget& budget) {
    std::vector<std::uint32_t> out = take_out(plan, target, budget);
    sort_by_size(out);
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
      // Where the height cannot be reduced, a lower height elsewhere gains nothing.
      height = std::max(height, offsets_[i] + size);
      if (height >= plan.arena) return;
    }
    keep_if_smaller(plan);
  }

  /// Does the same with wide windows: for each stretch of time in which the plan reaches above the target, re-plans
  /// everything from the least full section some way before it to the least full one some way after it. Buffers that
  /// cross these two sections stay where they are. For long schedules whose arena is too high at only a few times.
  void improve_stretches(Plan& plan, std::int64_t target, const LocalBudget& budget) {
    std::vector<std::uint32_t> out = take_out(plan, target, budget);
    ::ranges::sort(out, {}, [&](std::uint32_t i) { return std::pair{sections_.hull(i).first, i}; });
    const std::vector<std::int64_t> load = loads();
    for (std::size_t from = 0; from < out.size() && !over(budget);) {
      SectionRange stretch = sections_.hull(out[from]);
      std::size_t until = from + 1;
      for (; until < out.size() && sections_.hull(out[until]).first <= stretch.last; ++until) {
        stretch.last = std::max(stretch.last, sections_.hull(out[until]).last);
      }
      const std::vector<std::uint32_t> above(out.begin() + static_cast<std::ptrdiff_t>(from),
                                             out.begin() + static_cast<std::ptrdiff_t>(until));
      bool done = false;
      for (const std::int32_t reach : {100, 300}) {
        done = !done && nodes_left_ > 0 && replan_stretch(above, stretch, reach, load, target, budget);
        if (done) break;
      }
      for (const std::uint32_t i : above) {
        if (done) break;
        offsets_[i] = lowest_place(i);
        in_place_[i] = 1;
      }
      from = until;
    }
    if (over(budget)) return;  // some buffers may have no offset yet
    keep_if_smaller(plan);
  }

 private:
  static constexpr std::size_t most_in_core = 2000;

  /// Largest first.
  void sort_by_size(std::vector<std::uint32_t>& list) const {
    ::ranges::sort(list, {}, [&](std::uint32_t i) { return std::pair{-problem_.buffers[i].size, i}; });
  }

  /// Starts from the plan without the buffers that reach above the target; returns these.
  std::vector<std::uint32_t> take_out(const Plan& plan, std::int64_t target, const LocalBudget& budget) {
    offsets_ = plan.offsets;
    in_place_.assign(problem_.size(), 1);
    nodes_left_ = budget.nodes;
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < problem_.size(); ++i) {
      const Buffer& b = problem_.buffers[i];
      if (b.is_fixed() || offsets_[i] + b.size <= target || sections_.empty(i)) continue;
      out.push_back(i);
      in_place_[i] = 0;
    }
    return out;
  }

  void keep_if_smaller(Plan& plan) const {
    const std::int64_t arena = arena_of(problem_, offsets_);
    if (arena >= plan.arena) return;
    plan.arena = arena;
    plan.offsets = offsets_;
    plan.planner = "local search";
  }

  /// The bytes in use, per section.
  [[nodiscard]] std::vector<std::int64_t> loads() const {
    std::vector<std::int64_t> load(static_cast<std::size_t>(sections_.count()) + 1, 0);
    for (std::size_t i = 0; i < problem_.size(); ++i) {
      for (const SectionRange* r = sections_.begin(i); r != sections_.end(i); ++r) {
        load[static_cast<std::size_t>(r->first)] += problem_.buffers[i].size;
        load[static_cast<std::size_t>(r->last)] -= problem_.buffers[i].size;
      }
    }
    for (std::size_t s = 1; s < load.size(); ++s) load[s] += load[s - 1];
    return load;
  }

  [[nodiscard]] static bool over(const LocalBudget& budget) {
    return (budget.cancelled != nullptr && budget.cancelled->load(std::memory_order_relaxed)) ||
           std::chrono::steady_clock::now() > budget.deadline;
  }

  /// Re-plans the window around a stretch: its core, the buffers in use at the fullest times, by search; the rest of it
  /// by first fit, by size. As long as some of the rest end up too high, the core is extended to less full times.
  bool replan_stretch(const std::vector<std::uint32_t>& above, SectionRange stretch, std::int32_t reach,
                      const std::vector<std::int64_t>& load, std::int64_t capacity, const LocalBudget& budget) {
    const auto at = [&](std::int32_t section) { return load.begin() + section; };
    const std::int32_t lowest = std::max(0, stretch.first - reach);
    const std::int32_t highest = std::min(sections_.count(), stretch.last + reach);
    const auto left = static_cast<std::int32_t>(std::min_element(at(lowest), at(stretch.first + 1)) - load.begin());
    const auto right = static_cast<std::int32_t>(std::min_element(at(stretch.last - 1), at(highest)) - load.begin());
    std::vector<std::uint32_t> inside = above;
    for (std::uint32_t i = 0; i < problem_.size(); ++i) {
      if (in_place_[i] == 0 || sections_.empty(i) || problem_.buffers[i].is_fixed()) continue;
      const SectionRange hull = sections_.hull(i);
      if (hull.first > left && hull.last <= right) inside.push_back(i);
    }
    sort_by_size(inside);
    const auto before =
        inside | ::ranges::views::transform([&](std::uint32_t i) { return offsets_[i]; }) | ::ranges::to<std::vector>;

    std::vector<std::int32_t> hot_before(static_cast<std::size_t>(right - left) + 1, 0);
    std::size_t last_core = 0;
    for (const double share : {0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6}) {
      if (nodes_left_ == 0 || over(budget)) break;
      for (std::int32_t s = left; s < right; ++s) {
        const bool hot = static_cast<double>(*at(s)) >= share * static_cast<double>(capacity);
        hot_before[static_cast<std::size_t>(s - left) + 1] =
            hot_before[static_cast<std::size_t>(s - left)] + (hot ? 1 : 0);
      }
      std::vector<std::uint32_t> core;
      mark_.assign(problem_.size(), 0);
      for (const std::uint32_t i : inside) {
        in_place_[i] = 0;
        bool is_hot = false;
        for (const SectionRange* r = sections_.begin(i); r != sections_.end(i); ++r) {
          const auto from = static_cast<std::size_t>(std::clamp(r->first, left, right) - left);
          const auto until = static_cast<std::size_t>(std::clamp(r->last, left, right) - left);
          is_hot = is_hot || hot_before[from] != hot_before[until];
        }
        if (!is_hot) continue;
        core.push_back(i);
        mark_[i] = 1;
      }
      if (core.size() == last_core) continue;
      last_core = core.size();
      if (last_core > most_in_core || (last_core > 0 && !solve(std::move(core), capacity, budget))) continue;
      bool fits = true;
      for (const std::uint32_t i : inside) {
        if (in_place_[i] != 0) continue;
        offsets_[i] = lowest_place(i);
        in_place_[i] = 1;
        fits = !over(budget) && offsets_[i] + problem_.buffers[i].size <= capacity;
        if (!fits) break;
      }
      if (fits) return true;
    }
    for (std::size_t k = 0; k < inside.size(); ++k) {
      offsets_[inside[k]] = before[k];
      in_place_[inside[k]] = 1;
    }
    for (const std::uint32_t i : above) in_place_[i] = 0;
    return false;
  }

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

  /// A stretch of three times the length, limited to 64 bits.
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

  /// Frees the surroundings of buffer i, in two widths, and searches for places within `capacity`.
  bool replan(std::uint32_t i, std::int64_t capacity, const LocalBudget& budget) {
    const Span life = problem_.buffers[i].lifetime();
    for (const bool wide : {false, true}) {
      std::vector<std::uint32_t> free{i};
      mark_.assign(problem_.size(), 0);
      mark_[i] = 1;
      // Short-lived ones first: they can move without moving many others.
      std::vector<std::uint32_t> near;
      index_.for_each_alive(wide ? widened(life) : life, [&](std::uint32_t other) {
        const bool movable = in_place_[other] != 0 && !problem_.buffers[other].is_fixed() && !sections_.empty(other);
        if (other != i && movable) near.push_back(other);
      });
      ::ranges::sort(near, {}, [&](std::uint32_t other) { return std::pair{duration(other), other}; });
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
    const auto nodes = static_cast<std::uint64_t>(budget.per_window * static_cast<double>(model.count())) + 50;
    for (const auto& [branching, preference] : ways) {
      const detail::SearchStrategy strategy{branching, preference, budget.seed == 0 ? 0.0 : 0.3, budget.seed};
      const detail::SearchResult result =
          search.run(capacity, strategy, {std::min(nodes, nodes_left_), budget.deadline, budget.cancelled});
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

}  // namespace rondo::search
