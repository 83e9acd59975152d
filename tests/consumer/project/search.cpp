// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// A product beside the core: what it depends on comes with its target.
#include <rondo/search/planners.hpp>
#include <rondo/version.hpp>

#include <range/v3/view/enumerate.hpp>

#include <cstdio>

int main() {
  rondo::memory::Problem problem;
  problem.buffers.resize(3);
  for (auto&& [i, buffer] : ranges::views::enumerate(problem.buffers)) {
    buffer.lower = static_cast<std::int64_t>(i);
    buffer.upper = buffer.lower + 2;
    buffer.size = 32 * (buffer.lower + 1);
  }
  problem.buffers[2].size = 32;
  std::printf("rondo %d.%d.%d plans %lld bytes\n", rondo::version.major, rondo::version.minor, rondo::version.patch,
              static_cast<long long>(rondo::search::plan_best(problem, std::chrono::seconds{1}).arena));
}
