// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/memory/detail/lane_conflicts.hpp>
#include <rondo/memory/detail/merge_largest_first.hpp>
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

[[nodiscard]] constexpr Lifetimes make_lifetimes(const Tokens& tokens, const arch::Limits& chip) {
  Lifetimes result{{}, tokens.of_tensor};
  for (const Token& token : tokens.tokens) result.problem.buffers.push_back(make_buffer(token, chip));
  return result;
}

/// States that all buffers are in use all the time.
constexpr void keep_apart(Problem& problem) {
  for (Buffer& buffer : problem.buffers) {
    buffer.lower = 0;
    buffer.upper = buffer.size == 0 ? 0 : 1;
    buffer.gaps.clear();
  }
}

/// Above this number of conflicts, planning takes a tenth of a second or more.
inline constexpr std::size_t many_conflicts = std::size_t{1} << 19;

/// See find_lifetimes(). A template, so that a program contains only the code for the concurrency of its platforms.
template <Concurrency concurrency>
[[nodiscard]] constexpr Lifetimes find_lifetimes_in(const graph::GraphView& graph, const arch::Limits& chip,
                                                    bool ports_apart = false) {
  check_lengths(graph, chip);
  [[maybe_unused]] graph::Lanes chains;
  const graph::Lanes* lanes = nullptr;
  if constexpr (concurrency == Concurrency::in_lanes) lanes = graph.lanes;
  if constexpr (concurrency == Concurrency::parallel) {
    chains = find_chains(graph);
    if (chains.count == 0) return find_lifetimes_in<Concurrency::unordered>(graph, chip, ports_apart);
    lanes = &chains;
  }
  const Certainty order{lanes};
  Tokens tokens = UseFinder(graph, order).run();
  if constexpr (concurrency != Concurrency::unordered) merge_in_place(graph, tokens, order, ports_apart);
  Lifetimes result = make_lifetimes(tokens, chip);
  if constexpr (concurrency == Concurrency::unordered) keep_apart(result.problem);
  if constexpr (concurrency == Concurrency::parallel || concurrency == Concurrency::in_lanes) {
    if (lanes == nullptr) return result;
    auto conflicts = find_lane_conflicts(*lanes, tokens.tokens, result.problem, many_conflicts);
    if (conflicts.size() > many_conflicts) {
      merge_largest_first(graph, tokens, order, ports_apart);
      result = make_lifetimes(tokens, chip);
      conflicts = find_lane_conflicts(*lanes, tokens.tokens, result.problem, many_conflicts);
    }
    if (conflicts.size() > many_conflicts) {
      keep_apart(result.problem);
      conflicts.clear();
    }
    set_conflicts(result.problem, std::move(conflicts));
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
/// not dealt to lanes. Parallel: if edges alone do so; none share if the number of tasks times that of concurrent tasks
/// exceeds 2^25. Unordered: none share. If more than 2^19 pairs must be kept apart, buffers are merged, see
/// merge_largest_first(); if there are still more, the merged buffers share no bytes.
///
/// Cost: linear for a sequential schedule; otherwise see find_chains(), find_lane_conflicts() and
/// merge_largest_first().
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
