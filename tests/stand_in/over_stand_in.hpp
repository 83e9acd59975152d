// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stand_in/control.hpp"

#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/onboard/device_orchestration.hpp>
#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/platform/select.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

extern "C" int aclrtMemcpyAsync(void* to, std::size_t room, const void* from, std::size_t size, int kind, void* stream);

namespace stand_in {

/// The number of live objects that belong to a test and not to the code under test.
inline std::atomic<std::uint64_t>& live_of_others() {
  static std::atomic<std::uint64_t> count{0};
  return count;
}

/// Ends the test program with a list of all misuses that the stand-in noted.
inline void must_be_clean(bool is_last) {
  static char text[4096];
  const auto misuses = rondo_stand_in_misuses(text, sizeof(text));
  const auto live = is_last ? rondo_stand_in_live(nullptr) : 0;
  if (misuses == 0 && live <= live_of_others()) return;
  std::fprintf(stderr, "the stand-in found %llu misuses, %llu things live at the end:\n%s",
               static_cast<unsigned long long>(misuses), static_cast<unsigned long long>(live), text);
  std::abort();
}

/// Makes a binary of a graph's kernels when the graph is loaded. It must live as long as the platform that reads it.
class KernelsOfGraph {
 public:
  KernelsOfGraph() { ++alive(); }
  KernelsOfGraph(const KernelsOfGraph&) = delete;
  KernelsOfGraph& operator=(const KernelsOfGraph&) = delete;
  ~KernelsOfGraph() { must_be_clean(--alive() == 0); }

 protected:
  template <class Options>
  [[nodiscard]] Options options_for(const char* chip, Options options, bool has_own_kernels) {
    rondo_stand_in_chip(chip);
    has_own_kernels_ = has_own_kernels;
    if (has_own_kernels) {
      Binary binary;
      add_own_kernels(binary);
      bytes_ = binary.bytes();
      binary_ = rondo::KernelBinary::from_memory(bytes_);
    }
    if (options.kernels.empty()) options.kernels = {&binary_, 1};
    // No test fails because the machine is busy for as long as the usual limit.
    if (options.timeout_ms == Options{}.timeout_ms) options.timeout_ms = std::numeric_limits<std::int32_t>::max();
    return options;
  }
  void take(const rondo::graph::GraphView& view) {
    Binary binary;
    for (std::size_t t = 0; t < view.tasks.size(); ++t) {
      const rondo::graph::TaskRecord& task = view.tasks[t];
      if (task.call != nullptr || task.entry == &rondo::graph::decide) continue;  // no kernel
      for (const rondo::graph::TaskRecord& other : view.tasks.first(t)) {
        if (other.call == nullptr && view.name(other.name) == view.name(task.name) && other.core == task.core &&
            other.entry != task.entry) {
          throw rondo::Error(rondo::Errc::invalid_argument,
                             rondo::Error::Text{"two kernels are called ", view.name(task.name)});
        }
      }
      binary.add(view.name(task.name), task.entry);
    }
    if (has_own_kernels_) add_own_kernels(binary);
    bytes_ = binary.bytes();
    binary_ = rondo::KernelBinary::from_memory(bytes_);
  }

  /// Makes a device program from an orchestration on the host. The program receives the graph's address.
  template <class Runtime, class Graph>
  [[nodiscard]] rondo::OrchestratorBinary take_orchestration(const Graph& graph,
                                                             const rondo::OrchestratorBinary& options) {
    Binary binary;
    binary.add("orchestrate", [](std::int64_t* args) {
      rondo::runtime::orchestrate_on_device<Runtime, AicpuMemory>(
          args, [](auto& round, const auto& io) { reinterpret_cast<const Graph*>(io.user())->orchestrate(round); });
    });
    bytes_ = binary.bytes();
    return {rondo::KernelBinary::from_memory(bytes_), "orchestrate", "Orchestrate",
            reinterpret_cast<std::uintptr_t>(&graph), options.cores, options.blocks};
  }

 private:
  static std::atomic<int>& alive() {
    static std::atomic<int> count{0};
    return count;
  }
  static void add_own_kernels(Binary& binary) {
    binary.add("rondo_refresh", &rondo_stand_in_refresh, true);
    binary.add("rondo_decide", &rondo_stand_in_decide, true);
  }

  std::vector<std::byte> bytes_;
  rondo::KernelBinary binary_;
  bool has_own_kernels_ = false;
};

/// An onboard platform over the stand-in whose device has the kernels of every graph that is loaded, so that tests need
/// no kernel binaries of their own. `has_own_kernels` adds Rondo's kernels, which compute args and decide about loops.
template <rondo::arch::Arch A, bool has_own_kernels = false,
          class RoundEvents = rondo::platform::streams::NoRoundEvents>
class OverStandIn : private KernelsOfGraph, public rondo::platform::Onboard<A, RoundEvents> {
  using Base = rondo::platform::Onboard<A, RoundEvents>;

 public:
  static constexpr bool runs_over_stand_in = true;
  using Timed = OverStandIn<A, has_own_kernels, rondo::platform::streams::RoundEvents>;
  using Options = typename Base::Options;
  explicit OverStandIn(const Options& options) : Base(options_for(A::name, options, has_own_kernels)) {}

  template <class Graph>
  [[nodiscard]] typename Base::Program load(const Graph& graph, rondo::args::ArgsTable& args) {
    take(graph.view());
    return Base::load(graph, args);
  }
  /// Stands for a library's operator: enqueues a copy within the device on the stream.
  static int enqueue_copy(void* stream, void* to, const void* from, std::size_t bytes) {
    return aclrtMemcpyAsync(to, bytes, from, bytes, rondo::platform::streams::device_to_device, stream);
  }
  /// Makes a device program from the host's orchestration, unless it is one already.
  template <class Runtime, class Graph>
  struct Orchestration : Base::template Orchestration<Runtime, Graph> {
    using OnBase = typename Base::template Orchestration<Runtime, Graph>;
    Orchestration(OverStandIn& platform, const Graph& graph, const rondo::runtime::OrchestrationOptions& options)
        : OnBase{platform, graph, options,
                 platform.template take_orchestration<Runtime>(graph, platform.options().orchestrator)} {}
    Orchestration(OverStandIn& platform, const Graph& graph, const rondo::runtime::OrchestrationOptions& options)
      requires std::same_as<Graph, rondo::Orchestrated<rondo::runtime::OnDevice>>
        : OnBase{platform, graph, options} {}
  };
};

}  // namespace stand_in

using A2A3OverStandIn = stand_in::OverStandIn<rondo::arch::A2A3>;
using A5OverStandIn = stand_in::OverStandIn<rondo::arch::A5>;
using A2A3ThatComputes = stand_in::OverStandIn<rondo::arch::A2A3, true>;
using A5ThatComputes = stand_in::OverStandIn<rondo::arch::A5, true>;
static_assert(rondo::check_platform<A2A3OverStandIn>() && rondo::check_platform<A5OverStandIn>());
