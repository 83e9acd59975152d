// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/lower_bound.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace rondo::search::detail {

using memory::aligned;
using memory::Buffer;
using memory::Problem;
using memory::SectionRange;
using memory::Sections;

/// A stretch of bytes that a fixed buffer occupies, in units.
struct Obstacle {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// Lists of varying length, stored in two vectors.
template <class T>
struct Rows {
  std::vector<std::uint32_t> begin_of{0};
  std::vector<T> items{};

  void close_row() { begin_of.push_back(static_cast<std::uint32_t>(items.size())); }
  [[nodiscard]] const T* begin(std::size_t row) const noexcept { return items.data() + begin_of[row]; }
  [[nodiscard]] const T* end(std::size_t row) const noexcept { return items.data() + begin_of[row + 1]; }
};

/// The part of a problem that a search works on, in a form for its inner loops: free buffers numbered 0..n in order of
/// time, offsets in units (the greatest common divisor of all sizes, fixed offsets and alignments, so that they usually
/// fit into 32 bits), fixed buffers as obstacles. Immutable once built.
struct SearchModel {
  std::vector<std::uint32_t> buffer;  ///< number in the problem
  std::vector<std::int64_t> size;     ///< units, rounded up to the common alignment
  std::vector<std::int64_t> align;    ///< units, at least 1
  std::vector<std::int64_t> bytes;    ///< the size as given
  std::vector<double> duration;       ///< steps
  std::vector<std::uint32_t> kind;    ///< equal numbers mean interchangeable buffers
  Rows<SectionRange> ranges;          ///< per buffer, section numbers from 0
  Rows<std::int32_t> neighbours;      ///< per buffer, the free buffers that it overlaps in time
  Rows<Obstacle> obstacles;           ///< per buffer, by ascending `low`
  Rows<Obstacle> of_section;          ///< per section; an empty row if nothing is fixed
  std::vector<std::int64_t> fixed;    ///< per section, units that obstacles occupy
  std::vector<std::int64_t> load;     ///< per section, units, including obstacles
  std::int32_t sections = 0;
  std::int64_t unit = 1;      ///< bytes
  std::int64_t rounding = 1;  ///< bytes: the common alignment
  bool plain = true;          ///< no alignment above one unit and no obstacle
  std::int64_t largest = 0;   ///< offsets and sums of a search within capacity `largest` hardly exceed this

