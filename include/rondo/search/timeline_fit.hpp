// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace rondo::search {

using memory::aligned;
using memory::Buffer;
using memory::Problem;

/// Processes buffers in order of time and gives each, at its start, the smallest of the free places that hold it, as an
/// allocator at run time would; buffers that start together are placed by descending size. Gaps are not used; fixed
/// offsets and explicit conflicts are ignored, so use it for problems without them. Cost: O(n log n) time and O(n)
/// memory, however many are alive at once.
[[nodiscard]] inline std::vector<std::int64_t> timeline_fit(const Problem& problem) {
  constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max() / 2;
  struct Event {
    std::int64_t time;
    bool start;
    std::uint32_t buffer;
  };
  std::vector<Event> events;
  events.reserve(2 * problem.size());
  for (std::uint32_t i = 0; i < problem.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    if (!b.occupies()) continue;
    events.push_back({b.lower, true, i});
    events.push_back({b.upper, false, i});
  }
  std::ranges::sort(events, {}, [&](const Event& e) {
    return std::tuple{e.time, e.start, -problem.buffers[e.buffer].size, e.buffer};
  });

  std::map<std::int64_t, std::int64_t> free_at{{0, endless}};             // offset to bytes
  std::set<std::pair<std::int64_t, std::int64_t>> by_size{{endless, 0}};  // bytes, offset
  const auto remove = [&](std::map<std::int64_t, std::int64_t>::iterator place) {
    by_size.erase({place->second, place->first});
    return free_at.erase(place);
  };
  const auto add = [&](std::int64_t offset, std::int64_t bytes) {
    if (bytes == 0) return;
    free_at.emplace(offset, bytes);
    by_size.emplace(bytes, offset);
  };
  std::vector<std::int64_t> offsets(problem.size(), 0);
  for (const Event& e : events) {
    const Buffer& b = problem.buffers[e.buffer];
    std::int64_t& offset = offsets[e.buffer];
    if (e.start) {
      const auto fits = [&](std::int64_t at, std::int64_t bytes) {
        return aligned(at, b.alignment) + b.size <= at + bytes;
      };
      auto place = by_size.lower_bound({b.size, 0});
      while (!fits(place->second, place->first)) ++place;
      const auto [bytes, at] = *place;
      remove(free_at.find(at));
      offset = aligned(at, b.alignment);
      add(at, offset - at);
      add(offset + b.size, at + bytes - offset - b.size);
    } else {
      std::int64_t from = offset;
      std::int64_t until = offset + b.size;
      auto above = free_at.lower_bound(offset);
      if (above != free_at.begin()) {
        const auto below = std::prev(above);
        if (below->first + below->second == from) {
          from = below->first;
          above = remove(below);
        }
      }
      if (above != free_at.end() && above->first == until) {
        until += above->second;
        remove(above);
      }
      add(from, until - from);
    }
  }
  return offsets;
}

}  // namespace rondo::search
