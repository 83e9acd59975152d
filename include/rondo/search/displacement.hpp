// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/problem.hpp>
#include <rondo/search/detail/placed_buffers.hpp>
#include <rondo/search/detail/search_strategy.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
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

/// The budget of one call of DisplacementSearch::improve().
struct DisplacementBudget {
  std::uint64_t steps = std::numeric_limits<std::uint64_t>::max();  ///< placed buffers looked at; about 1 to 3 ns each
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  const std::atomic<bool>* cancelled = nullptr;  ///< ends the search early when set
};

/// Shrinks a plan of any size by moving buffers: lowers the top of the arena a little, takes out the buffers that reach
/// above it, and places them again, the largest first. A buffer that fits nowhere displaces those whose removal costs
/// least, which are then placed again in turn. The cost of a buffer rises with its lifetime, and each time that it
/// fits nowhere itself: so buffers that are hard to place come to rest, and easy ones make room.
///
/// Only the parts of the arena that are too high cost time. It proves no lower bound, and is weak if the plan leaves no
/// bytes to waste; ExactSearch is strong there.
///
/// Deterministic for a seed and a budget of steps. Lifetime: refers to the problem. Thread safety: one thread at a
/// time. Cost: O(n) memory.
class DisplacementSearch {
 public:
  /// `overlaps` is the number of pairs that overlap in time; an estimate is sufficient.
  DisplacementSearch(const Problem& problem, std::int64_t overlaps, std::uint64_t seed = 0)
      : problem_{problem},
        placed_{problem, overlaps},
        cost_(problem.size()),
        failures_(problem.size(), 1),
        random_{seed} {
    double longest = 1;
    for (const Buffer& b : problem.buffers) longest = std::max(longest, duration(b));
    for (std::size_t i = 0; i < problem.size(); ++i) {
      const double share = duration(problem.buffers[i]) / longest;
      cost_[i] = static_cast<float>(seed % 2 == 0 ? std::sqrt(share) + 0.01 : share + 0.001);
    }
    const auto n = static_cast<std::int64_t>(problem.size()) + 1;
    patience_ = 32'000 * static_cast<std::uint64_t>(2 * overlaps / n + 50);
  }

  /// Shrinks `plan` (valid, with its lower bound set) until it is at the lower bound or the budget is used up. A later
  /// call continues with what this one learned.
  void improve(Plan& plan, const DisplacementBudget& budget) {
    const std::uint64_t end = budget.steps < ~placed_.steps() ? placed_.steps() + budget.steps : ~std::uint64_t{0};
    adopt(plan);
    while (!plan.optimal() && placed_.steps() < end && !is_over(budget)) {
      const double room = static_cast<double>(plan.arena) - static_cast<double>(plan.lower_bound);
      if (gap_ < room / 64 || gap_ > room) gap_ = room / 8;
      const auto less = std::max<std::int64_t>(1, static_cast<std::int64_t>(gap_));
      const std::int64_t target = std::max(plan.lower_bound, plan.arena - less);
      if (reach(target, std::min(end, placed_.steps() + patience_), budget)) {
        for (std::uint32_t i = 0; i < problem_.size(); ++i) plan.offsets[i] = placed_.offset(i);
        plan.arena = arena_of(problem_, plan.offsets);
        plan.planner = "displacement";
        gap_ = std::max(gap_ * 1.3, 1.0);
      } else {
        adopt(plan);
        if (placed_.steps() >= end) return;
        gap_ /= 2;
        patience_ += patience_ / 2;
      }
    }
  }

 private:
  [[nodiscard]] static double duration(const Buffer& b) noexcept {
    return static_cast<double>(b.upper) - static_cast<double>(b.lower);
  }
  [[nodiscard]] static bool is_over(const DisplacementBudget& budget) {
    return (budget.cancelled != nullptr && budget.cancelled->load(std::memory_order_relaxed)) ||
           (budget.deadline != std::chrono::steady_clock::time_point::max() &&
            std::chrono::steady_clock::now() > budget.deadline);
  }
  [[nodiscard]] bool smaller(std::uint32_t a, std::uint32_t b) const {
    return problem_.buffers[a].size < problem_.buffers[b].size;
  }

