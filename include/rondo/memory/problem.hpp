// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/keyed.hpp>
#include <rondo/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// Memory planning: finds offsets in one arena for buffers with sizes and lifetimes. No two buffers that are alive at
/// the same time overlap, and the arena is as small as possible.
namespace rondo::memory {

/// A half-open stretch of time [lower, upper). Times are steps of a schedule and may be negative.
struct Span {
  std::int64_t lower = 0;
  std::int64_t upper = 0;

  [[nodiscard]] constexpr bool empty() const noexcept { return lower >= upper; }
  friend constexpr bool operator==(Span, Span) noexcept = default;
};

/// The fixed_offset of a buffer whose offset the planner chooses.
inline constexpr std::int64_t not_fixed = -1;

/// A tensor, for planning. Zero bytes and an empty lifetime are allowed: such a buffer collides with no other, but the
/// arena still contains its bytes.
struct Buffer {
  std::int64_t lower = 0;                 ///< first step at which it is alive
  std::int64_t upper = 0;                 ///< first step at which it is no longer alive
  std::int64_t size = 0;                  ///< bytes
  std::int64_t alignment = 1;             ///< bytes, a power of two
  std::int64_t fixed_offset = not_fixed;  ///< the required offset in bytes, or not_fixed
  std::vector<Span> gaps{};  ///< parts of the lifetime in which others may use its bytes; ascending, disjoint

  [[nodiscard]] constexpr bool is_fixed() const noexcept { return fixed_offset >= 0; }
  /// Whether it can collide with another buffer.
  [[nodiscard]] constexpr bool occupies() const noexcept { return size > 0 && lower < upper; }

  friend constexpr bool operator==(const Buffer&, const Buffer&) = default;
};

/// Calls visit(Span) for each stretch in which the buffer is alive and in use, in ascending order.
template <class Visit>
constexpr void for_each_use(const Buffer& b, Visit&& visit) {
  std::int64_t from = b.lower;
  for (const Span gap : b.gaps) {
    if (gap.empty()) continue;
    if (from < gap.lower) visit(Span{from, gap.lower});
    from = gap.upper;
  }
  if (from < b.upper) visit(Span{from, b.upper});
}

/// Whether both are in use at some moment, regardless of their sizes. Cost: linear in the number of gaps.
[[nodiscard]] constexpr bool in_use_together(const Buffer& a, const Buffer& b) {
  const std::int64_t end = std::min(a.upper, b.upper);
  std::int64_t time = std::max(a.lower, b.lower);  // at the end of the loop, a moment outside of all gaps, or the end
  auto x = a.gaps.begin();
  auto y = b.gaps.begin();
  while (time < end) {
    if (x != a.gaps.end() && x->lower <= time) {
      time = std::max(time, (x++)->upper);
    } else if (y != b.gaps.end() && y->lower <= time) {
      time = std::max(time, (y++)->upper);
    } else {
      return true;
    }
  }
  return false;
}

/// A pair of buffers, by index, that must not share bytes.
using Conflict = std::pair<std::uint32_t, std::uint32_t>;

/// The input of a planner. `conflicts` lists pairs that must be kept apart although their lifetimes do not overlap, as
/// in a parallel schedule: take the lifetimes from any sequential order, and add each pair of buffers for which neither
/// one's users all precede the other's.
struct Problem {
  std::vector<Buffer> buffers{};
  std::vector<Conflict> conflicts{};

