// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/lower_bound.hpp>
#include <rondo/memory/planners.hpp>
#include <rondo/memory/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace rondo::search {

using memory::aligned;
using memory::Buffer;
using memory::Plan;
using memory::Problem;

/// The memory planner of TVM's Relay ("PlanMemory"): storage tokens with reference counts and greedy reuse.
///
/// Walks through the schedule. A buffer that starts requests a token: among the free ones of at least its size and at
/// most match_range times that, the smallest; otherwise, among the smaller ones down to size / match_range, the
/// largest, which then grows; otherwise, a new token. A buffer returns its token when its last user is done; one
/// without users returns it at once. In the end, the tokens are placed next to each other. Because only whole tokens
/// are shared, arenas are large; this planner is here for comparison, and as the simplest one that reuses memory.
///
/// Gaps are not used. Buffers with a fixed offset do not take part; the tokens are placed above all of them. A token is
/// not given to a buffer that explicitly conflicts with one of its earlier owners.
/// Thread safety: stateless. Cost: O(n log n).
struct StorageTokens {
  static constexpr const char* name = "storage tokens";
  static constexpr std::int64_t match_range = 16;

  [[nodiscard]] static Plan plan(const Problem& problem) {
    validate(problem);
    Plan result;
    result.offsets = offsets(problem);
    result.arena = arena_of(problem, result.offsets);
    result.lower_bound = lower_bound(problem);
    result.planner = name;
    return result;
  }

  /// Only the offsets, for a valid problem.
  [[nodiscard]] static std::vector<std::int64_t> offsets(const Problem& problem) {
    const std::size_t n = problem.size();
    struct Event {
      std::int64_t time;
      bool start;
      std::uint32_t buffer;
    };
    std::vector<Event> events;
    std::vector<std::int64_t> result(n, 0);
    std::int64_t base = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      const Buffer& b = problem.buffers[i];
      if (b.is_fixed()) {
        result[i] = b.fixed_offset;
        base = std::max(base, b.fixed_offset + b.size);
      } else {
        events.push_back({b.lower, true, i});
        if (b.lower < b.upper) events.push_back({b.upper, false, i});
      }
    }
    // At each step, ends come before starts, so that memory can be reused at once.
    std::sort(events.begin(), events.end(), [](const Event& x, const Event& y) {
      if (x.time != y.time) return x.time < y.time;
      return x.start != y.start ? y.start : x.buffer < y.buffer;
    });
    std::vector<std::vector<std::uint32_t>> conflicts_of(problem.conflicts.empty() ? 0 : n);
    for (const auto& [a, b] : problem.conflicts) {
      conflicts_of[a].push_back(b);
      conflicts_of[b].push_back(a);
    }

    struct Storage {
      std::int64_t bytes = 0;
      std::int64_t alignment = 1;
    };
    std::vector<Storage> tokens;
    std::vector<std::size_t> token_of(n, none);
    std::set<std::pair<std::int64_t, std::size_t>> idle;  // bytes, token
    const auto may_take = [&](std::uint32_t i, std::size_t token) {
      return conflicts_of.empty() || std::none_of(conflicts_of[i].begin(), conflicts_of[i].end(),
                                                  [&](std::uint32_t other) { return token_of[other] == token; });
    };
    for (const Event& e : events) {
      const Buffer& b = problem.buffers[e.buffer];
      if (!e.start) {
        idle.emplace(tokens[token_of[e.buffer]].bytes, token_of[e.buffer]);
        continue;
      }
      std::size_t chosen = none;
      const auto middle = idle.lower_bound({b.size, 0});
      for (auto t = middle; t != idle.end() && (t->first + match_range - 1) / match_range <= b.size; ++t) {
        if (!may_take(e.buffer, t->second)) continue;
        chosen = t->second;
        idle.erase(t);
        break;
      }
      for (auto t = middle; chosen == none && t != idle.begin();) {
        --t;
        if (t->first < b.size / match_range) break;
        if (!may_take(e.buffer, t->second)) continue;
        chosen = t->second;
        idle.erase(t);
        break;
      }
      if (chosen == none) {
        chosen = tokens.size();
        tokens.emplace_back();
      }
      Storage& token = tokens[chosen];
      token.bytes = std::max(token.bytes, b.size);
      token.alignment = std::max(token.alignment, b.alignment);
      token_of[e.buffer] = chosen;
      if (b.lower == b.upper) idle.emplace(token.bytes, chosen);  // no users
    }

    std::vector<std::int64_t> offset_of(tokens.size());
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      offset_of[t] = aligned(base, tokens[t].alignment);
      base = offset_of[t] + tokens[t].bytes;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (token_of[i] != none) result[i] = offset_of[token_of[i]];
    }
    return result;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
};
static_assert(memory::Planner<StorageTokens>);

}  // namespace rondo::search