  /// Moves every buffer to its place in the plan.
  void adopt(const Plan& plan) {
    for (std::uint32_t i = 0; i < problem_.size(); ++i) {
      if (placed_.is_placed(i) && placed_.offset(i) != plan.offsets[i]) placed_.remove(i);
    }
    // By offset, so that a list grows at its end.
    std::vector<std::uint32_t> missing;
    for (std::uint32_t i = 0; i < problem_.size(); ++i) {
      if (!placed_.is_placed(i)) missing.push_back(i);
    }
    std::sort(missing.begin(), missing.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair{plan.offsets[a], a} < std::pair{plan.offsets[b], b};
    });
    for (const std::uint32_t i : missing) placed_.place(i, plan.offsets[i]);
  }

  /// Tries to place everything within `capacity` bytes; gives up after the step number `end`.
  bool reach(std::int64_t capacity, std::uint64_t end, const DisplacementBudget& budget) {
    std::vector<std::uint32_t> out;  // a heap, the largest first
    const auto order = [this](std::uint32_t a, std::uint32_t b) { return smaller(a, b); };
    for (std::uint32_t i = 0; i < problem_.size(); ++i) {
      if (placed_.offset(i) + problem_.buffers[i].size <= capacity) continue;
      if (problem_.buffers[i].is_fixed()) return false;
      placed_.remove(i);
      out.push_back(i);
    }
    std::make_heap(out.begin(), out.end(), order);
    for (unsigned turn = 1; !out.empty(); ++turn) {
      if (placed_.steps() >= end || (turn % 64 == 0 && is_over(budget))) return false;
      std::pop_heap(out.begin(), out.end(), order);
      const std::uint32_t i = out.back();
      out.pop_back();
      const std::vector<detail::Rival>& rivals = placed_.rivals(i);
      const Buffer& b = problem_.buffers[i];
      std::int64_t offset = free_place(b, rivals, capacity);
      if (offset < 0) {
        offset = cheapest_place(b, rivals, capacity);
        if (offset < 0) return false;
        ++failures_[i];
        for (const detail::Rival& r : rivals) {
          if (r.low >= offset + b.size || r.high <= offset || !placed_.is_placed(r.buffer)) continue;
          placed_.remove(r.buffer);
          out.push_back(r.buffer);
          std::push_heap(out.begin(), out.end(), order);
        }
      }
      placed_.place(i, offset);
    }
    return true;
  }

  /// The offset of the smallest stretch between rivals that holds the buffer, the lowest of several; -1: there is none.
  [[nodiscard]] std::int64_t free_place(const Buffer& b, const std::vector<detail::Rival>& rivals,
                                        std::int64_t capacity) const {
    std::int64_t best = -1;
    std::int64_t least = 0;
    std::int64_t offset = 0;
    const auto consider = [&](std::int64_t low) {
      const std::int64_t rest = low - offset - b.size;
      if (rest >= 0 && (best < 0 || rest < least)) {
        best = offset;
        least = rest;
      }
    };
    for (const detail::Rival& r : rivals) {
      consider(std::min(r.low, capacity));
      if (r.high > offset) offset = aligned(r.high, b.alignment);
      if (offset > capacity - b.size) return best;
    }
    consider(capacity);
    return best;
  }

  /// The place on top of a rival, at the bottom or at the top, whose present users cost least, any of several; -1 if
  /// fixed buffers leave none.
  [[nodiscard]] std::int64_t cheapest_place(const Buffer& b, const std::vector<detail::Rival>& rivals,
                                            std::int64_t capacity) {
    const std::int64_t highest = (capacity - b.size) & ~(b.alignment - 1);
    if (capacity < b.size) return -1;
    sort_by_end(rivals);
    // The rivals between an offset and the offset plus the size are those that start below the upper end, without those
    // that end before the lower.
    double cost = 0;
    std::int64_t fixed = 0;
    std::int64_t best = -1;
    double least = 0;
    std::uint64_t equal = 0;
    auto begun = rivals.begin();
    auto ended = ends_.cbegin();
    const auto count = [&](std::uint32_t r, int sign) {
      if (problem_.buffers[r].is_fixed()) fixed += sign;
      cost += sign * static_cast<double>(cost_[r]) * failures_[r];
    };
    for (std::int64_t offset = 0;;) {
      for (; begun != rivals.end() && begun->low < offset + b.size; ++begun) count(begun->buffer, 1);
      for (; ended != ends_.end() && ended->high <= offset; ++ended) count(ended->buffer, -1);
      if (fixed == 0) {
        constexpr double rounding = 1e-9;
        if (best < 0 || cost < least * (1 - rounding)) {
          best = offset;
          least = cost;
          equal = 1;
        } else if (cost <= least * (1 + rounding) && next_random() % ++equal == 0) {
          best = offset;
        }
      }
      if (offset == highest) return best;
      offset = ended == ends_.end() ? highest : std::min(highest, aligned(ended->high, b.alignment));
    }
  }

  /// Sorts the rivals by their ends. Most of them are alive together, and then already in this order.
  void sort_by_end(const std::vector<detail::Rival>& rivals) {
    ends_.clear();
    std::size_t moved = 0;
    for (const detail::Rival& r : rivals) {
      ends_.push_back(r);
      for (std::size_t k = ends_.size() - 1; k > 0 && ends_[k - 1].high > r.high && moved < 8 * rivals.size(); --k) {
        std::swap(ends_[k - 1], ends_[k]);
        ++moved;
      }
    }
    if (moved < 8 * rivals.size()) return;
    std::sort(ends_.begin(), ends_.end(),
              [](const detail::Rival& x, const detail::Rival& y) { return x.high < y.high; });
  }

  std::uint64_t next_random() noexcept { return detail::mix(random_ += 0x9E3779B97F4A7C15ULL); }

  const Problem& problem_;
  detail::PlacedBuffers placed_;
  std::vector<float> cost_;              ///< by lifetime
  std::vector<std::uint32_t> failures_;  ///< by buffer: one more than the number of times that it fitted nowhere
  std::vector<detail::Rival> ends_{};
  std::uint64_t patience_ = 0;  ///< steps until a target is given up
  double gap_ = 0;              ///< bytes from the best arena to the next target
  std::uint64_t random_;
};

}  // namespace rondo::search
