// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/search/detail/search_model.hpp>
#include <rondo/search/detail/search_strategy.hpp>
#include <rondo/search/detail/section_groups.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace rondo::search::detail {

using memory::aligned;
using memory::SectionRange;

/// Decides whether there is a plan within a given capacity. A complete depth-first search that decides step by step
/// what lies on the floor of a section.
///
/// State: for each buffer not yet placed, the lowest offset `at` that it can still have. The floor of a section is the
/// smallest `at` of its buffers. Consider plans in which every buffer is pushed down as far as possible. The point just
/// above the floor of a section is either covered by a buffer whose `at` equals that floor, which then lies exactly
/// there, or it is wasted, and then the floor rises to the lowest offset at which some buffer can rest on another.
/// These cases exclude each other, so no plan is visited twice, and any section whose candidates leave no gap below
/// them may be decided next: choosing the one with the fewest cases keeps the tree small.
///
/// Pruned by: the load of each section above each of its floors (buffers are sorted by `at`, so a stack of high ones is
/// noticed even if low ones remain); splitting into parts that share no section, each solved once; interchangeable
/// buffers in a fixed order; and a table of states proved impossible, which also avoids permutations of equal stacks
/// and is kept over restarts.
///
/// `Offset` is the integer type for offsets in units: 32 bits if they fit.
/// Thread safety: one thread at a time; the model may be shared. Errors: std::bad_alloc.
template <class Offset>
class SectionSearch {
  using Index = std::int32_t;
  using Group = typename SectionGroups<Offset>::Group;

 public:
  explicit SectionSearch(const SearchModel& model, std::size_t table_size = std::size_t{1} << 17)
      : model_{model},
        at_(model.count()),
        start_(model.count()),
        ceiling_(model.count()),
        offsets_(model.count()),
        size_(model.size.size()),
        hull_(model.count()),
        priority_(model.count()),
        blame_(model.count(), 0.0),
        changed_(model.count(), 0),
        groups_(model.sections),
        crossing_(sections() + 1),
        part_of_(sections()),
        infeasible_(table_size, 0) {
    for (std::size_t c = 0; c < model.count(); ++c) {
      start_[c] = static_cast<Offset>(model.fit(c, 0));
      size_[c] = static_cast<Offset>(model.size[c]);
      hull_[c] = model.hull(c);
    }
  }

  /// Searches for a plan within `capacity` bytes.
  [[nodiscard]] SearchResult run(std::int64_t capacity, const SearchStrategy& strategy, const SearchLimit& limit) {
    capacity_bytes_ = capacity;
    capacity_ = static_cast<Offset>(aligned(capacity, model_.rounding) / model_.unit);
    strategy_ = strategy;
    limit_ = limit;
    nodes_per_look_ = nodes_per_look(model_.count());
    nodes_ = 0;
    stopped_ = false;
    at_ = start_;
    trail_.clear();
    pool_.clear();
    parts_.clear();
    for (std::size_t c = 0; c < model_.count(); ++c) {
      if (model_.bytes[c] > capacity) return SearchResult::impossible;
      ceiling_[c] = static_cast<Offset>((capacity - model_.bytes[c]) / model_.unit);
      if (at_[c] > ceiling_[c]) return SearchResult::impossible;
    }
    rank();
    for (std::size_t c = 0; c < model_.count(); ++c) pool_.push_back(static_cast<Index>(c));
    std::sort(pool_.begin(), pool_.end(),
              [&](Index a, Index b) { return at_[u(a)] != at_[u(b)] ? at_[u(a)] > at_[u(b)] : a < b; });
    if (descend(0, pool_.size(), none, 0)) return SearchResult::found;
    return stopped_ ? SearchResult::gave_up : SearchResult::impossible;
  }

