// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/concepts.hpp>
#include <rondo/detail/thread.hpp>
#include <rondo/error.hpp>
#include <rondo/memory/arena.hpp>
#include <rondo/runtime/conductor.hpp>
#include <rondo/runtime/orchestrate_round.hpp>
#include <rondo/runtime/stream_core.hpp>
#include <rondo/runtime/stream_options.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace rondo::platform {
template <arch::Arch A, class Engine, class Traffic>
class Sim;
namespace sim {
class Inline;
}
}  // namespace rondo::platform

namespace rondo::runtime::detail {

/// How many threads a platform gives to graphs that are built while they run; there is none for platforms that cannot.
template <class P>
inline constexpr bool can_orchestrate = false;
template <class A, class Engine, class Traffic>
inline constexpr bool can_orchestrate<platform::Sim<A, Engine, Traffic>> = true;

/// Inline, or what is traced on it.
template <class Engine>
inline constexpr bool runs_inline = std::is_same_v<Engine, platform::sim::Inline>;
template <class Engine>
requires requires { typename Engine::Traces; }
inline constexpr bool runs_inline<Engine> = runs_inline<typename Engine::Traces>;

/// Engines that do something with the graph that they are handed, beside running it.
template <class P>
inline constexpr bool looks_at_graphs = false;
template <class A, class Engine, class Traffic>
requires requires { requires Engine::looks_at_graphs; }
inline constexpr bool looks_at_graphs<platform::Sim<A, Engine, Traffic>> = true;

template <class P>
inline constexpr bool on_one_thread = true;
template <class A, class Engine, class Traffic>
inline constexpr bool on_one_thread<platform::Sim<A, Engine, Traffic>> = runs_inline<Engine>;

/// A platform whose launches are orchestrated rounds: what waits for a launch waits for the round.
template <class P>
class Beside : public P {
  static_assert(can_orchestrate<P>,
                "rondo: this runtime runs on the simulated platforms and on the onboard ones; choose one of them, or "
                "runtime::HostBuildGraph");

 public:
  struct Options : P::Options {
    StreamOptions stream{};
  };

  explicit Beside(const Options& options) : P{options}, options_{options.stream} {}

  Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    if (const Status status = conductor_.wait(); !status) return status;
    return P::copy_out(to, from, size);
  }
  Status wait() noexcept {
    const Status status = conductor_.wait();
    return status.ok() ? P::wait() : status;
  }
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return *failure_; }

  [[nodiscard]] const StreamOptions& stream_options() const noexcept { return options_; }
  [[nodiscard]] std::uint32_t threads() const noexcept {
    if constexpr (on_one_thread<P>) return 0;
    if (options_.threads != StreamOptions::by_engine) return options_.threads;
    const std::uint32_t cores = rondo::detail::host_cores();
    return cores > 2 ? cores - 1 : 1;
  }
  [[nodiscard]] Conductor& conductor() noexcept { return conductor_; }
  void set_failure_text(const Error::Text* text) noexcept { failure_ = text; }

 private:
  static constexpr Error::Text none{};
  StreamOptions options_;
  Conductor conductor_;
  const Error::Text* failure_ = &none;
};

/// One orchestration on one platform: the session's view of the runtimes that build their graph during the round.
template <class Orchestrator, class P, class Graph>
class StreamRunner {
  static_assert(!looks_at_graphs<P>,
                "rondo: the engine looks at the tasks of a graph, and a runtime that builds its graph during the round "
                "has none to show, so it would check, dump or predict nothing; choose Inline, Pool or observe::Traced "
                "of one of them, or runtime::HostBuildGraph");
  static_assert(
      requires(const Graph& graph, Orchestrator& o) { graph.orchestrate(o); },
      "rondo: this runtime builds its graph during the round; open the session with an interface and an "
      "orchestration: open<P, Policies>(interface, [](auto& round) {...})");

 public:
  /// Takes the rings' memory and starts the threads. @throws Error out_of_memory, out_of_resources
  /// The args table is that of a graph without tasks: empty.
  StreamRunner(Beside<P>& platform, const Graph& graph, args::ArgsTable&)
      : platform_{platform},
        graph_{graph},
        orchestrator_{platform.stream_options(), platform.threads(), ChipLimits::of<typename P::Arch>(), graph.view()},
        heaps_{platform, orchestrator_.heap_bytes(), Bytes{P::Arch::arena_alignment}} {
    orchestrator_.place_heaps(heaps_.base().address());
    platform.set_failure_text(&orchestrator_.stream().failure_text());
    if constexpr (is_traced) orchestrator_.stream().trace(platform.engine().recorder().tracer());
    platform.conductor().start([](void* self) noexcept { return static_cast<StreamRunner*>(self)->orchestrate(); },
                               this, platform.threads() != 0);
  }
  StreamRunner(const StreamRunner&) = delete;
  StreamRunner& operator=(const StreamRunner&) = delete;
  ~StreamRunner() { (void)unload(); }

  Status launch() noexcept {
    platform_.conductor().launch();
    return {};
  }
  /// The launched round goes on without the caller.
  void start_beside() noexcept { platform_.conductor().start_beside(); }

  /// Where a tensor of the interface is from now on; told before the first round and whenever it changes.
  void place_tensor(std::size_t tensor, std::uint64_t address) noexcept {
    orchestrator_.place_interface(tensor, address);
  }

  Status unload() noexcept {
    platform_.conductor().stop();
    orchestrator_.stream().stop();
    return {};
  }

  [[nodiscard]] Orchestrator& orchestrator() noexcept { return orchestrator_; }

 private:
  static constexpr bool is_traced = requires(P & p) { p.engine().recorder().tracer(); };

  /// The whole round, on whichever thread the conductor chose.
  Status orchestrate() noexcept {
    const Status status = orchestrate_round(orchestrator_, [this](Orchestrator& round) {
      if constexpr (is_traced) platform_.engine().recorder().launches();
      graph_.orchestrate(round);
    });
    if constexpr (is_traced) platform_.engine().recorder().done();
    return status;
  }

  Beside<P>& platform_;
  const Graph& graph_;
  Orchestrator orchestrator_;
  memory::Arena<P> heaps_;
};

}  // namespace rondo::runtime::detail
