// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/error.hpp>
#include <rondo/memory/arena.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/platform/orchestration_options.hpp>
#include <rondo/platform/sim/dynamic/aicpu_build_graph.hpp>
#include <rondo/platform/sim/dynamic/tensormap_and_ringbuffer.hpp>
#include <rondo/platform/sim/engine.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo::platform::sim::dynamic {

/// The rounds of one orchestration on a simulated platform; a runtime::Runner. The slots of rounds in flight share the
/// orchestrator and its rings, which the first slot owns; each slot has its own tensor addresses.
template <class Sim, class Runtime, class Graph>
class Orchestration {
  using Engine = std::remove_cvref_t<decltype(std::declval<Sim&>().engine())>;
  using Orchestrator = typename OrchestratorFor<Runtime>::type;
  static_assert(!LooksAtGraphs<Engine>,
                "rondo: the engine looks at the tasks of a graph, and a runtime that builds its graph during the round "
                "has none to show, so it would check, dump or predict nothing; choose Inline, Pool or observe::Traced "
                "of one of them, or runtime::HostBuildGraph");
  static_assert(
      requires(const Graph& graph, Orchestrator& o) { graph.orchestrate(o); },
      "rondo: this runtime builds its graph during the round; open the session with an interface and an "
      "orchestration: open<P, Policies>(interface, [](auto& round) {...})");

 public:
  static constexpr bool has_tensor_places = true;

  /// Allocates the rings' memory and starts the threads. @throws Error out_of_memory, out_of_resources
  Orchestration(Sim& platform, const Graph& graph, const runtime::OrchestrationOptions& options)
      : own_{std::make_unique<Core>(platform, graph, options)}, core_{*own_}, places_(graph.view().tensors.size()) {}
  /// Makes a further slot.
  Orchestration(Orchestration& first, const Graph& graph)
      : core_{first.core_}, places_(graph.view().tensors.size()), has_others_{true} {
    first.has_others_ = true;
  }
  Orchestration(const Orchestration&) = delete;
  Orchestration& operator=(const Orchestration&) = delete;
  ~Orchestration() { (void)unload(); }

  /// Runs the whole round, so that no other thread is woken to orchestrate it.
  Status launch() noexcept {
    status_ = orchestrate();
    return {};
  }
  Status settle() const noexcept { return status_; }
  Status outcome(Status waited) const noexcept { return first_failure(status_, waited); }
  void place_tensor(std::size_t tensor, std::uint64_t address) noexcept {
    places_[tensor] = address;
    if (!has_others_) core_.orchestrator.place_interface(tensor, address);
  }
  void move_arena(DevicePtr<std::byte>, DevicePtr<std::byte>) noexcept {}
  /// The size of the rings, which the first slot holds.
  [[nodiscard]] Bytes ring_bytes() const noexcept { return own_ != nullptr ? own_->heaps.size() : Bytes{}; }
  [[nodiscard]] const Error::Text* failure_text() const noexcept { return &core_.orchestrator.stream().failure_text(); }
  Status unload() noexcept {
    if (own_ != nullptr) core_.orchestrator.stream().stop();
    return {};
  }

  /// Called by the queue: runs the whole round of this slot on the calling thread.
  friend Status run_round(Sim&, Orchestration& rounds) noexcept { return rounds.orchestrate(); }

 private:
  /// The part that all slots share.
  struct Core {
    Core(Sim& on, const Graph& frozen, const runtime::OrchestrationOptions& options)
        : platform{on},
          graph{frozen},
          threads{threads_for(options)},
          orchestrator{options, threads, arch::limits_of<typename Sim::Arch>, graph.view()},
          heaps{platform, orchestrator.heap_bytes(), Bytes{Sim::Arch::arena_alignment}} {
      orchestrator.place_heaps(heaps.base().address());
      if constexpr (HasHalt<Engine>) orchestrator.stream().stop_with(platform.engine().halt());
      if constexpr (HasRecorder<Engine>) orchestrator.stream().trace(platform.engine().recorder().tracer());
    }
    Sim& platform;
    const Graph& graph;
    std::uint32_t threads;
    Orchestrator orchestrator;
    memory::Arena<Sim> heaps;
  };

  /// The number of worker threads for a graph that is built during the round.
  [[nodiscard]] static std::uint32_t threads_for(const runtime::OrchestrationOptions& options) noexcept {
    if constexpr (memory::concurrency_of<Engine>() == memory::Concurrency::sequential) return 0;
    if (options.threads != runtime::OrchestrationOptions::by_engine) return options.threads;
    const std::uint32_t cores = host_cores();
    return cores > 2 ? cores - 1 : 1;
  }

  Status orchestrate() noexcept {
    for (std::size_t t = 0; has_others_ && t < places_.size(); ++t) core_.orchestrator.place_interface(t, places_[t]);
    const Status status = orchestrate_round(core_.orchestrator, [this](Orchestrator& round) {
      if constexpr (HasRecorder<Engine>) core_.platform.engine().recorder().launches();
      core_.graph.orchestrate(round);
    });
    if constexpr (HasRecorder<Engine>) core_.platform.engine().recorder().done();
    return status;
  }

  std::unique_ptr<Core> own_;  ///< null: another slot owns it
  Core& core_;
  std::vector<std::uint64_t> places_;  ///< the tensors' addresses
  Status status_;                      ///< of the last round
  bool has_others_ = false;            ///< whether there are other slots; then each round sets its own addresses first
};

}  // namespace rondo::platform::sim::dynamic
