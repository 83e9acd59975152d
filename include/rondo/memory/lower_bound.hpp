// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/keyed.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::memory {

/// The smallest alignment of all buffers that have bytes; 1 if there are none. Alignments are powers of two, so every
/// offset is a multiple of it, and a buffer below another takes up its size rounded up to it.
[[nodiscard]] constexpr std::int64_t common_alignment(const Problem& problem) {
  std::int64_t common = 0;
  for (const Buffer& b : problem.buffers) {
    if (b.size > 0 && (common == 0 || b.alignment < common)) common = b.alignment;
  }
  return common == 0 ? 1 : common;
}

/// A size in bytes below which there is no plan: the largest sum, over all sections, of the sizes in use at the same
/// time. In each section, all sizes except that of the topmost buffer are rounded up to the common alignment; the
/// topmost is assumed to be the buffer that gains most by not being rounded. Cost: O(n log n) time, O(n) memory.
[[nodiscard]] constexpr std::int64_t lower_bound(const Problem& problem, const Sections& sections) {
  const std::int64_t unit = common_alignment(problem);
  std::int64_t bound = 0;
  std::vector<std::int64_t> load(static_cast<std::size_t>(sections.count()) + 1, 0);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    bound = std::max(bound, b.size + (b.is_fixed() ? b.fixed_offset : 0));
    for (const SectionRange* r = sections.begin(i); r != sections.end(i); ++r) {
      load[static_cast<std::size_t>(r->first)] += aligned(b.size, unit);
      load[static_cast<std::size_t>(r->last)] -= aligned(b.size, unit);
    }
  }
  std::int64_t sum = 0;
  std::int64_t highest = 0;
  for (std::int64_t& l : load) highest = std::max(highest, l = sum += l);
  if (unit == 1 || highest <= bound) return std::max(bound, highest);

  // The gain of the topmost buffer: each section gets the largest gain of its buffers, starting with the largest.
  // `next` skips sections that already have one.
  std::vector<rondo::detail::Keyed> by_gain;
  by_gain.reserve(problem.size());
  const auto gain = [&](std::size_t i) { return aligned(problem.buffers[i].size, unit) - problem.buffers[i].size; };
  for (std::size_t i = 0; i < problem.size(); ++i) by_gain.push_back({-gain(i), i});
  sort_keyed(by_gain);
  std::vector<std::uint64_t> next(load.size(), 0);
  for (std::size_t i = 0; i < next.size(); ++i) next[i] = i;
  const auto unpainted = [&](std::size_t s) {
    while (next[s] != s) s = next[s] = next[next[s]];
    return s;
  };
  std::vector<std::int64_t> saved(load.size(), 0);
  for (const auto& [key, item] : by_gain) {
    const auto i = static_cast<std::size_t>(item);
    for (const SectionRange* r = sections.begin(i); r != sections.end(i); ++r) {
      for (std::size_t s = unpainted(static_cast<std::size_t>(r->first)); s < static_cast<std::size_t>(r->last);
           s = unpainted(s)) {
        saved[s] = -key;
        next[s] = s + 1;  // the last section ends no later than load.size() - 1, so s + 1 is in range
      }
    }
  }
  for (std::size_t s = 0; s < load.size(); ++s) bound = std::max(bound, load[s] - saved[s]);
  return bound;
}

[[nodiscard]] constexpr std::int64_t lower_bound(const Problem& problem) {
  return lower_bound(problem, Sections{problem});
}

}  // namespace rondo::memory
