// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

/// Set-up only, and usable in constant expressions: from a frozen graph to a planning problem.
namespace rondo::memory {

/// In which order a platform runs tasks that no edge orders.
enum class Concurrency : std::uint8_t {
  sequential,  ///< one at a time, in the order of the frozen graph
  parallel,    ///< at the same time, in any order
};

/// Where each tensor is used, as positions in the frozen graph's order. Time 0 is the copies in, task p runs at time
/// p + 1, and the copies out come behind the last task.
struct Use {
  std::int64_t first = 0;
  std::int64_t last = -1;
  bool always = false;  ///< holds data between rounds, or is never touched by a task
};

[[nodiscard]] constexpr std::vector<Use> find_uses(const graph::GraphView& graph) {
  const auto end = static_cast<std::int64_t>(graph.tasks.size()) + 1;
  std::vector<Use> uses(graph.tensors.size(), Use{end, 0, false});
  for (std::size_t p = 0; p < graph.tasks.size(); ++p) {
    for (const graph::ArgRecord& arg : graph.args_of(graph.tasks[p])) {
      if (arg.kind != graph::ArgRecord::Kind::address) continue;
      Use& use = uses[arg.tensor];
      use.first = std::min(use.first, static_cast<std::int64_t>(p) + 1);
      use.last = std::max(use.last, static_cast<std::int64_t>(p) + 1);
    }
  }
  for (std::size_t t = 0; t < uses.size(); ++t) {
    const Direction direction = graph.tensors[t].direction;
    if (copies_in(direction)) {
      uses[t].first = 0;
      uses[t].last = std::max(uses[t].last, std::int64_t{0});
    }
    if (copies_out(direction)) {
      uses[t].first = std::min(uses[t].first, end);
      uses[t].last = end;
    }
    if (direction == Direction::resident || uses[t].first > uses[t].last) uses[t] = {0, end, true};
  }
  return uses;
}

namespace detail {

/// For each task the tasks that come before it on every schedule, one bit each.
class Ancestors {
 public:
  /// What this many tasks take is 32 MiB; beyond it no two tensors of a parallel schedule share memory.
  static constexpr std::size_t most_tasks = 16'384;

  constexpr explicit Ancestors(const graph::GraphView& graph)
      : words_{(graph.tasks.size() + 63) / 64}, bits_(words_ * graph.tasks.size(), std::uint64_t{0}) {
    for (std::size_t p = 0; p < graph.tasks.size(); ++p) {
      for (const std::uint32_t s : graph.successors_of(p)) {
        for (std::size_t w = 0; w < words_; ++w) bits_[s * words_ + w] |= bits_[p * words_ + w];
        bits_[s * words_ + p / 64] |= std::uint64_t{1} << (p % 64);
      }
    }
  }
  [[nodiscard]] constexpr bool precedes(std::size_t before, std::size_t after) const noexcept {
    return (bits_[after * words_ + before / 64] >> (before % 64) & 1U) != 0;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// Does every user of `a` precede every user of `b`? Copies in precede and copies out follow all tasks.
[[nodiscard]] constexpr bool all_precede(const graph::GraphView& graph, const Ancestors& ancestors,
                                         const std::vector<std::vector<std::uint32_t>>& users, std::size_t a,
                                         std::size_t b) {
  if (copies_out(graph.tensors[a].direction) || copies_in(graph.tensors[b].direction)) return false;
  for (const std::uint32_t after : users[b]) {
    for (const std::uint32_t before : users[a]) {
      if (!ancestors.precedes(before, after)) return false;
    }
  }
  return true;
}

}  // namespace detail

/// The planning problem of a graph on chip A: one buffer per tensor, in the graph's order, with the chip's alignment,
/// granule and guard. Two tensors may share memory if their uses do not overlap in the sequential order, and on a
/// parallel schedule only if moreover every user of one precedes every user of the other.
///
/// Inputs live from the copies in, outputs to the copies out, residents always. Cost: linear for a sequential schedule;
/// for a parallel one O(tasks² / 64) bits and O(tensors² · users²) at worst.
/// @throws Error overflow, naming the tensor, if a length passes 2^62 bytes
template <arch::Arch A>
[[nodiscard]] constexpr Problem make_problem(const graph::GraphView& graph, Concurrency concurrency) {
  const std::vector<Use> uses = find_uses(graph);
  const bool spread = concurrency == Concurrency::parallel;
  const bool tell_apart = graph.tasks.size() <= detail::Ancestors::most_tasks;
  const auto end = static_cast<std::int64_t>(graph.tasks.size()) + 1;

  Problem problem;
  for (std::size_t t = 0; t < uses.size(); ++t) {
    const std::uint64_t length = arch::block_bytes<A>(graph.tensors[t].bytes);
    if (length > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 2) {
      throw Error(Errc::overflow, Error::Text("tensor '", graph.name(graph.tensors[t].name),
                                              "' is too large to plan (2^62 bytes and more); use smaller extents"));
    }
    Buffer buffer;
    buffer.lower = spread && !tell_apart ? 0 : uses[t].first;
    buffer.upper = (spread && !tell_apart ? end : uses[t].last) + 1;
    buffer.size = static_cast<std::int64_t>(length);
    buffer.alignment = A::tensor_alignment;
    problem.buffers.push_back(buffer);
  }
  if (!spread || !tell_apart) return problem;

  const detail::Ancestors ancestors(graph);
  std::vector<std::vector<std::uint32_t>> users(uses.size());
  for (std::uint32_t p = 0; p < graph.tasks.size(); ++p) {
    for (const graph::ArgRecord& arg : graph.args_of(graph.tasks[p])) {
      if (arg.kind == graph::ArgRecord::Kind::address) users[arg.tensor].push_back(p);
    }
  }
  for (std::uint32_t a = 0; a < uses.size(); ++a) {
    for (std::uint32_t b = a + 1; b < uses.size(); ++b) {
      if (uses[a].first <= uses[b].last && uses[b].first <= uses[a].last) continue;  // apart by their lifetimes
      const bool a_first = uses[a].last < uses[b].first;
      if (!detail::all_precede(graph, ancestors, users, a_first ? a : b, a_first ? b : a)) {
        problem.conflicts.emplace_back(a, b);
      }
    }
  }
  return problem;
}

}  // namespace rondo::memory
