// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/detail/owned_array.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/slice.hpp>
#include <rondo/types.hpp>

#include <cstdint>

namespace rondo::memory {

/// The planners that a session can be told to use are types; see planners.hpp.
struct Greedy;
struct Disjoint;
template <class P>
struct PortsLast;

template <class P>
struct ResidentsFirst;

template <class Planner>
inline constexpr bool keeps_ports_apart = false;
template <>
inline constexpr bool keeps_ports_apart<Disjoint> = true;
template <class P>
inline constexpr bool keeps_ports_apart<PortsLast<P>> = true;
template <class P>
inline constexpr bool keeps_ports_apart<ResidentsFirst<P>> = keeps_ports_apart<P>;

/// Plans the arena of a graph: fills in one offset per tensor, returns the arena's bytes. Its body, which only set-up
/// needs, is in lay_out.hpp.
template <arch::Arch A, class Planner, Concurrency concurrency>
constexpr std::uint64_t lay_out(const graph::GraphView& graph, Slice<std::uint64_t> offsets);

/// Where each tensor of a graph lies in its arena. Offsets are bytes from the arena's base, one per tensor; a host
/// input's means nothing. Who makes one includes lay_out.hpp.
template <class Graph, arch::Arch A, class Planner = Disjoint, Concurrency concurrency = Concurrency::unordered>
class Layout {
 public:
  static constexpr bool is_static = false;
  /// May tensors that rounds bind share memory with others?
  static constexpr bool ports_may_share = concurrency != Concurrency::unordered && !keeps_ports_apart<Planner>;

  /// @throws Error what lay_out throws
  explicit Layout(const Graph& graph)
      : offsets_(graph.view().tensors.size()),
        bytes_{lay_out<A, Planner, concurrency>(graph.view(), {offsets_.data(), offsets_.size()})} {}

  [[nodiscard]] Slice<const std::uint64_t> offsets() const noexcept { return offsets_.slice(); }
  [[nodiscard]] Bytes arena_bytes() const noexcept { return Bytes{bytes_}; }

 private:
  rondo::detail::OwnedArray<std::uint64_t> offsets_;
  std::uint64_t bytes_;
};

/// The same as constants, for a graph that the compiler knows: an empty class.
template <class Graph, arch::Arch A, class Planner, Concurrency concurrency>
requires(Graph::is_static) class Layout<Graph, A, Planner, concurrency> {
 public:
  static constexpr bool is_static = true;
  static constexpr bool ports_may_share = concurrency != Concurrency::unordered && !keeps_ports_apart<Planner>;
  Layout() = default;
  explicit Layout(const Graph&) noexcept {}

  [[nodiscard]] static constexpr Slice<const std::uint64_t> offsets() noexcept {
    return {constants_.offsets, Graph::view().tensors.size()};
  }
  [[nodiscard]] static constexpr Bytes arena_bytes() noexcept { return Bytes{constants_.bytes}; }

 private:
  struct Constants {
    std::uint64_t offsets[Graph::view().tensors.size() + 1] = {};
    std::uint64_t bytes = 0;
    consteval Constants() {
      bytes = lay_out<A, Planner, concurrency>(Graph::view(), {offsets, Graph::view().tensors.size()});
    }
  };
  static constexpr Constants constants_{};
};

}  // namespace rondo::memory