  /// The offset of a free buffer in bytes, after SearchResult::found.
  [[nodiscard]] std::int64_t offset(std::size_t c) const noexcept {
    return static_cast<std::int64_t>(offsets_[c]) * model_.unit;
  }
  /// The number of nodes visited by the last run.
  [[nodiscard]] std::uint64_t nodes() const noexcept { return nodes_; }
  /// A run looks at the clock at its first node, and then once in this many. A node takes longer with more buffers.
  [[nodiscard]] static constexpr std::uint64_t nodes_per_look(std::size_t buffers) noexcept {
    return std::max<std::uint64_t>(1, 16'384 / (std::uint64_t{buffers} + 1));
  }

 private:
  static constexpr Index none = -1;
  static constexpr Offset placed = std::numeric_limits<Offset>::max();

  [[nodiscard]] static constexpr std::size_t u(Index i) noexcept { return static_cast<std::size_t>(i); }
  [[nodiscard]] std::size_t sections() const noexcept { return u(model_.sections); }

  /// Sets the priorities: by preference, with noise, and higher for buffers at which earlier runs failed, since those
  /// should have been placed sooner and lower.
  void rank() {
    double most_blamed = 1;
    for (double& b : blame_) most_blamed = std::max(most_blamed, b *= 0.97);
    for (std::size_t c = 0; c < model_.count(); ++c) {
      const auto size = static_cast<double>(model_.size[c]);
      double value = 0;
      switch (strategy_.preference) {
        case Preference::size: value = size; break;
        case Preference::duration: value = model_.duration[c]; break;
        case Preference::area: value = size * model_.duration[c]; break;
        case Preference::pressure: {
          std::int64_t load = 0;
          for (const SectionRange* r = model_.ranges.begin(c); r != model_.ranges.end(c); ++r) {
            for (Index s = r->first; s < r->last; ++s) load = std::max(load, model_.load[u(s)]);
          }
          value = static_cast<double>(load);
          break;
        }
      }
      const std::uint64_t random = mix(strategy_.seed * 0x9E3779B97F4A7C15ULL + c + 1);
      const double factor = static_cast<double>(random >> 11) * 0x1.0p-52 - 1.0;  // -1 to 1
      priority_[c] = value * (1.0 + strategy_.noise * factor) * (1.0 + 3.0 * blame_[c] / most_blamed);
    }
  }

  /// Decides one section of the part with the buffers pool_[begin, end), sorted by descending `at_`.
  bool node(std::size_t begin, std::size_t end) {
    if (++nodes_ > limit_.nodes || out_of_time()) {
      stopped_ = true;
      return false;
    }
    const std::uint64_t state = fingerprint(begin, end);
    std::uint64_t& slot = infeasible_[(state >> 20) & (infeasible_.size() - 1)];
    if (slot == state) return false;
    if (branch(begin, end)) return true;
    if (!stopped_) slot = state;
    return false;
  }

  [[nodiscard]] bool out_of_time() const {
    if (nodes_ % nodes_per_look_ != 1 % nodes_per_look_) return false;
    if (limit_.cancelled != nullptr && limit_.cancelled->load(std::memory_order_relaxed)) return true;
    return limit_.deadline != std::chrono::steady_clock::time_point::max() &&
           std::chrono::steady_clock::now() > limit_.deadline;
  }

  /// A number that identifies a part by its buffers, their `at_` and the capacity; never 0.
  [[nodiscard]] std::uint64_t fingerprint(std::size_t begin, std::size_t end) const {
    std::uint64_t sum = mix(static_cast<std::uint64_t>(capacity_bytes_) + 1);
    for (std::size_t k = begin; k < end; ++k) {
      const auto c = static_cast<std::uint64_t>(pool_[k]);
      sum += mix(static_cast<std::uint64_t>(at_[c]) * 0x9E3779B97F4A7C15ULL + c + 1);
    }
    return sum | 1;
  }

  bool branch(std::size_t begin, std::size_t end) {
    const auto [section, floor, waste] = scan(begin, end);
    if (section == none) return false;

    const std::size_t first = pool_.size();
    for (std::size_t k = begin; k < end; ++k) {
      const Index c = pool_[k];
      if (at_[u(c)] == floor && model_.covers(u(c), section)) pool_.push_back(c);
    }
    const std::size_t last = pool_.size();
    std::sort(pool_.begin() + static_cast<std::ptrdiff_t>(first), pool_.end(), [&](Index a, Index b) {
      return priority_[u(a)] != priority_[u(b)] ? priority_[u(a)] > priority_[u(b)] : a < b;
    });

    const std::size_t mark = trail_.size();
    for (std::size_t k = first; k < last; ++k) {
      const Index c = pool_[k];
      bool twin_tried = false;
      for (std::size_t j = first; j < k; ++j) twin_tried = twin_tried || model_.kind[u(pool_[j])] == model_.kind[u(c)];
      if (twin_tried) continue;
      if (place(c) && descend(begin, end, c, mark)) return true;
      undo(mark);
      if (stopped_) return false;
    }
    bool found = false;
    if (waste > 0 && raise(begin, end, section, floor, waste)) found = descend(begin, end, none, mark);
    if (!found) undo(mark);
    pool_.resize(first);
    return found;
  }

  struct Choice {
    Index section = none;
    Offset floor = 0;
    Offset waste = 0;  // the space above the floor that may stay empty
  };

  /// Computes floors and the load above them, checks that every section can still hold its buffers, and chooses the
  /// section to decide; none if the part is impossible.
  Choice scan(std::size_t begin, std::size_t end) {
    groups_.join(model_, pool_.data() + begin, pool_.data() + end);
    // Highest first, so everything summed up so far in a group lies at `at` or above.
    const SectionRange* r = groups_.ranges();
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t c = u(pool_[k]);
      const Offset at = at_[c];
      const Offset size = size_[c];
      const auto room = static_cast<Offset>(capacity_ - at);
      bool fits = true;
      for (const SectionRange* last = r + ranges(c); r != last; ++r) {
        for (Index g = r->first; g < r->last; ++g) {
          Group& group = groups_[g];
          group.rest += size;
          group.lowest = (group.floor == at ? group.lowest : 0) + 1;
          group.floor = at;
          fits = fits && group.rest <= room;
        }
        if (!model_.plain) {
          for (Index g = r->first; fits && g < r->last; ++g) {
            const Group& group = groups_[g];
            if (group.rest + model_.fixed[u(group.section)] <= room) continue;  // fits wherever the obstacles are
            fits = group.rest + fixed_above(group.section, at) <= room;
          }
        }
      }
      if (!fits) {
        blame_[c] += 1;
        return {};
      }
    }
    // A buffer is ready if the floor of all its sections is at its offset: then nothing fits below it.
    r = groups_.ranges();
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t c = u(pool_[k]);
      const Offset at = at_[c];
      const SectionRange* const last = r + ranges(c);
      bool flat = true;
      for (const SectionRange* q = r; flat && q != last; ++q) {
        for (Index g = q->first; flat && g < q->last; ++g) flat = groups_[g].floor == at;
      }
      for (; r != last; ++r) {
        for (Index g = r->first; flat && g < r->last; ++g) ++groups_[g].ready;
      }
    }
    return choose();
  }

  [[nodiscard]] std::ptrdiff_t ranges(std::size_t c) const { return model_.ranges.end(c) - model_.ranges.begin(c); }

  [[nodiscard]] Choice choose() const {
    Choice best;
    std::array<Offset, 3> best_key{};
    for (const Group& g : groups_) {
      if (g.ready == 0 || g.ready != g.lowest) continue;
      const auto waste = static_cast<Offset>(capacity_ - g.floor - g.rest);
      const Offset as_waste = waste > 0 ? 1 : 0;
      const auto options = static_cast<Offset>(g.ready + as_waste);
      std::array<Offset, 3> key{};
      switch (strategy_.branching) {
        case Branching::fewest_options: key = {options, waste, g.floor}; break;
        case Branching::tightest: key = {waste, options, g.floor}; break;
        case Branching::lowest_fewest: key = {g.floor, options, waste}; break;
        case Branching::lowest_tightest: key = {g.floor, waste, options}; break;
      }
      if (best.section == none || key < best_key) {
        best = {g.section, g.floor, waste};
        best_key = key;
      }
    }
    return best;
  }

  /// The units that obstacles occupy in a section from `at` upwards.
  [[nodiscard]] Offset fixed_above(Index section, Offset at) const {
    std::int64_t sum = 0;
    for (const Obstacle* o = model_.of_section.begin(u(section)); o != model_.of_section.end(u(section)); ++o) {
      if (o->high > at) sum += o->high - std::max<std::int64_t>(o->low, at);
    }
    return static_cast<Offset>(sum);
  }

  void set(Index c, Offset at) {
    trail_.emplace_back(c, at_[u(c)]);
    at_[u(c)] = at;
  }

  void undo(std::size_t mark) {
    while (trail_.size() > mark) {
      at_[u(trail_.back().first)] = trail_.back().second;
      trail_.pop_back();
    }
  }

  /// Lifts a buffer to its first possible offset from `at` on; false if that is too high.
  bool lift(Index c, Offset at) {
    if (!model_.plain) {
      if (at > ceiling_[u(c)]) return false;
      const std::int64_t fit = model_.fit(u(c), at);
      if (fit > ceiling_[u(c)]) return false;
      at = static_cast<Offset>(fit);
    }
    if (at > ceiling_[u(c)]) return false;
    set(c, at);
    return true;
  }

  /// Places a buffer at its current offset; false if a neighbour then lies too high.
  bool place(Index c) {
    const Offset at = at_[u(c)];
    const auto top = static_cast<Offset>(at + size_[u(c)]);
    offsets_[u(c)] = at;
    set(c, placed);
    for (const std::int32_t* d = model_.neighbours.begin(u(c)); d != model_.neighbours.end(u(c)); ++d) {
      if (at_[u(*d)] < top && !lift(*d, top)) return false;
    }
    return true;
  }

  /// Wastes the floor of a section: lifts its buffers to where the lowest of them can lie next. False if that wastes
  /// more than allowed.
  bool raise(std::size_t begin, std::size_t end, Index section, Offset floor, Offset waste) {
    lifts_.clear();
    Offset lowest = placed;
    Offset top = placed;         // lowest end of a buffer that could be the lowest in the section
    Offset second_top = placed;  // the same without the buffer `top_of`
    Index top_of = none;
    for (std::size_t k = begin; k < end; ++k) {
      const Index c = pool_[k];
      if (!model_.covers(u(c), section)) continue;
      const Offset at = at_[u(c)] == floor ? next_rest(c, section) : at_[u(c)];
      lifts_.emplace_back(c, at);
      lowest = std::min(lowest, at);
      if (at == placed) continue;
      const auto end_of = static_cast<Offset>(at + size_[u(c)]);
      if (end_of < top) {
        second_top = top;
        top = end_of;
        top_of = c;
      } else {
        second_top = std::min(second_top, end_of);
      }
    }
    if (lowest == placed || lowest - floor > waste) return false;
    for (const auto& [c, first] : lifts_) {
      // Either the lowest of the section itself, or on top of another one that is.
      const Offset at = std::min(first, c == top_of ? second_top : top);
      if (at > at_[u(c)] && (at == placed || !lift(c, at))) return false;
    }
    return true;
  }

  /// The lowest offset above its present one at which `c` can rest on something if it is the lowest in `section`: on a
  /// buffer outside that section, or on an obstacle.
  [[nodiscard]] Offset next_rest(Index c, Index section) const {
    Offset next = placed;
    for (const std::int32_t* d = model_.neighbours.begin(u(c)); d != model_.neighbours.end(u(c)); ++d) {
      if (at_[u(*d)] == placed || model_.covers(u(*d), section)) continue;
      next = std::min(next, static_cast<Offset>(at_[u(*d)] + size_[u(*d)]));
    }
    for (const Obstacle* o = model_.obstacles.begin(u(c)); o != model_.obstacles.end(u(c)); ++o) {
      if (o->high > at_[u(c)] && o->high < next) next = static_cast<Offset>(o->high);
    }
    return next;
  }

  /// Splits the remaining buffers (all but `skip`) into parts that share no section, and solves each, small ones first.
  /// Parts are independent, so if one fails, the whole fails.
  bool descend(std::size_t begin, std::size_t end, Index skip, std::size_t mark) {
    sort_left(begin, end, skip, mark);
    if (left_.empty()) return true;
    Index from = model_.sections;
    Index until = 0;
    for (const Index c : left_) {
      from = std::min(from, hull_[u(c)].first);
      until = std::max(until, hull_[u(c)].last);
    }
    std::fill(crossing_.begin() + from, crossing_.begin() + until + 1, 0);
    for (const Index c : left_) {
      ++crossing_[u(hull_[u(c)].first)];
      --crossing_[u(hull_[u(c)].last - 1)];
    }
    // The prefix sum of crossing_ at s is the number of buffers in both s and s + 1.
    Index parts = 0;
    Index open = 0;
    for (Index s = from; s < until; ++s) {
      part_of_[u(s)] = parts;
      open += crossing_[u(s)];
      if (open == 0) ++parts;
    }
    const std::size_t first_part = parts_.size();
    const std::size_t base = pool_.size();
    if (parts == 1) {
      pool_.insert(pool_.end(), left_.begin(), left_.end());
      parts_.emplace_back(base, pool_.size());
    } else {
      parts_.resize(first_part + u(parts), {0, 0});
      for (const Index c : left_) ++parts_[first_part + part(c)].second;
      std::size_t at = base;
      for (std::size_t p = first_part; p < parts_.size(); ++p) {
        parts_[p].first = at;
        at += parts_[p].second;
        parts_[p].second = parts_[p].first;
      }
      pool_.resize(at);
      for (const Index c : left_) pool_[parts_[first_part + part(c)].second++] = c;
      std::sort(parts_.begin() + static_cast<std::ptrdiff_t>(first_part), parts_.end(),
                [](const auto& a, const auto& b) {
                  const std::size_t x = a.second - a.first;
                  const std::size_t y = b.second - b.first;
                  return x != y ? x < y : a.first < b.first;
                });
    }
    bool found = true;
    const std::size_t last_part = parts_.size();
    for (std::size_t p = first_part; found && p < last_part; ++p) {
      if (parts_[p].first != parts_[p].second) found = node(parts_[p].first, parts_[p].second);
    }
    parts_.resize(first_part);
    pool_.resize(base);
    return found;
  }

  [[nodiscard]] std::size_t part(Index c) const { return u(part_of_[u(hull_[u(c)].first)]); }

  /// Collects pool_[begin, end) without `skip` in left_, by descending `at_`: those not lifted since `mark` are still
  /// in order, so only the lifted ones are sorted and merged in.
  void sort_left(std::size_t begin, std::size_t end, Index skip, std::size_t mark) {
    ++stamp_;
    lifted_.clear();
    for (std::size_t t = mark; t < trail_.size(); ++t) {
      const Index c = trail_[t].first;
      if (at_[u(c)] == placed) continue;
      changed_[u(c)] = stamp_;
      lifted_.push_back(c);
    }
    const auto higher = [&](Index a, Index b) { return at_[u(a)] != at_[u(b)] ? at_[u(a)] > at_[u(b)] : a < b; };
    std::sort(lifted_.begin(), lifted_.end(), higher);
    left_.clear();
    std::size_t l = 0;
    for (std::size_t k = begin; k < end; ++k) {
      const Index c = pool_[k];
      if (c == skip || changed_[u(c)] == stamp_) continue;
      while (l < lifted_.size() && at_[u(lifted_[l])] >= at_[u(c)]) left_.push_back(lifted_[l++]);
      left_.push_back(c);
    }
    left_.insert(left_.end(), lifted_.begin() + static_cast<std::ptrdiff_t>(l), lifted_.end());
  }

  const SearchModel& model_;
  std::vector<Offset> at_, start_, ceiling_, offsets_, size_;
  std::vector<SectionRange> hull_;
  std::vector<double> priority_, blame_;
  std::vector<std::uint64_t> changed_;
  SectionGroups<Offset> groups_;
  std::vector<Index> crossing_, part_of_;
  std::vector<std::uint64_t> infeasible_;
  std::vector<std::pair<Index, Offset>> trail_, lifts_;
  std::vector<Index> pool_, left_, lifted_;
  std::vector<std::pair<std::size_t, std::size_t>> parts_;
  std::int64_t capacity_bytes_ = 0;
  Offset capacity_ = 0;
  SearchStrategy strategy_{};
  SearchLimit limit_{};
  std::uint64_t nodes_ = 0;
  std::uint64_t nodes_per_look_ = 1;
  std::uint64_t stamp_ = 0;
  bool stopped_ = false;
};

}  // namespace rondo::search::detail
