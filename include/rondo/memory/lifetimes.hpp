// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/memory/detail/lane_conflicts.hpp>
#include <rondo/memory/problem.hpp>
#include <rondo/memory/uses.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

/// From a frozen graph to a planning problem. For set-up; usable in constant expressions.
namespace rondo::memory {

/// The planning problem of a graph: the buffer of each tensor, and the lifetime of each buffer.
struct Lifetimes {
  static constexpr std::uint32_t no_buffer = Tokens::none;

  Problem problem{};
  std::vector<std::uint32_t> buffer_of{};  ///< by tensor; no_buffer for a tensor outside the arena
};

namespace detail {

/// Checks that the sum of all buffers' lengths is below 2^62 bytes, so that no planner's sum overflows.
constexpr void check_lengths(const graph::GraphView& graph, const arch::Limits& chip) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 62;
  std::uint64_t total = 0;
  for (const graph::TensorRecord& tensor : graph.tensors) {
    const std::uint64_t length = chip.block_bytes(tensor.bytes) + chip.tensor_alignment;  // at most slightly above 2^63
    if (length >= limit || total >= limit - length) {
      throw Error(Errc::overflow, Error::Text{"with tensor '", graph.name(tensor.name),
                                              "' the arena passes 2^62 bytes; use smaller tensors"});
    }
    total += length;
  }
}

[[nodiscard]] constexpr Buffer make_buffer(const Token& token, const arch::Limits& chip) {
  Buffer buffer;
  if (token.uses.empty()) return buffer;  // merged into another token
  buffer.lower = token.uses.front().first;
  buffer.upper = token.uses.back().last + 1;
  buffer.size = static_cast<std::int64_t>(chip.block_bytes(token.bytes));
  buffer.alignment = chip.tensor_alignment;
  for (std::size_t i = 1; i < token.uses.size(); ++i) {
    buffer.gaps.push_back({token.uses[i - 1].last + 1, token.uses[i].first});
  }
  return buffer;
}

/// See find_lifetimes(). A template, so that a program contains only the code for the concurrency of its platforms.
template <Concurrency concurrency>
[[nodiscard]] constexpr Lifetimes find_lifetimes_in(const graph::GraphView& graph, const arch::Limits& chip,
                                                    bool ports_apart = false) {
  check_lengths(graph, chip);
  constexpr bool is_parallel = concurrency == Concurrency::parallel;
  if constexpr (is_parallel) {
    if (graph.tasks.size() > Ancestors::most_tasks)
      return find_lifetimes_in<Concurrency::unordered>(graph, chip, ports_apart);
  }
  const Ancestors known(is_parallel ? graph : graph::GraphView{});
  Certainty order;
  if constexpr (is_parallel) order = Certainty(known);
  if constexpr (concurrency == Concurrency::in_lanes) {
    if (graph.lanes != nullptr) order = Certainty(*graph.lanes);
  }
  Tokens tokens = UseFinder(graph, order).run();
  if constexpr (concurrency == Concurrency::unordered) {
    const auto end = static_cast<std::int64_t>(graph.tasks.size()) + 1;
    for (Token& token : tokens.tokens) {
      token.uses.clear();
      token.uses.push_back({0, end});
    }
  } else {
    InPlaceMerger(tokens, order, ports_apart).run(graph);
  }
  Lifetimes result{{}, tokens.of_tensor};
  for (const Token& token : tokens.tokens) result.problem.buffers.push_back(make_buffer(token, chip));
  if constexpr (concurrency == Concurrency::in_lanes) {
    if (graph.lanes != nullptr) set_conflicts(result.problem, LaneConflicts(*graph.lanes, tokens).find(result.problem));
  }
  if constexpr (is_parallel) {
    for (std::uint32_t a = 0; a < tokens.tokens.size(); ++a) {
      for (std::uint32_t b = a + 1; b < tokens.tokens.size(); ++b) {
        if (in_use_together(result.problem.buffers[a], result.problem.buffers[b])) continue;  // known to the planners
        if (!are_apart(tokens.tokens[a], tokens.tokens[b], order)) result.problem.conflicts.emplace_back(a, b);
      }
    }
  }
  return result;
}

}  // namespace detail

/// The planning problem of a graph on a chip: one buffer per memory, with the chip's alignment, granule and guard.
///
/// An input lives from the copies in to its last reader, an output from its first writer to the copies out, a workspace
/// from its first writer to its last reader; residents and kept tensors always live. If a kernel overwrites a whole
/// tensor after the old value was last read, the time between is a gap. An output that reuses an input shares its
/// buffer; so does the Out of a kernel that works in place with an In used there for the last time, unless
/// `ports_apart` and either is of a single slot, see PortsLast.
///
/// Sequential: two buffers may share bytes if they are never in use at the same time in the graph's order. In lanes:
/// if, moreover, edges and lanes order all users of one before all users of the other; as sequential, if the graph is
/// not dealt to lanes. Parallel: if edges alone do so; beyond 16,384 tasks, no buffers share. Unordered: none share.
///
/// Cost: linear for a sequential schedule; for lanes, see LaneConflicts; otherwise (tensors · users)² at worst, plus
/// tasks² / 64 words for a parallel schedule.
/// @throws Error overflow, with the name of the tensor at which the sum of all lengths exceeds 2^62 bytes
[[nodiscard]] constexpr Lifetimes find_lifetimes(const graph::GraphView& graph, const arch::Limits& chip,
                                                 Concurrency concurrency, bool ports_apart = false) {
  switch (concurrency) {
    case Concurrency::sequential: return detail::find_lifetimes_in<Concurrency::sequential>(graph, chip, ports_apart);
    case Concurrency::in_lanes: return detail::find_lifetimes_in<Concurrency::in_lanes>(graph, chip, ports_apart);
    case Concurrency::parallel: return detail::find_lifetimes_in<Concurrency::parallel>(graph, chip, ports_apart);
    case Concurrency::unordered: break;
  }
  return detail::find_lifetimes_in<Concurrency::unordered>(graph, chip, ports_apart);
}
/// Does the same for chip A.
template <arch::Arch A>
[[nodiscard]] constexpr Lifetimes find_lifetimes(const graph::GraphView& graph, Concurrency concurrency) {
  return find_lifetimes(graph, arch::limits_of<A>, concurrency);
}

}  // namespace rondo::memory
