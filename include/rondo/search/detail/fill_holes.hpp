// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rondo::search::detail {

using memory::Buffer;
using memory::Problem;

/// Buffers that take the bytes which a plan at the bound leaves free, so that all times are full (see JoinedBuffers);
/// none if that takes more than `most`. A step up of the free bytes is the start of such a buffer, and the next step
/// down by as many bytes is its end; other steps down are filled with the bytes that were freed last. These buffers
/// were taken out of a tiling, unless several of them started or ended at once. Cost: O(n log n).
[[nodiscard]] inline std::vector<Buffer> fill_holes(const Problem& problem, std::int64_t bound, std::size_t most) {
  struct Step {
    std::int64_t time;
    std::int64_t bytes;
  };
  std::vector<Step> changes;  // of the free bytes
  for (const Buffer& b : problem.buffers) {
    memory::for_each_use(b, [&](memory::Span use) {
      if (b.size == 0) return;
      changes.push_back({use.lower, -b.size});
      changes.push_back({use.upper, b.size});
    });
  }
  if (changes.empty()) return {};
  std::sort(changes.begin(), changes.end(), [](const Step& a, const Step& b) { return a.time < b.time; });
  changes.front().bytes += bound;
  changes.back().bytes -= bound;
  std::vector<Step> steps;
  for (auto change = changes.begin(); change != changes.end();) {
    Step step{change->time, 0};
    for (; change != changes.end() && change->time == step.time; ++change) step.bytes += change->bytes;
    if (step.bytes != 0) steps.push_back(step);
    if (steps.size() > most) return {};
  }

  std::vector<Buffer> fillers;
  const std::vector<Step> all = steps;
  const auto fill = [&](std::int64_t lower, std::int64_t upper, std::int64_t size) {
    fillers.push_back({.lower = lower, .upper = upper, .size = size});
  };
  std::unordered_map<std::int64_t, std::vector<std::size_t>> open;  // steps up by their bytes
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].bytes > 0) {
      open[steps[s].bytes].push_back(s);
    } else if (const auto found = open.find(-steps[s].bytes); found != open.end() && !found->second.empty()) {
      Step& up = steps[found->second.back()];
      found->second.pop_back();
      fill(up.time, steps[s].time, up.bytes);
      up.bytes = steps[s].bytes = 0;
    }
  }
  // Returns whether the bytes that were freed last always suffice.
  const auto fill_from_last = [&](const std::vector<Step>& of) {
    std::vector<Step> rest;
    for (Step step : of) {
      if (step.bytes > 0) rest.push_back(step);
      while (step.bytes < 0) {
        if (rest.empty()) return false;
        const std::int64_t size = std::min(-step.bytes, rest.back().bytes);
        fill(rest.back().time, step.time, size);
        step.bytes += size;
        if ((rest.back().bytes -= size) == 0) rest.pop_back();
      }
    }
    return true;
  };
  if (fill_from_last(steps)) return fillers;
  // A buffer from a step up to a step down has taken bytes that others need in between.
  fillers.clear();
  if (!fill_from_last(all)) fillers.clear();
  return fillers;
}

}  // namespace rondo::search::detail