  [[nodiscard]] std::size_t count() const noexcept { return buffer.size(); }
  [[nodiscard]] SectionRange hull(std::size_t c) const noexcept {
    return {ranges.begin(c)->first, (ranges.end(c) - 1)->last};
  }
  [[nodiscard]] bool covers(std::size_t c, std::int32_t section) const noexcept {
    for (const SectionRange* r = ranges.begin(c); r != ranges.end(c); ++r) {
      if (section < r->last) return section >= r->first;
    }
    return false;
  }
  /// The smallest capacity above `capacity` (bytes) that allows any further offset; if sizes are rounded, a lower bound
  /// of it.
  [[nodiscard]] std::int64_t next_capacity(std::int64_t capacity) const noexcept {
    std::int64_t next = (aligned(capacity, rounding) / unit + 1) * unit - (rounding - 1);
    for (const std::int64_t b : bytes) {
      if (b > capacity) continue;
      next = std::min(next, ((capacity - b) / unit + 1) * unit + b);
    }
    return std::max(next, capacity + 1);
  }
  /// The lowest aligned offset not below `from` at which the buffer overlaps no obstacle.
  [[nodiscard]] std::int64_t fit(std::size_t c, std::int64_t from) const noexcept {
    from = aligned(from, align[c]);
    for (const Obstacle* o = obstacles.begin(c); o != obstacles.end(c); ++o) {
      if (o->low >= from + size[c]) break;
      if (o->high > from) from = aligned(o->high, align[c]);
    }
    return from;
  }
};

/// Builds the model of the buffers that have sections.
[[nodiscard]] inline SearchModel make_search_model(const Problem& problem, const Sections& sections) {
  SearchModel m;
  std::vector<std::uint32_t> fixed;
  for (std::uint32_t i = 0; i < problem.size(); ++i) {
    if (!sections.empty(i)) (problem.buffers[i].is_fixed() ? fixed : m.buffer).push_back(i);
  }
  std::ranges::sort(m.buffer, {}, [&](std::uint32_t i) { return std::pair{sections.hull(i).first, i}; });
  m.rounding = memory::common_alignment(problem);
  std::int32_t from = 0;
  std::int32_t until = 0;
  if (!m.buffer.empty()) from = sections.hull(m.buffer.front()).first;
  for (const std::uint32_t i : m.buffer) until = std::max(until, sections.hull(i).last);
  m.sections = std::max(0, until - from);

  std::vector<std::uint32_t> fixed_here;
  for (const std::uint32_t i : fixed) {
    const SectionRange hull = sections.hull(i);
    if (hull.first < until && from < hull.last) fixed_here.push_back(i);
  }
  const auto offset = [&](std::uint32_t i) { return problem.buffers[i].fixed_offset; };
  const auto rounded = [&](std::uint32_t i) { return aligned(problem.buffers[i].size, m.rounding); };
  std::int64_t unit = 0;
  for (const std::uint32_t i : m.buffer) unit = std::gcd(unit, rounded(i));
  for (const std::uint32_t i : fixed_here) unit = std::gcd(unit, std::gcd(offset(i), rounded(i)));
  if (unit == 0) unit = 1;
  for (const std::uint32_t i : m.buffer) {
    if (unit % problem.buffers[i].alignment != 0) unit = std::gcd(unit, problem.buffers[i].alignment);
  }
  m.unit = unit;

  m.load.assign(static_cast<std::size_t>(m.sections), 0);
  std::int64_t sum = 0;
  for (const std::uint32_t i : m.buffer) {
    const Buffer& b = problem.buffers[i];
    m.size.push_back(rounded(i) / unit);
    m.align.push_back(std::max<std::int64_t>(1, b.alignment / unit));
    m.bytes.push_back(b.size);
    m.duration.push_back(static_cast<double>(b.upper) - static_cast<double>(b.lower));
    if (m.align.back() > 1) m.plain = false;
    sum += m.size.back() + m.align.back();
    for (const SectionRange* r = sections.begin(i); r != sections.end(i); ++r) {
      m.ranges.items.push_back({r->first - from, r->last - from});
      for (std::int32_t s = r->first - from; s < r->last - from; ++s)
        m.load[static_cast<std::size_t>(s)] += m.size.back();
    }
    m.ranges.close_row();
  }

  // Which buffers overlap in time: they are sorted by first section, so each looks ahead to its own last section.
  const std::size_t n = m.count();
  std::vector<std::vector<std::int32_t>> meets(n);
  for (std::size_t a = 0; a < n; ++a) {
    const std::int32_t end = sections.hull(m.buffer[a]).last;
    for (std::size_t b = a + 1; b < n && sections.hull(m.buffer[b]).first < end; ++b) {
      if (!sections.meet(m.buffer[a], m.buffer[b])) continue;
      meets[a].push_back(static_cast<std::int32_t>(b));
      meets[b].push_back(static_cast<std::int32_t>(a));
    }
  }
  for (const auto& row : meets) {
    m.neighbours.items.insert(m.neighbours.items.end(), row.begin(), row.end());
    m.neighbours.close_row();
  }

  std::ranges::sort(fixed_here, {}, [&](std::uint32_t i) { return std::pair{offset(i), i}; });
  if (!fixed_here.empty()) m.plain = false;
  const auto obstacle = [&](std::uint32_t i) {
    return Obstacle{offset(i) / unit, offset(i) / unit + rounded(i) / unit};
  };
  for (const std::uint32_t i : m.buffer) {
    for (const std::uint32_t f : fixed_here) {
      if (sections.meet(i, f)) m.obstacles.items.push_back(obstacle(f));
    }
    m.obstacles.close_row();
  }
  std::vector<std::vector<Obstacle>> of_section(static_cast<std::size_t>(m.sections));
  for (const std::uint32_t f : fixed_here) {
    sum += rounded(f) / unit + offset(f) / unit;
    for (const SectionRange* r = sections.begin(f); r != sections.end(f); ++r) {
      for (std::int32_t s = std::max(0, r->first - from); s < std::min(m.sections, r->last - from); ++s) {
        of_section[static_cast<std::size_t>(s)].push_back(obstacle(f));
        m.load[static_cast<std::size_t>(s)] += rounded(f) / unit;
      }
    }
  }
  for (const auto& row : of_section) {
    std::int64_t taken = 0;
    for (const Obstacle& o : row) taken += o.high - o.low;
    m.fixed.push_back(taken);
    m.of_section.items.insert(m.of_section.items.end(), row.begin(), row.end());
    m.of_section.close_row();
  }
  m.largest = sum;

  // Interchangeable buffers have the same sections, size and alignment.
  std::vector<std::uint32_t> by_kind(n);
  std::iota(by_kind.begin(), by_kind.end(), 0U);
  const auto less = [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t c) { return std::tie(m.size[c], m.bytes[c], m.align[c]); };
    if (key(a) != key(b)) return key(a) < key(b);
    return std::lexicographical_compare(
        m.ranges.begin(a), m.ranges.end(a), m.ranges.begin(b), m.ranges.end(b),
        [](SectionRange x, SectionRange y) { return std::tie(x.first, x.last) < std::tie(y.first, y.last); });
  };
  std::ranges::sort(by_kind, less);
  m.kind.assign(n, 0);
  for (std::size_t k = 1; k < n; ++k) {
    m.kind[by_kind[k]] = m.kind[by_kind[k - 1]] + (less(by_kind[k - 1], by_kind[k]) ? 1U : 0U);
  }
  return m;
}

}  // namespace rondo::search::detail
