// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::search {

using memory::aligned;
using memory::Problem;
using memory::SectionRange;
using memory::Sections;

namespace detail {

/// The height of each section, with "highest of a range" and "set a range" in O(log sections).
class Heights {
 public:
  constexpr explicit Heights(std::int32_t sections) {
    while (leaves_ < sections) leaves_ *= 2;
    highest_.assign(2 * static_cast<std::size_t>(leaves_), 0);
    pending_.assign(2 * static_cast<std::size_t>(leaves_), none);
  }
  [[nodiscard]] constexpr std::int64_t highest(SectionRange range) { return query(1, 0, leaves_, range); }
  constexpr void set(SectionRange range, std::int64_t height) { assign(1, 0, leaves_, range, height); }

 private:
  static constexpr std::int64_t none = -1;

  constexpr void push(std::size_t node) {
    if (pending_[node] == none) return;
    for (const std::size_t child : {2 * node, 2 * node + 1}) highest_[child] = pending_[child] = pending_[node];
    pending_[node] = none;
  }
  constexpr std::int64_t query(std::size_t node, std::int32_t from, std::int32_t count, SectionRange range) {
    if (range.last <= from || from + count <= range.first) return 0;
    if (range.first <= from && from + count <= range.last) return highest_[node];
    push(node);
    return std::max(query(2 * node, from, count / 2, range), query(2 * node + 1, from + count / 2, count / 2, range));
  }
  constexpr void assign(std::size_t node, std::int32_t from, std::int32_t count, SectionRange range,
                        std::int64_t height) {
    if (range.last <= from || from + count <= range.first) return;
    if (range.first <= from && from + count <= range.last) {
      highest_[node] = pending_[node] = height;
      return;
    }
    push(node);
    assign(2 * node, from, count / 2, range, height);
    assign(2 * node + 1, from + count / 2, count / 2, range, height);
    highest_[node] = std::max(highest_[2 * node], highest_[2 * node + 1]);
  }

  std::int32_t leaves_ = 1;
  std::vector<std::int64_t> highest_{}, pending_{};
};

}  // namespace detail

/// Stacks buffers in the given order, each on the highest earlier one that overlaps it in time; gaps below are not
/// filled. Weak in general, but exact for nested lifetimes (a training graph's activations, longest first), however
/// many are alive at once. Ignores fixed offsets, so use it for problems without them.
/// Cost: O(n log sections) time, O(n) memory.
[[nodiscard]] constexpr std::vector<std::int64_t> skyline(const Problem& problem, const Sections& sections,
                                                          const std::vector<std::uint32_t>& order) {
  std::vector<std::int64_t> offsets(problem.size(), 0);
  detail::Heights heights{sections.count()};
  for (const std::uint32_t i : order) {
    std::int64_t top = 0;
    for (const SectionRange* r = sections.begin(i); r != sections.end(i); ++r) top = std::max(top, heights.highest(*r));
    offsets[i] = aligned(top, problem.buffers[i].alignment);
    for (const SectionRange* r = sections.begin(i); r != sections.end(i); ++r) {
      heights.set(*r, offsets[i] + problem.buffers[i].size);
    }
  }
  return offsets;
}

}  // namespace rondo::search
