// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/check_plan.hpp>
#include <rondo/memory/problem.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace rondo::search {

using memory::Conflict;
using memory::Plan;
using memory::Problem;
using memory::Violation;

/// Finds two buffers with fixed offsets, the lower number first, that share bytes although they must be kept apart;
/// none if there are no such buffers. Cost: O(n log n).
[[nodiscard]] inline std::optional<Conflict> find_clash_of_fixed(const Problem& problem) {
  Problem fixed;
  std::vector<std::uint32_t> number;
  std::vector<std::uint32_t> position(problem.size(), 0);
  Plan plan;
  for (std::uint32_t i = 0; i < problem.size(); ++i) {
    if (!problem.buffers[i].is_fixed()) continue;
    position[i] = static_cast<std::uint32_t>(number.size());
    number.push_back(i);
    fixed.buffers.push_back(problem.buffers[i]);
    plan.offsets.push_back(problem.buffers[i].fixed_offset);
  }
  for (const auto& [a, b] : problem.conflicts) {
    if (problem.buffers[a].is_fixed() && problem.buffers[b].is_fixed()) {
      fixed.conflicts.emplace_back(position[a], position[b]);
    }
  }
  plan.arena = arena_of(fixed, plan.offsets);
  const Violation v = check_plan(fixed, plan);
  if (v.ok()) return std::nullopt;
  return Conflict{std::min(number[v.a], number[v.b]), std::max(number[v.a], number[v.b])};
}

/// Throws Error if find_clash_of_fixed finds one.
inline void require_compatible_fixed_offsets(const Problem& problem) {
  if (const std::optional<Conflict> clash = find_clash_of_fixed(problem)) {
    throw Error{Errc::invalid_argument, Error::Text{"buffers ", clash->first, " and ", clash->second,
                                                    " are fixed to the same bytes while both are in use; move one"}};
  }
}

}  // namespace rondo::search
