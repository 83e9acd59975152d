// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/lay_out.hpp>

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace rondo::memory {

/// How a session uses memory. A value that is independent of the session.
struct Report {
  /// Memory of one kind that the session holds for one purpose.
  struct Holding {
    MemoryKind kind = MemoryKind::device;
    std::string what{};
    Bytes bytes{};
  };
  /// A tensor's place in memory, and the tensors that share it.
  struct Tensor {
    std::string name{};
    Bytes bytes{};                             ///< the size of its elements
    std::uint64_t offset = 0;                  ///< in the arena
    std::uint32_t buffer = 0;                  ///< its buffer in `plan`; no_buffer if it is not in the arena
    MemoryKind memory = MemoryKind::device;    ///< for a tensor that is not bound each round
    std::vector<std::uint32_t> shares_with{};  ///< tensors that use some of the same bytes at other times
  };

  std::vector<Holding> holdings{};  ///< one for each purpose, or for each block
  std::vector<Tensor> tensors{};    ///< in the graph's order
  Bytes apart{};                    ///< the size that the arena would have if no two tensors shared memory
  Problem problem{};
  Plan plan{};

  [[nodiscard]] Bytes bytes(MemoryKind kind) const noexcept {
    Bytes sum{};
    for (const Holding& h : holdings) sum.value += h.kind == kind ? h.bytes.value : 0;
    return sum;
  }
  [[nodiscard]] Bytes arena() const noexcept { return Bytes{static_cast<std::uint64_t>(plan.arena)}; }
  [[nodiscard]] Bytes lower_bound() const noexcept { return Bytes{static_cast<std::uint64_t>(plan.lower_bound)}; }
  /// The most that a planner that searches, such as search::Best, may save. Zero if no plan is smaller.
  [[nodiscard]] Bytes possible_saving() const noexcept {
    return Bytes{static_cast<std::uint64_t>(plan.arena - plan.lower_bound)};
  }
  /// The size of all tensors without sharing, divided by their size with it; at least 1.
  [[nodiscard]] double reuse() const noexcept {
    return plan.arena == 0 ? 1.0 : static_cast<double>(apart.value) / static_cast<double>(plan.arena);
  }
};

/// Makes the report for a graph whose tensors are at `offsets`. Cost: quadratic in the number of tensors.
[[nodiscard]] inline Report make_report(const graph::GraphView& graph, const arch::Limits& chip,
                                        Concurrency concurrency, bool ports_apart,
                                        std::span<const std::uint64_t> offsets) {
  const Lifetimes lives = find_lifetimes(graph, chip, concurrency, ports_apart);
  Report report;
  report.problem = lives.problem;
  report.plan.offsets.assign(lives.problem.size(), 0);
  for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const graph::TensorRecord& tensor = graph.tensors[t];
    const std::uint32_t buffer = lives.buffer_of[t];
    report.tensors.push_back({std::string(graph.name(tensor.name)),
                              Bytes{tensor.bytes},
                              offsets[t],
                              buffer,
                              tensor.is_outside_arena() ? tensor.memory : MemoryKind::device,
                              {}});
    if (buffer != Lifetimes::no_buffer && !tensor.is_view())
      report.plan.offsets[buffer] = static_cast<std::int64_t>(offsets[t]);
  }
  report.plan.arena = arena_of(report.problem, report.plan.offsets);
  report.plan.lower_bound = lower_bound(report.problem, Sections{report.problem});
  const Lifetimes apart = find_lifetimes(graph, chip, Concurrency::unordered);
  report.apart = Bytes{static_cast<std::uint64_t>(Disjoint::plan(apart.problem).arena)};
  for (std::uint32_t a = 0; a < report.tensors.size(); ++a) {
    for (std::uint32_t b = 0; b < report.tensors.size(); ++b) {
      const Report::Tensor& x = report.tensors[a];
      const Report::Tensor& y = report.tensors[b];
      if (a == b || x.buffer == Lifetimes::no_buffer || y.buffer == Lifetimes::no_buffer) continue;
      if (x.offset < y.offset + y.bytes.value && y.offset < x.offset + x.bytes.value) {
        report.tensors[a].shares_with.push_back(b);
      }
    }
  }
  return report;
}

inline std::ostream& operator<<(std::ostream& out, const Report& report) {
  for (const Report::Holding& h : report.holdings) {
    out << to_string(h.kind) << ": " << h.bytes.value << " bytes, " << h.what << '\n';
  }
  out << "arena " << report.plan.arena << " bytes, lower bound " << report.plan.lower_bound << ", apart "
      << report.apart.value << ", reuse " << report.reuse() << '\n';
  if (report.possible_saving().value != 0) {
    out << "a search may save up to " << report.possible_saving().value
        << " bytes: link rondo::compiled, or use search::Best as the planner\n";
  }
  for (const Report::Tensor& tensor : report.tensors) {
    out << "  " << tensor.name << ": ";
    if (tensor.buffer == Lifetimes::no_buffer) {
      out << tensor.bytes.value << " bytes " << (tensor.memory == MemoryKind::device ? "in the args table" : "of ")
          << (tensor.memory == MemoryKind::device ? "" : to_string(tensor.memory)) << '\n';
      continue;
    }
    out << tensor.bytes.value << " bytes at " << tensor.offset;
    const char* lead = ", shares with ";
    for (const std::uint32_t other : tensor.shares_with) {
      out << lead << report.tensors[other].name;
      lead = ", ";
    }
    out << '\n';
  }
  return out;
}

}  // namespace rondo::memory
