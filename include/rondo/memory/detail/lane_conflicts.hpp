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

/// Returns the pairs of memories that the planning order keeps apart but lanes do not. For the first users of each use
/// it goes through the earlier tasks of each lane that do not certainly come before. `problem` has the buffers of the
/// memories; pairs in use at the same time are left out. Ends when there are more than `most`. Cost: uses · lanes
/// steps, and for each memory a few for each such task; almost linear for a graph that is large in proportion to its
/// width.
[[nodiscard]] constexpr std::vector<rondo::detail::Keyed> find_lane_conflicts(const graph::Lanes& lanes,
                                                                              const std::vector<Token>& tokens,
                                                                              const Problem& problem,
                                                                              std::size_t most) {
  constexpr std::uint32_t none = 0xFFFF'FFFF;
  // A use of a memory, as one of its last users has it.
  struct LastUse {
    std::uint32_t token = 0;
    std::uint32_t last = 0;  // times fit in 32 bits, as tasks do
    std::uint32_t next = 0;  // the start of the memory's next use
  };
  // Visits the last users of each use: all users except those that come before the next one.
  const auto for_each_last_user = [&](const auto& visit) {
    for (std::uint32_t k = 0; k < tokens.size(); ++k) {
      const std::vector<Use>& uses = tokens[k].uses;
      for (std::size_t i = 0; i < uses.size(); ++i) {
        const std::vector<std::uint32_t>& users = uses[i].users;
        const LastUse use{k, static_cast<std::uint32_t>(uses[i].last),
                          i + 1 < uses.size() ? static_cast<std::uint32_t>(uses[i + 1].first) : none};
        for (std::size_t u = 0; u < users.size(); ++u) {
          if (u + 1 == users.size() || !lanes.precedes(users[u], users[u + 1])) visit(users[u], use);
        }
      }
    }
  };

  std::vector<std::uint32_t> time(lanes.lane_of.size(), 0U);                      // by task
  std::vector<std::vector<std::uint32_t>> of_lane(lanes.count + std::size_t{1});  // last: tasks before no other
  for (std::uint32_t turn = 0; turn < lanes.order.size(); ++turn) {
    const std::uint32_t task = lanes.order[turn];
    time[task] = turn + 1;
    const bool is_before_all = lanes.lane_of[task] == graph::Lanes::none;
    const bool is_before_none = lanes.place[task] == graph::Lanes::none;
    if (!is_before_all) of_lane[is_before_none ? lanes.count : lanes.lane_of[task]].push_back(task);
  }
  std::vector<std::uint32_t> uses_of(lanes.lane_of.size() + 1, 0U);  // by task: the start of its entries in last_uses
  for_each_last_user([&](std::uint32_t user, const LastUse&) { ++uses_of[user + 1]; });
  for (std::size_t t = 1; t < uses_of.size(); ++t) uses_of[t] += uses_of[t - 1];
  std::vector<LastUse> last_uses(uses_of.back());
  std::vector<std::uint32_t> free(uses_of.begin(), uses_of.end() - 1);
  for_each_last_user([&](std::uint32_t user, const LastUse& use) { last_uses[free[user]++] = use; });

  std::vector<rondo::detail::Keyed> found;
  std::vector<std::uint32_t> seen_for(tokens.size(), none);
  // By lane: the number of its tasks that certainly come before all users of a use. The last entry stays 0.
  std::vector<std::uint32_t> known(of_lane.size(), 0U);
  for (std::uint32_t b = 0; b < tokens.size() && found.size() <= most; ++b) {
    std::vector<std::uint32_t> reached(of_lane.size(), 0U);  // by lane: the tasks before it need no further visit
    for (const Use& use : tokens[b].uses) {
      if (use.users.empty()) continue;
      const std::uint32_t first = use.users.front();
      for (const std::uint32_t user : use.users) {
        if (user != first && lanes.precedes(first, user)) continue;
        const std::uint32_t* const own = &lanes.known[std::size_t{user} * lanes.count];
        for (std::uint32_t lane = 0; lane < lanes.count; ++lane) {
          known[lane] = user == first ? own[lane] : std::min(known[lane], own[lane]);
        }
      }
      for (std::size_t lane = 0; lane < of_lane.size(); ++lane) {
        const std::vector<std::uint32_t>& tasks = of_lane[lane];
        std::uint32_t at = std::max(known[lane], reached[lane]);
        for (; at < tasks.size() && time[tasks[at]] < use.first; ++at) {
          for (std::uint32_t i = uses_of[tasks[at]]; i < uses_of[tasks[at] + 1]; ++i) {
            const LastUse& before = last_uses[i];
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

}  // namespace rondo::memory::detail
