// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/outline.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/cuda/decide_kernel.hpp>
#include <rondo/platform/streams/host_loops.hpp>
#include <rondo/platform/streams/library_calls.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rondo::platform::cuda {

/// A task of a loaded graph that is launched: a kernel, or a library call.
struct Launch {
  Function function = nullptr;
  Pointer args = 0;
  std::uint32_t blocks = 1;
  std::uint32_t threads = 0;
  std::uint32_t shared_bytes = 0;
  std::uint32_t position = 0;  ///< in the order of the graph
  std::uint32_t library_call = streams::LibraryCalls::none;
};

/// Makes executable CUDA graphs of a graph's tasks: a kernel node for each kernel, a child graph for each library call,
/// and, where the device decides, a conditional node for each loop, with the loop's tasks as its body. Edges are those
/// of the graph.
///
/// Lifetime: all that it is given outlives it. Thread safety: none. Errors: make() returns the driver's code. Cost:
/// set-up only.
class GraphMaker {
 public:
  /// What the decisions of loops need, by loop of the graph. Empty: the host decides.
  struct Decision {
    Pointer block = 0;  ///< the argument block of the decision
    Pointer left = 0;   ///< 8 bytes of device memory, for the number of repetitions that are left
  };

  /// `launches` are in the order of the graph.
  GraphMaker(Device& device, const graph::GraphView& view, std::span<const Launch> launches,
             streams::LibraryCalls& library_calls, Function decide, std::span<const Decision> decisions)
      : device_{device},
        view_{view},
        launches_{launches},
        library_calls_{library_calls},
        decide_{decide},
        decisions_{decisions} {}
  GraphMaker(const GraphMaker&) = delete;
  GraphMaker& operator=(const GraphMaker&) = delete;

  /// Makes an executable graph of those tasks of a scope (a loop, or no_loop: the whole graph) that are at the
  /// positions [first, last). @returns the driver's code, after a failure of `call`; `exec` stays null if a library
  /// call could not be captured, for which refusal() gives the reason
  [[nodiscard]] Result make(GraphExec& exec, std::uint32_t scope, std::uint32_t first, std::uint32_t last,
                            const char*& call) {
    Graph made = nullptr;
    call = "cuGraphCreate";
    Result code = driver().create_graph(&made, 0);
    if (code != success) return code;
    OwnedGraph graph{made, {&driver()}};
    code = add_items(made, scope, first, last, 0, call);
    if (code == success && refusal_.empty()) {
      call = "cuGraphInstantiateWithFlags";
      code = driver().instantiate(&exec, made, 0);
    }
    return code == success ? destroy(graph, call) : code;
  }
  /// The reason why a library call could not be captured; empty if all could.
  [[nodiscard]] const Error::Text& refusal() const noexcept { return refusal_; }

 private:
  static constexpr std::uint32_t none = graph::TaskRecord::no_loop;
  using Needs = std::vector<GraphNode>;

  /// Destroys a graph if its maker could not go on.
  struct Destroy {
    const Calls* calls;
    void operator()(Graph graph) const noexcept { (void)calls->destroy_graph(graph); }
  };
  using OwnedGraph = std::unique_ptr<void, Destroy>;

  /// The parameters of a kernel node, which may point to them until the graph is instantiated. A task's kernel has only
  /// the first.
  struct Parameters {
    Pointer args = 0;
    Pointer left = 0;
    std::uint64_t handle = 0;
    std::uint32_t step = 0;
    void* all[4] = {&args, &left, &handle, &step};
  };

  [[nodiscard]] const Calls& driver() const noexcept { return device_.driver(); }
  [[nodiscard]] Result destroy(OwnedGraph& graph, const char*& call) const noexcept {
    const Result code = driver().destroy_graph(graph.release());
    if (code != success) call = "cuGraphDestroy";
    return code;
  }

