// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/types.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::memory {

/// The planners of sessions; see planners.hpp.
struct Greedy;
struct DefaultPlanner;
struct Disjoint;
template <class P>
struct PortsLast;
template <class P>
struct ResidentsFirst;

struct Problem;
struct Plan;
struct Lifetimes;

namespace detail {

[[nodiscard]] Plan plan_greedily(const Problem& problem);
[[nodiscard]] Plan plan_by_default(const Problem& problem);
/// Shrinks a valid plan if it can.
using Search = void (*)(const Problem&, Plan&);
/// The search of rondo::compiled, which sets it before main; null in header-only programs.
inline constinit Search linked_search = nullptr;
[[nodiscard]] Plan plan_apart(const Problem& problem);

/// Checks the plan of a planner. @throws Error check_failed, naming the planner and tensors
void require_valid(const graph::GraphView& graph, const Lifetimes& lives, const Plan& plan);

struct PlannerCall;
/// Plans ports and residents apart from the rest. Only programs with PortsLast or ResidentsFirst contain it.
[[nodiscard]] Plan plan_in_parts(const PlannerCall& planner, const graph::GraphView& graph, const Lifetimes& lives);

/// A planner as a value, so that the code that uses it is compiled once.
struct PlannerCall {
  Plan (*plan)(const Problem&);
  void (*check)(const graph::GraphView&, const Lifetimes&, const Plan&) = nullptr;  ///< for its plans, in debug builds
  bool ports_last = false;                                                          ///< see PortsLast
  bool residents_first = false;                                                     ///< see ResidentsFirst
  decltype(&plan_in_parts) in_parts = nullptr;                                      ///< null: a single part
  bool keeps_apart = false;                                                         ///< see Disjoint
};
#ifdef NDEBUG
inline constexpr auto check_in_debug = nullptr;
#else
inline constexpr auto check_in_debug = &require_valid;
#endif
template <class P>
[[nodiscard]] constexpr PlannerCall call_planner() {
  constexpr bool plans = requires(const Problem& problem) {
    { P::plan(problem) } -> std::same_as<Plan>;
  };
  static_assert(plans, "rondo: a planner needs `static rondo::memory::Plan plan(const rondo::memory::Problem&);`");
  if constexpr (plans) return {[](const Problem& problem) { return P::plan(problem); }, check_in_debug};
  return {};
}
template <class P>
inline constexpr PlannerCall call_of = call_planner<P>();
template <>
inline constexpr PlannerCall call_of<Greedy> = {&plan_greedily};
template <>
inline constexpr PlannerCall call_of<DefaultPlanner> = {&plan_by_default};
template <>
inline constexpr PlannerCall call_of<Disjoint> = {&plan_apart, nullptr, false, false, nullptr, true};
template <class P>
inline constexpr PlannerCall call_of<PortsLast<P>> = {call_of<P>.plan, call_of<P>.check, true,
                                                      false,           &plan_in_parts,   call_of<P>.keeps_apart};
template <class P>
inline constexpr PlannerCall call_of<ResidentsFirst<P>> = {
    call_of<P>.plan, call_of<P>.check, call_of<P>.ports_last, true, &plan_in_parts, call_of<P>.keeps_apart};

/// The concurrency to plan for. If all tensors are kept apart, nothing is computed in place either.
template <class P>
[[nodiscard]] constexpr Concurrency concurrency_for(Concurrency concurrency) noexcept {
  return call_of<P>.keeps_apart ? Concurrency::unordered : concurrency;
}
template <class P>
[[nodiscard]] constexpr bool ports_may_share(Concurrency concurrency) noexcept {
  return concurrency_for<P>(concurrency) != Concurrency::unordered && !call_of<P>.ports_last;
}
/// See find_lifetimes().
using FindLifetimes = Lifetimes (*)(const graph::GraphView& graph, const arch::Limits& chip, bool ports_apart);
template <Concurrency concurrency>
[[nodiscard]] Lifetimes find_lifetimes_at_run_time(const graph::GraphView& graph, const arch::Limits& chip,
                                                   bool ports_apart);

/// Plans the arena of a graph at run time: fills in one offset per tensor, returns the size of the arena in bytes.
[[nodiscard]] std::uint64_t lay_out_at_run_time(const graph::GraphView& graph, std::span<std::uint64_t> offsets,
                                                const arch::Limits& chip, const PlannerCall& planner,
                                                FindLifetimes find);

}  // namespace detail

/// Does the same, also in constant expressions; defined in lay_out.hpp.
template <arch::Arch A, class Planner, Concurrency concurrency>
constexpr std::uint64_t lay_out(const graph::GraphView& graph, std::span<std::uint64_t> offsets);

/// The offset of each tensor of a graph in its arena, in bytes; meaningless for a host input. Include lay_out.hpp to
/// construct one.
template <class Graph, arch::Arch A, class Planner = Disjoint, Concurrency concurrency = Concurrency::unordered>
class Layout {
 public:
  static constexpr bool is_static = false;
  /// Whether tensors that rounds bind may share memory with others.
  static constexpr bool ports_may_share = detail::ports_may_share<Planner>(concurrency);

  explicit Layout(const Graph& graph)
      : offsets_(graph.view().tensors.size()),
        bytes_{detail::lay_out_at_run_time(
            graph.view(), {offsets_.data(), offsets_.size()}, arch::limits_of<A>, detail::call_of<Planner>,
            &detail::find_lifetimes_at_run_time<detail::concurrency_for<Planner>(concurrency)>)} {}

  /// A plan that was made before.
  Layout(std::vector<std::uint64_t>&& offsets, Bytes arena) noexcept
      : offsets_{static_cast<std::vector<std::uint64_t>&&>(offsets)}, bytes_{arena.value} {}

  [[nodiscard]] std::span<const std::uint64_t> offsets() const noexcept { return graph::span_of(offsets_); }
  [[nodiscard]] Bytes arena_bytes() const noexcept { return Bytes{bytes_}; }

 private:
  std::vector<std::uint64_t> offsets_;
  std::uint64_t bytes_;
};

/// The offsets as constants, for a static graph: an empty class.
template <class Graph, arch::Arch A, class Planner, Concurrency concurrency>
  requires(Graph::is_static)
class Layout<Graph, A, Planner, concurrency> {
 public:
  static constexpr bool is_static = true;
  static constexpr bool ports_may_share = detail::ports_may_share<Planner>(concurrency);
  Layout() = default;
  explicit Layout(const Graph&) noexcept {}

  [[nodiscard]] static constexpr std::span<const std::uint64_t> offsets() noexcept {
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
