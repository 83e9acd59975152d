// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/algorithm.hpp>
#include <rondo/list.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::memory {

/// In which order a greedy planner places buffers. Ties: larger size, then earlier start, then lower index.
enum class Order : std::uint8_t {
  size,       ///< largest first
  duration,   ///< longest-lived first
  area,       ///< largest size times lifetime first
  breadth,    ///< those of the fullest step first, by descending size; then those of the next fullest, and so on
  conflicts,  ///< those that meet most others first
  start,      ///< in order of time
};

[[nodiscard]] constexpr const char* to_string(Order order) noexcept {
  switch (order) {
    case Order::size: return "greedy by size";
    case Order::duration: return "greedy by duration";
    case Order::area: return "greedy by area";
    case Order::breadth: return "greedy by breadth";
    case Order::conflicts: return "greedy by conflicts";
    case Order::start: return "greedy by start";
  }
  return "?";
}

namespace detail {

/// For each buffer the largest load (bytes in use) of any of its sections. Cost: O((n + sections) log sections).
[[nodiscard]] constexpr List<std::int64_t> pressure(const Problem& problem, const Sections& sections) {
  std::size_t leaves = 1;
  while (leaves < static_cast<std::size_t>(sections.count())) leaves *= 2;
  List<std::int64_t> highest(2 * leaves, 0);
  List<std::int64_t> change(leaves + 1, 0);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    for (const SectionRange* r = sections.begin(i); r != sections.end(i); ++r) {
      change[static_cast<std::size_t>(r->first)] += problem.buffers[i].size;
      change[static_cast<std::size_t>(r->last)] -= problem.buffers[i].size;
    }
  }
  std::int64_t load = 0;
  for (std::size_t s = 0; s < leaves; ++s) highest[leaves + s] = load += change[s];
  for (std::size_t node = leaves - 1; node > 0; --node)
    highest[node] = rondo::detail::max(highest[2 * node], highest[2 * node + 1]);

  List<std::int64_t> result(problem.size(), 0);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    for (const SectionRange* r = sections.begin(i); r != sections.end(i); ++r) {
      std::size_t from = leaves + static_cast<std::size_t>(r->first);
      std::size_t until = leaves + static_cast<std::size_t>(r->last);
      for (; from < until; from /= 2, until /= 2) {
        if (from % 2 == 1) result[i] = rondo::detail::max(result[i], highest[from++]);
        if (until % 2 == 1) result[i] = rondo::detail::max(result[i], highest[--until]);
      }
    }
  }
  return result;
}

/// For each buffer how many lifetimes overlap its own.
[[nodiscard]] constexpr List<std::int64_t> count_overlaps(const Problem& problem) {
  List<std::int64_t> starts;
  List<std::int64_t> ends;
  for (const Buffer& b : problem.buffers) {
    if (!b.occupies()) continue;
    starts.push_back(b.lower);
    ends.push_back(b.upper);
  }
  rondo::detail::sort(starts);
  rondo::detail::sort(ends);
  List<std::int64_t> result(problem.size(), 0);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    if (!b.occupies()) continue;
    const auto begun = static_cast<std::int64_t>(rondo::detail::lower_bound(starts, b.upper));
    const auto ended = static_cast<std::int64_t>(rondo::detail::upper_bound(ends, b.lower));
    result[i] = begun - ended - 1;
  }
  return result;
}

}  // namespace detail

/// The numbers of all buffers in the given order. Cost: O(n log n).
[[nodiscard]] constexpr List<std::uint32_t> make_order(const Problem& problem, const Sections& sections, Order order) {
  const std::size_t n = problem.size();
  List<double> key(n, 0.0);  // largest first
  if (order == Order::breadth) {
    const List<std::int64_t> pressure = detail::pressure(problem, sections);
    for (std::size_t i = 0; i < n; ++i) key[i] = static_cast<double>(pressure[i]);
  } else if (order == Order::conflicts) {
    const List<std::int64_t> overlaps = detail::count_overlaps(problem);
    for (std::size_t i = 0; i < n; ++i) key[i] = static_cast<double>(overlaps[i]);
  } else if (order != Order::size) {
    for (std::size_t i = 0; i < n; ++i) {
      const Buffer& b = problem.buffers[i];
      const double duration = static_cast<double>(b.upper) - static_cast<double>(b.lower);
      if (order == Order::duration) key[i] = duration;
      if (order == Order::area) key[i] = duration * static_cast<double>(b.size);
      if (order == Order::start) key[i] = -static_cast<double>(b.lower);
    }
  }
  List<std::uint32_t> numbers(n, 0);
  for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<std::uint32_t>(i);
  rondo::detail::sort(numbers, [&](std::uint32_t a, std::uint32_t b) {
    const Buffer& x = problem.buffers[a];
    const Buffer& y = problem.buffers[b];
    if (key[a] != key[b]) return key[a] > key[b];
    if (x.size != y.size) return x.size > y.size;
    return x.lower != y.lower ? x.lower < y.lower : a < b;
  });
  return numbers;
}

}  // namespace rondo::memory
