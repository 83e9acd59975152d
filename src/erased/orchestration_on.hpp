// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orchestration.hpp"
#include "session_on.hpp"
#include "watch.hpp"

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo::erased {

/// AnyRound over the Orchestrator of either runtime.
template <class Orchestrator>
class RoundOf final : public AnyRound {
 public:
  RoundOf(Orchestrator& orchestrator, const graph::GraphView& interface)
      : orchestrator_{orchestrator}, interface_{interface} {}
  RoundOf(const RoundOf&) = delete;
  RoundOf& operator=(const RoundOf&) = delete;
  ~RoundOf() override {
    while (!scopes_.empty()) scopes_.pop_back();  // the newest first
  }

  [[nodiscard]] RoundTensor tensor(TensorKey key) override {
    const auto region = orchestrator_.region(key);
    const graph::TensorRecord& record = interface_.tensors[index(key.tensor())];
    return {region, record.type, record.direction};
  }
  [[nodiscard]] RoundTensor workspace(DataType type, const Shape& shape) override {
    return {orchestrator_.workspace(type, shape), type, Direction::workspace};
  }
  [[nodiscard]] RoundTensor view(const RoundTensor& tensor, const Shape& low, const Shape& extents) override {
    return {orchestrator_.view(tensor.region, low, extents), tensor.type, tensor.direction};
  }
  [[nodiscard]] std::span<const std::byte> values(TensorKey input) override {
    const RoundTensor t = tensor(input);
    if (t.direction != Direction::in && t.direction != Direction::host_input) {
      fail(Errc::invalid_argument, "values: '", interface_.name(interface_.tensors[index(input.tensor())].name),
           "' is no input, so its values are not known before the tasks run; read an input");
    }
    return orchestrator_.bytes(input);
  }
  TaskRef add(const SignatureKernel& kernel, Blocks blocks, std::span<const RoundArgument> arguments) override {
    kernel.check(arguments);
    using Described = typename Orchestrator::Described;
    using Kind = graph::ArgRecord::Kind;
    std::vector<Described> described;
    described.reserve(kernel.words().size() + 1);
    if (kernel.closure() != nullptr) {
      described.push_back(
          {.kind = Kind::constant, .bits = static_cast<ArgWord>(reinterpret_cast<std::uintptr_t>(kernel.closure()))});
    }
    for (const std::size_t p : kernel.words()) {
      if (p == SignatureKernel::block) {
        described.push_back({.kind = Kind::block});
      } else if (arguments[p].tensor == nullptr) {
        described.push_back({.kind = Kind::scalar, .bits = arguments[p].scalar});
      } else {
        const KernelParameter& parameter = kernel.parameters[p];
        described.push_back({.kind = Kind::address,
                             .access = parameter.access,
                             .region = &arguments[p].tensor->region,
                             .rank = parameter.rank});
      }
    }
    return orchestrator_.add_described(kernel.name, blocks, kernel.function(), described);
  }
  void add_edge(TaskRef before, TaskRef after) override {
    if constexpr (requires { orchestrator_.add_edge(before, after); }) {
      orchestrator_.add_edge(before, after);
    } else {
      (void)before, (void)after;
      fail(Errc::unsupported,
           "add_edge: the runtime finds the edges; leave the call out, or open with the runtime "
           "aicpu_build_graph");
    }
  }
  void begin_scope() override { scopes_.emplace_back(new Scope(orchestrator_.scope())); }
  void end_scope(bool failed) override {
    if (scopes_.empty()) fail(Errc::not_open, "end_scope: no scope is open; begin one first");
    if (failed) orchestrator_.stream().abandon();
    scopes_.pop_back();
  }

 private:
  using Scope = typename Orchestrator::Scope;
  Orchestrator& orchestrator_;
  graph::GraphView interface_;
  std::vector<std::unique_ptr<Scope>> scopes_;
};

/// The callable that a session of an orchestrated runtime calls in each round.
struct CallOrchestration {
  template <class Orchestrator>
    requires requires(Orchestrator& o) { o.stream(); }
  void operator()(Orchestrator& orchestrator) {
    RoundOf<Orchestrator> round(orchestrator, interface);
    orchestration(round);
  }
  Orchestration orchestration;
  graph::GraphView interface;
};

template <class R>
struct OrchestratedPolicies : WatchedPolicies {
  using Runtime = R;
};

/// Opens a session whose tasks an orchestration adds. `P`: a platform whose engine can be traced.
template <Platform P>
[[nodiscard]] std::unique_ptr<AnySession> open_orchestrated(const Graph& interface, const Options& options,
                                                            Runtime runtime, Orchestration orchestration) {
  if (options.in_flight != 1) {
    fail(Errc::unsupported, "a session with an orchestration runs one round at a time; leave in_flight at 1");
  }
  const auto open = [&]<class R>(std::type_identity<R>) -> std::unique_ptr<AnySession> {
    using Policies = OrchestratedPolicies<R>;
    using Source = Orchestrated<CallOrchestration>;
    using S = RoundSession<P, Policies, Source>;
    typename S::Options own;
    set_options(own, options);
    if (options.threads != 0) own.orchestration.threads = options.threads;
    FrozenGraph frozen = freeze_interface(interface.tasks);
    const graph::GraphView view = frozen.view();  // stays valid when the graph moves
    return std::make_unique<SessionOf<S>>(Source{std::move(frozen), {std::move(orchestration), view}}, own, 1U,
                                          options.trace);
  };
  return runtime == Runtime::tensormap_and_ringbuffer ? open(std::type_identity<runtime::TensorMapRingBuffer>{})
                                                      : open(std::type_identity<runtime::AicpuBuildGraph>{});
}

}  // namespace rondo::erased
