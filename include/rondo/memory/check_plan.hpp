// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/algorithm.hpp>
#include <rondo/list.hpp>
#include <rondo/memory/problem.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::memory {

/// What a plan does wrong, and where.
struct Violation {
  enum class Kind : std::uint8_t {
    none,
    wrong_count,        ///< not one offset per buffer
    negative_offset,    ///< of `a`
    misaligned,         ///< `a`
    pin_moved,          ///< `a` is not at its pinned offset
    outside_the_arena,  ///< `a` reaches beyond Plan::arena
    arena_not_tight,    ///< the arena is not the highest end of a buffer
    overlap,            ///< `a` and `b` share bytes while both are in use, or though they conflict
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
    case Violation::Kind::pin_moved: return "a pinned buffer is not at its offset";
    case Violation::Kind::outside_the_arena: return "a buffer reaches beyond the arena";
    case Violation::Kind::arena_not_tight: return "the arena is larger than its contents";
    case Violation::Kind::overlap: return "two buffers share bytes while both are in use";
  }
  return "?";
}

/// Checks a plan against its problem and returns the first violation found.
///
/// Deliberately thinks otherwise than the planners do: it replays time event by event and keeps a list, ordered by
/// offset, of the bytes in use. Cost: O(m (log m + k)) for m uses (buffers plus gaps) of which k at once, where k only
/// moves memory, and linear in the explicit conflicts.
[[nodiscard]] inline Violation check_plan(const Problem& problem, const Plan& plan) {
  using Kind = Violation::Kind;
  if (plan.offsets.size() != problem.buffers.size()) return {Kind::wrong_count, 0, 0};
  std::int64_t top = 0;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    const std::int64_t offset = plan.offsets[i];
    if (offset < 0) return {Kind::negative_offset, i, 0};
    if (offset % b.alignment != 0) return {Kind::misaligned, i, 0};
    if (b.pinned >= 0 && offset != b.pinned) return {Kind::pin_moved, i, 0};
    if (offset > plan.arena - b.size) return {Kind::outside_the_arena, i, 0};
    top = rondo::detail::max(top, offset + b.size);
  }
  if (plan.arena != top) return {Kind::arena_not_tight, 0, 0};

  struct Event {
    std::int64_t time;
    bool start;
    std::size_t buffer;
  };
  List<Event> events;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    if (b.size == 0) continue;
    std::int64_t from = b.lower;
    for (std::size_t g = 0; g <= b.gaps.size(); ++g) {
      const bool last = g == b.gaps.size();
      const std::int64_t until = last ? b.upper : b.gaps[g].lower;
      if (!last && b.gaps[g].lower == b.gaps[g].upper) continue;
      if (from < until) {
        events.push_back({from, true, i});
        events.push_back({until, false, i});
      }
      if (!last) from = b.gaps[g].upper;
    }
  }
  rondo::detail::sort(
      events, [](const Event& x, const Event& y) { return x.time != y.time ? x.time < y.time : x.start < y.start; });
  List<std::size_t> in_use;  // buffers, by offset
  for (const Event& e : events) {
    const std::int64_t offset = plan.offsets[e.buffer];
    std::size_t at = 0;
    for (std::size_t count = in_use.size(); count != 0;) {
      const std::size_t half = count / 2;
      const bool below = plan.offsets[in_use[at + half]] < offset;
      at += below ? half + 1 : 0;
      count = below ? count - half - 1 : half;
    }
    const auto place = in_use.begin() + static_cast<std::ptrdiff_t>(at);
    if (!e.start) {
      in_use.erase(place);
      continue;
    }
    if (at < in_use.size() && plan.offsets[in_use[at]] < offset + problem.buffers[e.buffer].size) {
      return {Kind::overlap, e.buffer, in_use[at]};
    }
    if (at != 0 && plan.offsets[in_use[at - 1]] + problem.buffers[in_use[at - 1]].size > offset) {
      return {Kind::overlap, e.buffer, in_use[at - 1]};
    }
    in_use.insert(place, e.buffer);
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
