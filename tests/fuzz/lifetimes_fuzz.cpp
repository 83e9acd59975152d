// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Any text as a file of lifetimes: an Error that names what is wrong, or a problem that is valid, that a planner plans
// without a clash, and that is the same after it was written and read again.
#include <fuzz/fuzz.hpp>
#include <rondo/memory/check_plan.hpp>
#include <rondo/memory/first_fit.hpp>
#include <rondo/search/plan_csv.hpp>

#include <sstream>
#include <string_view>
#include <vector>

using namespace rondo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> bytes(data, data + size);  // its own allocation, so that reading past it is seen
  fuzz::allow_refusal([&] {
    const search::NamedProblem named = search::read_lifetimes({bytes.data(), bytes.size()});
    const memory::Problem& problem = named.problem;
    fuzz::require(named.names.size() == problem.size() && named.lines.size() == problem.size());
    if (problem.size() > 200) return;
    memory::Plan plan;
    plan.offsets.assign(problem.size(), 0);
    std::ostringstream out;
    search::write_offsets(out, named, plan);
    for (std::size_t i = 0; i < problem.size(); ++i) {
      const memory::Buffer& b = problem.buffers[i];
      fuzz::require(b.lower <= b.upper && b.size >= 0 && !named.names[i].empty());
    }
    const search::NamedProblem again = search::read_lifetimes(out.str());
    fuzz::require(again.names == named.names);
    for (std::size_t i = 0; i < problem.size(); ++i) {
      const memory::Buffer &a = problem.buffers[i], &b = again.problem.buffers[i];
      fuzz::require(a.lower == b.lower && a.upper == b.upper && a.size == b.size);
    }
  });
  return 0;
}
