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

/// Finds the pairs of memories that the planning order keeps apart but lanes do not. For the first users of each use it
/// goes through the earlier tasks of each lane that do not certainly come before. Cost: uses · lanes steps, and for
/// each memory a few for each such task; almost linear for a graph that is large in proportion to its width.
class LaneConflicts {
  // Before their callers: clang does not instantiate later ones in time for constant expressions.
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  /// A use of a memory, as one of its last users has it.
  struct LastUse {
    std::uint32_t token = 0;
    std::uint32_t last = 0;  ///< times fit in 32 bits, as tasks do
    std::uint32_t next = 0;  ///< the start of the memory's next use
  };

  /// Visits the last users of each use: all users except those that come before the next one.
  template <class Visit>
  constexpr void for_each_last_user(Visit visit) const {
    for (std::uint32_t k = 0; k < tokens_.size(); ++k) {
      const std::vector<Use>& uses = tokens_[k].uses;
      for (std::size_t i = 0; i < uses.size(); ++i) {
        const std::vector<std::uint32_t>& users = uses[i].users;
        const LastUse use{k, static_cast<std::uint32_t>(uses[i].last),
                          i + 1 < uses.size() ? static_cast<std::uint32_t>(uses[i + 1].first) : none};
        for (std::size_t u = 0; u < users.size(); ++u) {
          if (u + 1 == users.size() || !lanes_.precedes(users[u], users[u + 1])) visit(users[u], use);
        }
      }
    }
  }

  /// The number of the tasks of each lane that certainly come before all users of a use, which is not empty.
  constexpr void find_known(const Use& use, std::vector<std::uint32_t>& known) const {
    const std::uint32_t first = use.users.front();
    for (const std::uint32_t user : use.users) {
      if (user != first && lanes_.precedes(first, user)) continue;
      const std::uint32_t* const own = &lanes_.known[std::size_t{user} * lanes_.count];
      for (std::uint32_t lane = 0; lane < lanes_.count; ++lane) {
        known[lane] = user == first ? own[lane] : std::min(known[lane], own[lane]);
      }
    }
  }

 public:
  constexpr LaneConflicts(const graph::Lanes& lanes, const Tokens& tokens)
      : lanes_{lanes},
        tokens_{tokens.tokens},
        time_(lanes.lane_of.size(), 0),
        of_lane_(lanes.count + std::size_t{1}),
        uses_of_(lanes.lane_of.size() + 1, 0) {
    for (std::uint32_t turn = 0; turn < lanes.order.size(); ++turn) {
      const std::uint32_t task = lanes.order[turn];
      time_[task] = turn + 1;
      const bool is_before_all = lanes.lane_of[task] == graph::Lanes::none;
      const bool is_before_none = lanes.place[task] == graph::Lanes::none;
      if (!is_before_all) of_lane_[is_before_none ? lanes.count : lanes.lane_of[task]].push_back(task);
    }
    for_each_last_user([&](std::uint32_t user, const LastUse&) { ++uses_of_[user + 1]; });
    for (std::size_t t = 1; t < uses_of_.size(); ++t) uses_of_[t] += uses_of_[t - 1];
    last_uses_ = std::vector<LastUse>(uses_of_.back());
    std::vector<std::uint32_t> next(uses_of_.begin(), uses_of_.end() - 1);
    for_each_last_user([&](std::uint32_t user, const LastUse& use) { last_uses_[next[user]++] = use; });
  }

  /// Returns the pairs. `problem` has the buffers of the memories; pairs in use at the same time are left out. Ends
  /// when there are more than `most`.
  [[nodiscard]] constexpr std::vector<rondo::detail::Keyed> find(const Problem& problem, std::size_t most) const {
    std::vector<rondo::detail::Keyed> found;
    std::vector<std::uint32_t> seen_for(tokens_.size(), none);
    std::vector<std::uint32_t> known(of_lane_.size(), 0U);  // nothing is known of the tasks that come before no other
    for (std::uint32_t b = 0; b < tokens_.size() && found.size() <= most; ++b) {
      std::vector<std::uint32_t> reached(of_lane_.size(), 0U);  // by lane: the tasks before it need no further visit
      for (const Use& use : tokens_[b].uses) {
        if (use.users.empty()) continue;
        find_known(use, known);
        for (std::size_t lane = 0; lane < of_lane_.size(); ++lane) {
          const std::vector<std::uint32_t>& tasks = of_lane_[lane];
          std::uint32_t at = std::max(known[lane], reached[lane]);
          for (; at < tasks.size() && time_[tasks[at]] < use.first; ++at) {
            for (std::uint32_t i = uses_of_[tasks[at]]; i < uses_of_[tasks[at] + 1]; ++i) {
              const LastUse& before = last_uses_[i];
              const std::uint32_t a = before.token;
              // If the next use begins before this one ends, it meets it or comes in between.
              if (a == b || before.last >= use.first || before.next <= use.last || seen_for[a] == b) continue;
              seen_for[a] = b;
              if (in_use_together(problem.buffers[a], problem.buffers[b])) continue;
              found.push_back({std::min(a, b), std::max(a, b)});
            }
          }
          reached[lane] = at;
        }
      }
    }
    return found;
  }

 private:
  const graph::Lanes& lanes_;
  const std::vector<Token>& tokens_;
  std::vector<std::uint32_t> time_;                  ///< by task
  std::vector<std::vector<std::uint32_t>> of_lane_;  ///< after the lanes: the tasks that come before no other
  std::vector<std::uint32_t> uses_of_;               ///< by task: the start of its entries in last_uses_
  std::vector<LastUse> last_uses_;
};

}  // namespace rondo::memory::detail
