// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/keyed.hpp>
#include <rondo/memory/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::memory {

/// A mistake in a plan.
struct Violation {
  enum class Kind : std::uint8_t {
    none,
    wrong_count,         ///< the number of offsets is not that of the buffers
    negative_offset,     ///< the offset of `a` is negative
    misaligned,          ///< the offset of `a` is not a multiple of its alignment
    fixed_offset_moved,  ///< `a` is not at its fixed offset
    outside_the_arena,   ///< `a` extends beyond Plan::arena
    arena_not_tight,     ///< the arena is larger than the highest end of a buffer
    overlap,             ///< `a` and `b` share bytes while both are in use, or although they conflict
  };
  Kind kind = Kind::none;
  std::size_t a = 0;
  std::size_t b = 0;

  [[nodiscard]] constexpr bool ok() const noexcept { return kind == Kind::none; }
};

[[nodiscard]] constexpr const char* to_string(Violation::Kind kind) noexcept {
  switch (kind) {
    case Violation::Kind::none: return "none";
    case Violation::Kind::wrong_count: return "the plan does not hold one offset per buffer";
    case Violation::Kind::negative_offset: return "a negative offset";
    case Violation::Kind::misaligned: return "an offset that is not a multiple of the alignment";
    case Violation::Kind::fixed_offset_moved: return "a buffer is not at its fixed offset";
    case Violation::Kind::outside_the_arena: return "a buffer reaches beyond the arena";
    case Violation::Kind::arena_not_tight: return "the arena is larger than its contents";
    case Violation::Kind::overlap: return "two buffers share bytes while both are in use";
  }
  return "?";
}

/// Checks a plan against its problem and returns the first violation found.
///
/// Unlike the planners, it processes time event by event and keeps a list of the bytes in use, ordered by offset. Cost:
/// O(m (log m + k)) for m uses (buffers plus gaps), at most k of them at once, and linear in the explicit conflicts.
[[nodiscard]] inline Violation check_plan(const Problem& problem, const Plan& plan) {
  using Kind = Violation::Kind;
  if (plan.offsets.size() != problem.buffers.size()) return {Kind::wrong_count, 0, 0};
  std::int64_t top = 0;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    const std::int64_t offset = plan.offsets[i];
    if (offset < 0) return {Kind::negative_offset, i, 0};
    if (offset % b.alignment != 0) return {Kind::misaligned, i, 0};
    if (b.fixed_offset >= 0 && offset != b.fixed_offset) return {Kind::fixed_offset_moved, i, 0};
    if (plan.arena < b.size || offset > plan.arena - b.size) return {Kind::outside_the_arena, i, 0};
    top = std::max(top, offset + b.size);
  }
  if (plan.arena != top) return {Kind::arena_not_tight, 0, 0};

  constexpr std::uint64_t start = std::uint64_t{1} << 32;
  std::vector<rondo::detail::Keyed> events;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    if (b.size == 0) continue;
    for_each_use(b, [&](Span use) {
      events.push_back({use.lower, start | i});
      events.push_back({use.upper, i});
    });
  }
  sort_keyed(events);
  std::vector<std::uint64_t> in_use;  // the buffers in use, by offset
  for (const auto& [time, event] : events) {
    const auto subject = static_cast<std::size_t>(event % start);
    const std::int64_t offset = plan.offsets[subject];
    const auto place = std::lower_bound(in_use.begin(), in_use.end(), offset,
                                        [&](std::uint64_t buffer, std::int64_t o) { return plan.offsets[buffer] < o; });
    if (event < start) {
      in_use.erase(place);
      continue;
    }
    if (place != in_use.end() && plan.offsets[*place] < offset + problem.buffers[subject].size) {
      return {Kind::overlap, subject, *place};
    }
    if (place != in_use.begin()) {
      const std::size_t below = *(place - 1);
      if (plan.offsets[below] + problem.buffers[below].size > offset) return {Kind::overlap, subject, below};
    }
    in_use.insert(place, subject);
  }
  for (const auto& [a, b] : problem.conflicts) {
    const std::int64_t size_of_a = problem.buffers[a].size;
    const std::int64_t size_of_b = problem.buffers[b].size;
    if (size_of_a == 0 || size_of_b == 0) continue;
    if (plan.offsets[a] < plan.offsets[b] + size_of_b && plan.offsets[b] < plan.offsets[a] + size_of_a) {
      return {Kind::overlap, a, b};
    }
  }
  return {};
}

}  // namespace rondo::memory