  [[nodiscard]] constexpr std::size_t size() const noexcept { return buffers.size(); }
};

/// Replaces the conflicts of a problem with these pairs of buffers, `key` and `item`, each once.
constexpr void set_conflicts(Problem& problem, std::vector<rondo::detail::Keyed> pairs) {
  sort_once_each(pairs);
  problem.conflicts.clear();
  for (const auto& [a, b] : pairs) {
    problem.conflicts.emplace_back(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
  }
}

/// Offsets for a problem, and their quality.
struct Plan {
  std::vector<std::int64_t> offsets{};  ///< bytes, one per buffer
  std::int64_t arena = 0;               ///< bytes: the maximum of offset + size
  std::int64_t lower_bound = 0;         ///< bytes: no plan can be smaller than this
  const char* planner = "";             ///< the name of the planner that found it; static storage
  bool out_of_budget = false;           ///< the search used up its budget, so a smaller arena may exist

  [[nodiscard]] constexpr bool optimal() const noexcept { return arena == lower_bound; }
  [[nodiscard]] constexpr double ratio() const noexcept {
    return lower_bound == 0 ? 1.0 : static_cast<double>(arena) / static_cast<double>(lower_bound);
  }
};

/// The smallest multiple of `alignment` (a power of two) that is not below `offset` (not negative).
[[nodiscard]] constexpr std::int64_t aligned(std::int64_t offset, std::int64_t alignment) noexcept {
  return (offset + alignment - 1) & ~(alignment - 1);
}

/// The maximum of offset + size.
[[nodiscard]] constexpr std::int64_t arena_of(const Problem& problem, const std::vector<std::int64_t>& offsets) {
  std::int64_t top = 0;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const std::int64_t end = offsets[i] + problem.buffers[i].size;
    if (end > top) top = end;
  }
  return top;
}

/// Throws Error if the problem cannot be planned: a negative size, an end before its start, an alignment that is not a
/// power of two, gaps outside the lifetime or out of order, a fixed offset that is negative or not aligned, a conflict
/// with an invalid index, or sizes whose sum with all padding exceeds 2^62. It does not check whether fixed offsets
/// overlap; see search::require_compatible_fixed_offsets(). Cost: linear.
constexpr void validate(const Problem& problem) {
  constexpr std::int64_t limit = INT64_MAX / 2;
  if (problem.size() > INT32_MAX / 2) {
    throw Error{Errc::limit_exceeded, Error::Text{"the problem has ", problem.size(), " buffers; split it"}};
  }
  std::int64_t total = 0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    const auto refuse = [&](const char* what, Errc code = Errc::invalid_argument) {
      throw Error{code, Error::Text{"buffer ", i, ": ", what}};
    };
    const bool is_power_of_two = b.alignment > 0 && (b.alignment & (b.alignment - 1)) == 0;
    if (b.size < 0) refuse("the size is negative");
    if (b.upper < b.lower) refuse("the lifetime ends before it starts");
    if (!is_power_of_two) refuse("the alignment is not a power of two; use 1 if there is none");
    if (b.fixed_offset < not_fixed) refuse("the fixed offset is negative");
    if (b.is_fixed() && b.fixed_offset % b.alignment != 0)
      refuse("the fixed offset is not a multiple of the alignment");
    std::int64_t from = b.lower;
    for (const Span gap : b.gaps) {
      const bool is_in_order = from <= gap.lower && gap.upper <= b.upper;
      if (gap.upper < gap.lower) refuse("a gap ends before it starts");
      if (!is_in_order) refuse("the gaps are not ascending, disjoint and within the lifetime");
      from = gap.upper;
    }
    const bool fits = b.size <= limit - b.alignment && total <= limit - b.size - b.alignment;
    if (!fits) refuse("the sizes up to here sum to more than 2^62 bytes", Errc::overflow);
    total += b.size + b.alignment;
    const bool is_too_far = b.is_fixed() && b.fixed_offset > limit - total;
    if (is_too_far) refuse("the fixed offset and the sizes exceed 2^62 bytes", Errc::overflow);
  }
  for (const auto& [a, b] : problem.conflicts) {
    if (a >= problem.size() || b >= problem.size() || a == b) {
      throw Error{Errc::invalid_argument,
                  Error::Text{"the conflict of buffers ", a, " and ", b, " does not name two buffers of the problem"}};
    }
  }
}

}  // namespace rondo::memory
