// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/lanes.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/uses.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::memory::detail {

/// Finds the pairs of memories that the planning order keeps apart but lanes do not. It follows each lane up to the
/// first task that certainly comes after the users of a memory. Cost: uses · lanes steps, and for each memory a few for
/// each task followed and each task without a lane; almost linear for a graph that is large in proportion to its width.
class LaneConflicts {
  // Before their callers: clang does not instantiate later ones in time for constant expressions.
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  struct Touched {
    std::uint32_t token = 0;
    std::int64_t first = 0;  ///< the start of the use that the task belongs to
  };

  template <class Visit>
  constexpr void for_each_user(Visit visit) const {
    for (std::uint32_t k = 0; k < tokens_.size(); ++k) {
      for (const Use& use : tokens_[k].uses) {
        for (const std::uint32_t user : use.users) visit(user, k, use.first);
      }
    }
  }

  /// Visits the memories of the lane's tasks that follow the use in the planning order, but not always on the device.
  /// Those before `reached` have been visited for an earlier use of the same memory, which sufficed.
  template <class Visit>
  constexpr void follow(std::uint32_t lane, const Use& use, std::uint32_t& reached, Visit visit) const {
    const std::vector<std::uint32_t>& tasks = of_lane_[lane];
    const auto later = [&](std::uint32_t task) { return std::int64_t{turn_[task]} + 1 <= use.last; };
    auto at = std::partition_point(tasks.begin() + reached, tasks.end(), later);
    // Whatever is ordered before a task is also ordered before the later tasks of its lane.
    const auto may_meet = [&](std::uint32_t task) {
      return std::any_of(use.users.rbegin(), use.users.rend(),  // the last users are the least likely to come first
                         [&](std::uint32_t user) { return !lanes_.precedes(user, task); });
    };
    for (; at != tasks.end() && may_meet(*at); ++at) {
      for (std::uint32_t i = uses_of_[*at]; i < uses_of_[*at + 1]; ++i) visit(touched_[i]);
    }
    reached = static_cast<std::uint32_t>(at - tasks.begin());
  }

 public:
  constexpr LaneConflicts(const graph::Lanes& lanes, const Tokens& tokens)
      : lanes_{lanes},
        tokens_{tokens.tokens},
        turn_(lanes.lane_of.size(), 0),
        of_lane_(lanes.count),
        uses_of_(lanes.lane_of.size() + 1, 0) {
    for (std::uint32_t turn = 0; turn < lanes.order.size(); ++turn) {
      const std::uint32_t task = lanes.order[turn];
      turn_[task] = turn;
      if (lanes.place[task] == graph::Lanes::none) continue;
      if (lanes.lane_of[task] != graph::Lanes::none) of_lane_[lanes.lane_of[task]].push_back(task);
    }
    for (std::uint32_t k = 0; k < tokens_.size(); ++k) {
      if (tokens_[k].uses.empty() || tokens_[k].uses.back().users.empty()) continue;
      if (lanes.place[tokens_[k].uses.back().users.front()] == graph::Lanes::none) at_ends_.push_back(k);
    }
    for_each_user([&](std::uint32_t user, std::uint32_t, std::int64_t) { ++uses_of_[user + 1]; });
    for (std::size_t t = 1; t < uses_of_.size(); ++t) uses_of_[t] += uses_of_[t - 1];
    touched_ = std::vector<Touched>(uses_of_.back());
    std::vector<std::uint32_t> next(uses_of_.begin(), uses_of_.end() - 1);
    for_each_user(
        [&](std::uint32_t user, std::uint32_t token, std::int64_t first) { touched_[next[user]++] = {token, first}; });
  }

  /// Returns the pairs. `problem` has the buffers of the memories; pairs in use at the same time are left out. Ends
  /// when there are more than `most`.
  [[nodiscard]] constexpr std::vector<rondo::detail::Keyed> find(const Problem& problem, std::size_t most) const {
    std::vector<rondo::detail::Keyed> found;
    std::vector<std::uint32_t> seen_for(tokens_.size(), none);
    const auto add = [&](std::uint32_t a, std::uint32_t b) {
      if (in_use_together(problem.buffers[a], problem.buffers[b])) return;
      found.push_back({std::min(a, b), std::max(a, b)});
    };
    for (std::uint32_t a = 0; a < tokens_.size() && found.size() <= most; ++a) {
      std::vector<std::uint32_t> reached(lanes_.count, 0U);  // by lane: the number of tasks that need no further visit
      for (const Use& use : tokens_[a].uses) {
        for (std::uint32_t lane = 0; lane < lanes_.count && !use.users.empty(); ++lane)
          follow(lane, use, reached[lane], [&](const Touched& t) {
            if (t.token == a || seen_for[t.token] == a || t.first <= use.last) return;
            seen_for[t.token] = a;
            add(a, t.token);
          });
      }
      if (tokens_[a].uses.empty()) continue;
      const Use& last = tokens_[a].uses.back();
      for (const std::uint32_t b : at_ends_) {
        const Use& use = tokens_[b].uses.back();
        if (use.first <= last.last || seen_for[b] == a || order_.all_precede(last.users, use.users)) continue;
        add(a, b);
      }
    }
    return found;
  }

 private:
  const graph::Lanes& lanes_;
  Certainty order_{lanes_};
  const std::vector<Token>& tokens_;
  std::vector<std::uint32_t> turn_;
  std::vector<std::vector<std::uint32_t>> of_lane_;
  std::vector<std::uint32_t> uses_of_;  ///< by task: the start of its entries in touched_
  std::vector<Touched> touched_;
  std::vector<std::uint32_t> at_ends_;  ///< the memories whose last users are tasks without successors
};

}  // namespace rondo::memory::detail
