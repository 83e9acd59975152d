// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/orchestration_options.hpp>
#include <rondo/runtime/concept.hpp>

#include <cstdint>

namespace rondo::runtime {

/// The options of a session whose runtime builds its graph during the round.
template <class P>
struct OrchestratedOptions : P::Options {
  OrchestrationOptions orchestration{};
};

namespace detail {
template <class Runtime, class P, class Graph>
struct OrchestrationOn {
  static_assert(HasOrchestration<P>,
                "rondo: this runtime runs on the simulated platforms and on the onboard ones; choose one of them, or "
                "runtime::HostBuildGraph");
  using type = typename P::template Orchestration<Runtime, Graph>;
};
}  // namespace detail

/// Runs the rounds of one orchestration on one platform. The platform does all of the work.
template <class Runtime, class P, class Graph>
class OrchestratedRunner : public detail::OrchestrationOn<Runtime, P, Graph>::type {
  using Orchestration = typename detail::OrchestrationOn<Runtime, P, Graph>::type;

 public:
  /// The args table is empty, because the graph has no tasks. @throws Error as the platform does
  OrchestratedRunner(P& platform, const Graph& graph, args::ArgsTable&, const OrchestratedOptions<P>& options)
      : Orchestration{platform, graph, options.orchestration} {
    static_assert(Runner<OrchestratedRunner>);
  }
  OrchestratedRunner(OrchestratedRunner& first, const Graph& graph, args::ArgsTable&) : Orchestration{first, graph} {}

  /// The return type is deduced, so that a platform which cannot queue it fails with this message and no other.
  [[nodiscard]] auto& program() noexcept {
    static_assert(HasQueuedOrchestration<P>,
                  "rondo: the platform lacks Capability::queued_orchestration, so rounds of a runtime that builds its "
                  "graph during the round are not in flight on it; run one at a time, or choose "
                  "runtime::HostBuildGraph");
    return static_cast<Orchestration&>(*this);
  }
};

/// The common members of runtimes whose orchestrations take intermediates from `ring_count` rings of memory.
template <class Runtime, std::uint32_t ring_count>
struct OrchestratedRuntime {
  static constexpr bool is_orchestrated = true;
  static constexpr std::uint32_t rings = ring_count;

  template <class P>
  using Options = OrchestratedOptions<P>;
  template <class P, class Graph>
  using Runner = OrchestratedRunner<Runtime, P, Graph>;
};

}  // namespace rondo::runtime
