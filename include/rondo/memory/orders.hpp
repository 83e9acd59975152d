// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/keyed.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/sections.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::memory {

/// The order in which a greedy planner places buffers. Ties: larger size, then earlier start, then lower index.
enum class Order : std::uint8_t {
  size,       ///< largest first
  duration,   ///< longest-lived first
  area,       ///< largest size times lifetime first
  breadth,    ///< buffers of the fullest step first, by descending size; then those of the next fullest, and so on
  conflicts,  ///< buffers that overlap most others in time first
  start,      ///< by start time
};

[[nodiscard]] constexpr const char* to_string(Order order) noexcept {
  constexpr const char* names[] = {"greedy by size",    "greedy by duration",  "greedy by area",
                                   "greedy by breadth", "greedy by conflicts", "greedy by start"};
  return names[static_cast<std::size_t>(order)];
}

namespace detail {

/// For each buffer, the largest load (bytes in use) of its sections. Cost: O((n + sections) log sections).
[[nodiscard]] constexpr std::vector<std::int64_t> pressure(const Problem& problem, const Sections& sections) {
  std::size_t leaves = 1;
  while (leaves < static_cast<std::size_t>(sections.count())) leaves *= 2;
  std::vector<std::int64_t> highest(2 * leaves, 0);
  std::vector<std::int64_t> change(leaves + 1, 0);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    for (const SectionRange* r = sections.begin(i); r != sections.end(i); ++r) {
      change[static_cast<std::size_t>(r->first)] += problem.buffers[i].size;
      change[static_cast<std::size_t>(r->last)] -= problem.buffers[i].size;
    }
  }
  std::int64_t load = 0;
  for (std::size_t s = 0; s < leaves; ++s) highest[leaves + s] = load += change[s];
  for (std::size_t node = leaves - 1; node > 0; --node)
    highest[node] = std::max(highest[2 * node], highest[2 * node + 1]);

  std::vector<std::int64_t> result(problem.size(), 0);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    for (const SectionRange* r = sections.begin(i); r != sections.end(i); ++r) {
      std::size_t from = leaves + static_cast<std::size_t>(r->first);
      std::size_t until = leaves + static_cast<std::size_t>(r->last);
      for (; from < until; from /= 2, until /= 2) {
        if (from % 2 == 1) result[i] = std::max(result[i], highest[from++]);
        if (until % 2 == 1) result[i] = std::max(result[i], highest[--until]);
      }
    }
  }
  return result;
}

/// For each buffer, the number of others whose lifetimes overlap with its own.
[[nodiscard]] constexpr std::vector<std::int64_t> count_overlaps(const Problem& problem) {
  std::vector<rondo::detail::Keyed> starts;
  std::vector<rondo::detail::Keyed> ends;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    if (!b.occupies()) continue;
    starts.push_back({b.lower, i});
    ends.push_back({b.upper, i});
  }
  sort_keyed(starts);
  sort_keyed(ends);
  // Those that begin before it ends, minus those that end before it begins, minus itself.
  std::vector<std::int64_t> result(problem.size(), 0);
  std::size_t begun = 0;
  for (const auto& [end, i] : ends) {
    while (begun < starts.size() && starts[begun].key < end) ++begun;
    result[i] += static_cast<std::int64_t>(begun);
  }
  std::size_t ended = 0;
  for (const auto& [start, i] : starts) {
    while (ends[ended].key <= start) ++ended;
    result[i] -= static_cast<std::int64_t>(ended) + 1;
  }
  return result;
}

/// An integer whose ascending order is the descending order of `value`.
[[nodiscard]] constexpr std::int64_t descending(double value) noexcept {
  const auto bits = std::bit_cast<std::int64_t>(value + 0.0);  // no negative zero
  return ~(bits < 0 ? bits ^ INT64_MAX : bits);
}

}  // namespace detail

/// The numbers of all buffers in the given order. Cost: O(n log n).
[[nodiscard]] constexpr std::vector<std::uint32_t> make_order(const Problem& problem, const Sections& sections,
                                                              Order order) {
  const std::size_t n = problem.size();
  std::vector<std::int64_t> key(n, detail::descending(0));
  if (order == Order::breadth || order == Order::conflicts) {
    // A conditional operator would fail: g++ 12 loses track of its allocations in constant expressions.
    if (order == Order::breadth) {
      key = detail::pressure(problem, sections);
    } else {
      key = detail::count_overlaps(problem);
    }
    for (std::int64_t& each : key) each = detail::descending(static_cast<double>(each));
  } else if (order != Order::size) {
    for (std::size_t i = 0; i < n; ++i) {
      const Buffer& b = problem.buffers[i];
      const double duration = static_cast<double>(b.upper) - static_cast<double>(b.lower);
      if (order == Order::duration) key[i] = detail::descending(duration);
      if (order == Order::area) key[i] = detail::descending(duration * static_cast<double>(b.size));
      if (order == Order::start) key[i] = detail::descending(-static_cast<double>(b.lower));
    }
  }
  // The least important key first; each sort keeps the previous order of equal items.
  std::vector<std::uint32_t> numbers(n, 0);
  for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<std::uint32_t>(i);
  std::vector<rondo::detail::Keyed> sorted(n, rondo::detail::Keyed{});
  for (const int pass : {0, 1, 2}) {
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint32_t i = numbers[k];
      const Buffer& b = problem.buffers[i];
      sorted[k] = {pass == 0 ? b.lower : pass == 1 ? -b.size : key[i], std::uint64_t{k} << 32 | i};
    }
    sort_keyed(sorted);
    for (std::size_t k = 0; k < n; ++k) numbers[k] = static_cast<std::uint32_t>(sorted[k].item);
  }
  return numbers;
}

}  // namespace rondo::memory