  /// `handle`: of the conditional node whose body the graph is.
  [[nodiscard]] Result add_items(Graph graph, std::uint32_t scope, std::uint32_t first, std::uint32_t last,
                                 std::uint64_t handle, const char*& call) {
    const graph::Outline outline(view_, scope);
    const graph::GraphView outlined = outline.view();
    std::vector<Needs> needs(outline.items().size());
    for (std::uint32_t i = 0; i < needs.size(); ++i) {
      const graph::Outline::Item& item = outline.items()[i];
      if (item.first < first || item.last > last) continue;
      GraphNode node = nullptr;
      const Result code = item.loop != none ? add_loop(node, graph, item.loop, needs[i], call)
                                            : add_task(node, graph, item.first, needs[i], handle, call);
      if (code != success || !refusal_.empty()) return code;
      if (node == nullptr) continue;
      for (const std::uint32_t successor : outlined.successors_of(i)) needs[successor].push_back(node);
    }
    return success;
  }
  /// Adds no node for the fill of memory, which is done before all nodes, and for decisions that are made elsewhere.
  [[nodiscard]] Result add_task(GraphNode& node, Graph graph, std::uint32_t position, const Needs& needs,
                                std::uint64_t handle, const char*& call) {
    if (streams::HostLoops<Device>::is_decision(view_, position)) {
      const std::uint32_t loop = view_.tasks[position].loop;
      if (decisions_.empty() || view_.loops[loop].kind == graph::LoopRecord::Kind::when) return success;
      return add_decision(node, graph, loop, DecideKernel::Step::repeat, needs, handle, call);
    }
    const auto launch = std::ranges::lower_bound(launches_, position, {}, &Launch::position);
    if (launch == launches_.end() || launch->position != position) return success;
    if (launch->library_call != streams::LibraryCalls::none) return add_call(node, graph, *launch, needs, call);
    Parameters& parameters = parameters_.emplace_back();
    parameters.args = launch->args;
    return add_kernel(node, graph, *launch, needs, parameters, call);
  }
  [[nodiscard]] Result add_kernel(GraphNode& node, Graph graph, const Launch& l, const Needs& needs,
                                  Parameters& parameters, const char*& call) {
    const KernelNodeParams params{
        l.function, {l.blocks, 1, 1}, {l.threads, 1, 1}, l.shared_bytes, static_cast<void**>(parameters.all)};
    call = "cuGraphAddKernelNode";
    return driver().add_kernel_node(&node, graph, needs.data(), needs.size(), &params);
  }
  [[nodiscard]] Result add_decision(GraphNode& node, Graph graph, std::uint32_t loop, DecideKernel::Step step,
                                    const Needs& needs, std::uint64_t handle, const char*& call) {
    Parameters& parameters = parameters_.emplace_back();
    parameters.args = decisions_[loop].block;
    parameters.left = decisions_[loop].left;
    parameters.handle = handle;
    parameters.step = static_cast<std::uint32_t>(step);
    return add_kernel(node, graph, {.function = decide_, .threads = 1}, needs, parameters, call);
  }
  /// Adds the first decision about a loop, the conditional node, and its body.
  [[nodiscard]] Result add_loop(GraphNode& node, Graph graph, std::uint32_t number, const Needs& needs,
                                const char*& call) {
    const graph::LoopRecord& loop = view_.loops[number];
    const bool is_when = loop.kind == graph::LoopRecord::Kind::when;
    ConditionalNodeParams params;
    params.kind = is_when ? ConditionalNodeParams::when : ConditionalNodeParams::loop;
    params.context = device_.context();
    call = "cuGraphConditionalHandleCreate";
    Result code = driver().create_conditional(&params.handle, graph, params.context, 0, 0);
    if (code != success) return code;
    GraphNode decision = nullptr;
    const auto step = is_when ? DecideKernel::Step::when : DecideKernel::Step::begin;
    code = add_decision(decision, graph, number, step, needs, params.handle, call);
    if (code != success) return code;
    call = "cuGraphAddNode";
    code = driver().add_node(&node, graph, &decision, 1, &params);
    if (code != success) return code;
    return add_items(params.bodies[0], number, loop.first, loop.last, params.handle, call);
  }

  [[nodiscard]] Result add_call(GraphNode& node, Graph graph, const Launch& l, const Needs& needs, const char*& call) {
    Graph captured = nullptr;
    Result code = capture(l, &captured, call);
    if (code != success || !refusal_.empty()) return code;
    OwnedGraph child{captured, {&driver()}};
    call = "cuGraphAddChildGraphNode";
    code = driver().add_child_graph(&node, graph, needs.data(), needs.size(), captured);
    if (code != success) return refuses(l, call, code) ? success : code;
    return destroy(child, call);
  }
  /// Lets a library call put its work on a separate stream that is being captured.
  [[nodiscard]] Result capture(const Launch& l, Graph* child, const char*& call) {
    Stream stream = nullptr;
    call = Api::create_stream;
    Result code = driver().create_stream(&stream, stream_non_blocking, 0);
    if (code != success) return code;
    call = "cuStreamBeginCapture";
    code = driver().begin_capture(stream, capture_thread_local);
    if (code == success) {
      const char* what = nullptr;
      const Result called = library_calls_.run(l.library_call, stream, what);
      const Result ended = driver().end_capture(stream, child);
      if (called != success) {
        refusal_ = Error::Text{what, " while it was captured"};
      } else if (ended != success || *child == nullptr) {
        refuse(l, "cuStreamEndCapture", ended);
      }
    } else if (refuses(l, call, code)) {
      code = success;
    }
    const Result destroyed = released(driver().destroy_stream(stream));
    if (code == success && destroyed != success) call = "cuStreamDestroy", code = destroyed;
    const bool is_of_use = code == success && refusal_.empty();
    if (!is_of_use && *child != nullptr) (void)driver().destroy_graph(std::exchange(*child, nullptr));
    return code;
  }
  void refuse(const Launch& l, const char* call, Result code) noexcept {
    refusal_ = Error::Text{call,
                           " returned ",
                           code,
                           " for the library call of task '",
                           view_.name(view_.tasks[l.position].name),
                           "' while it was captured"};
  }
  /// Records a refusal if the code means that the driver cannot do it.
  [[nodiscard]] bool refuses(const Launch& l, const char* call, Result code) noexcept {
    if (errc_of(code) != Errc::unsupported) return false;
    refuse(l, call, code);
    return true;
  }

  Device& device_;
  const graph::GraphView& view_;
  std::span<const Launch> launches_;
  streams::LibraryCalls& library_calls_;
  Function decide_;
  std::span<const Decision> decisions_;
  std::deque<Parameters> parameters_;
  Error::Text refusal_;
};

}  // namespace rondo::platform::cuda
