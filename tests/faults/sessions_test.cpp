// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Each allocation and each start of a thread fails once, while a graph is built, a session over it is opened, rounds
// run, and the session is closed: nothing leaks, nothing ends the program, and what says ok is right.

#include "conformance/counting_loop.hpp"
#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"
#include "cuda_stand_in/over_cuda_stand_in.hpp"
#include "faults/system_calls.hpp"

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/orchestrated.hpp>
#include <rondo/session/memory_report.hpp>
#include <rondo/session/recoverable.hpp>
#include <rondo/session/shaped_session.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <span>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

using Floats = std::vector<float>;

/// y = 3 (x + w), s += x, through a workspace.
struct Graph {
  static constexpr std::size_t n = 8;
  Graph() {
    const auto sum = graph.workspace<float>("sum", {n});
    graph.add<kernels::Add>(x, w, sum);
    graph.add<kernels::Scale>(sum, y, 3.0F);
    graph.add<kernels::Accumulate>(x, s);
  }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {n});
  Resident<float> w = graph.resident<float>("w", {n});
  Output<float> y = graph.output<float>("y", {n});
  InputOutput<float> s = graph.inout<float>("s", {n});
};

/// Three threads, from the first round on.
template <class P>
typename P::Options busy() {
  typename P::Options options{};
  if constexpr (requires { options.engine.threads; }) {
    options.engine.threads = 3;
    options.engine.scheduling = platform::sim::Scheduling::uniform;
  }
  return options;
}

/// The memory of a host, made before anything fails.
struct Host {
  Floats x = Floats(Graph::n, 2), w = Floats(Graph::n, 1), y = Floats(Graph::n), s = Floats(Graph::n, 10);
  [[nodiscard]] bool is_right() const { return y == Floats(Graph::n, 9) && s == Floats(Graph::n, 12); }
};

/// Set-up reports a failure by an exception; a round must not fail, since it asks for nothing.
void require_ok(Status status) {
  if (!status) throw Error(status.code(), Error::Text{"a call failed: ", status.message()});
}

template <class P>
struct OneByOne {
  static bool live() {
    Host host;
    const Graph g;
    auto session = open<P>(g.graph, busy<P>());
    require_ok(session.upload(g.w, host.w));
    const Status ran = session.run_round(bind(g.x, host.x), bind(g.y, host.y), bind(g.s, host.s));
    const bool is_known = session.memory_report().arena() != Bytes{};
    return ran.ok() && session.close().ok() && is_known && host.is_right();
  }
};

template <class P>
struct InFlight {
  static bool live() {
    Host host;
    const Graph g;
    auto session = open_pipelined<P, 2>(g.graph, busy<P>());
    require_ok(session.upload(g.w, host.w));
    const Status ran = session.wait(session.submit_round(bind(g.x, host.x), bind(g.y, host.y), bind(g.s, host.s)));
    return ran.ok() && session.close().ok() && host.is_right();
  }
};

/// Rounds in flight of memory with strides, each with a completion.
template <class P>
struct StridedInFlight {
  static bool live() {
    Host host;
    Floats x(2 * Graph::n, 2), y(2 * Graph::n);
    const std::int64_t extents[] = {Graph::n};
    const std::int64_t strides[] = {2 * sizeof(float)};
    const StridedLayout layout(sizeof(float), extents, strides, 1);
    const Graph g;
    auto session = open_pipelined<P, 2>(g.graph, busy<P>());
    require_ok(session.upload(g.w, host.w));
    DynamicBindings bindings(session);
    require_ok(bindings.bind(g.x.key.tensor(), x.data(), layout));
    require_ok(bindings.bind(g.y.key.tensor(), y.data(), layout));
    require_ok(bindings.bind(g.s.key.tensor(), host.s.data(), Bytes{Graph::n * sizeof(float)}));
    bool is_right = true;
    for (int round = 0; round < 3; ++round) {
      const auto check = [&is_right, &y](Status status) noexcept {
        is_right = is_right && status.ok() && y[0] == 9 && y[1] == 0 && y[2 * Graph::n - 2] == 9;
      };
      require_ok(session.submit_round(bindings, check).submitted());
    }
    return session.wait_all().ok() && session.close().ok() && is_right && host.s == Floats(Graph::n, 16);
  }
};

/// y = 2 x, in 100 µs, which is worth a thread.
struct Slow {
  static constexpr std::string_view name = "slow";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds{100};
    while (std::chrono::steady_clock::now() < end) {
    }
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};

/// Learns the costs of the tasks, distributes them over threads, and goes on learning. Rounds in flight begin to
/// overlap.
template <class P, std::size_t depth>
struct Learning {
  static bool live() {
    Floats in(4, 1), a(4), b(4);
    TaskGraph graph;
    const auto x = graph.input<float>("x", {4});
    const auto y = graph.output<float>("y", {4});
    const auto z = graph.output<float>("z", {4});
    graph.add<Slow>(x, y);
    graph.add<Slow>(x, z);
    typename P::Options options{};
    options.engine.threads = 2;
    options.engine.learning_rounds = 3;
    options.engine.trial_rounds = 4;
    options.engine.look_rounds = 4;
    auto session = open_pipelined<P, depth>(graph, options);
    for (int round = 0; round < 24; ++round) {
      require_ok(session.submit_round(bind(x, in), bind(y, a), bind(z, b)).submitted());
    }
    return session.wait_all().ok() && session.close().ok() && a == Floats(4, 2) && b == Floats(4, 2);
  }
};

/// Shapes that are new while rounds are in flight, bound at run time.
template <class P>
struct ShapesInFlight {
  static bool live() {
    Floats host(6, 2), result(6);
    TaskGraph graph;
    const Dim rows = graph.dim("rows");
    const auto x = graph.input<float>("x", {rows});
    const auto y = graph.output<float>("y", {rows});
    graph.add<kernels::Scale>(x, y, 3.0F);
    auto session = open_shaped<P, DefaultPolicies, launch::Lru<2>, 2>(std::move(graph), busy<P>());
    DynamicBindings bindings(session);
    for (const std::size_t n : {4U, 6U, 4U, 5U, 6U}) {
      require_ok(bindings.bind(x.key.tensor(), host.data(), Bytes{n * sizeof(float)}));
      require_ok(bindings.bind(y.key.tensor(), result.data(), Bytes{n * sizeof(float)}));
      require_ok(session.submit_round(bindings).submitted());  // prepares the shape, which allocates
    }
    return session.wait_all().ok() && session.close().ok() && result == Floats(6, 6);
  }
};

/// A loop in the graph.
template <class P>
struct Looping {
  static bool live() {
    counting::Counting loops;
    auto session = open<P>(loops.graph, busy<P>());
    bool is_right = true;
    for (counting::Int n = 1; n <= 3; ++n) {
      is_right = loops.count_of(session, n) == n && is_right;
      require_ok(loops.status);
    }
    return session.close().ok() && is_right;
  }
};

/// A library call, which is captured.
template <class P>
struct Calling {
  static bool live() {
    Floats in(4, 2), out(4);
    TaskGraph graph;
    const auto x = graph.input<float>("x", {4});
    const auto t = graph.workspace<float>("t", {4});
    const auto y = graph.output<float>("y", {4});
    graph.add<kernels::Scale>(x, t, 3.0F);
    graph.add_call("copy", {reads(t), writes(y)}, [](const LibraryCall& call) {
      return P::enqueue_copy(call.stream(), call.data<float>(1), call.data<float>(0), 4 * sizeof(float));
    });
    auto session = open_pipelined<P, 2>(graph, busy<P>());
    for (int round = 0; round < 2; ++round) {
      require_ok(session.submit_round(bind(x, in), bind(y, out)).submitted());
    }
    return session.wait_all().ok() && session.close().ok() && out == Floats(4, 6);
  }
};

template <class P>
struct Checkpointed {
  static bool live() {
    Host host;
    const Graph g;
    const auto opener = [&](const typename P::Options& options) { return open<P>(g.graph, options); };
    Recoverable session(opener, busy<P>());
    require_ok(session->upload(g.w, host.w));
    require_ok(session.checkpoint());
    session.recover();
    const Status ran = session->run_round(bind(g.x, host.x), bind(g.y, host.y), bind(g.s, host.s));
    return ran.ok() && host.is_right();
  }
};

template <class P>
struct OfShapes {
  static bool live() {
    Floats host(6, 2), result(6);
    TaskGraph graph;
    const Dim rows = graph.dim("rows");
    const auto x = graph.input<float>("x", {rows});
    const auto t = graph.workspace<float>("t", {rows});
    const auto y = graph.output<float>("y", {rows});
    graph.add<kernels::Scale>(x, t, 2.0F);
    graph.add<kernels::Scale>(t, y, 3.0F);
    auto session = open_shaped<P>(std::move(graph), busy<P>());
    for (const std::size_t n : {4U, 6U}) {
      const std::span<float> in(host.data(), n), out(result.data(), n);
      require_ok(session.run_round(bind(x, in), bind(y, out)));  // prepares the shape, which allocates
    }
    return session.close().ok() && result == Floats(6, 12);
  }
};

template <class P>
struct BuiltInRounds {
  struct Policies : DefaultPolicies {
    using Runtime = runtime::TensorMapRingBuffer;
  };
  static bool live() {
    Floats in(8, 2), out(8, 1);
    TaskGraph graph;
    const auto x = graph.input<float>("x", {8});
    const auto y = graph.inout<float>("y", {8});
    runtime::OrchestratedOptions<P> all{busy<P>(), {}};
    all.orchestration.window = all.orchestration.tensors = 16;
    all.orchestration.regions = all.orchestration.edges = 256;
    all.orchestration.ring_bytes = Bytes{1U << 16};
    auto session = open<P, Policies>(
        graph,
        [=](auto& round) {
          const auto scope = round.scope();
          const auto t = round.template workspace<float>({8});
          round.template add<kernels::Scale>(x, t, 3.0F);
          round.template add<kernels::Accumulate>(t, y);
        },
        all);
    require_ok(session.run_round(bind(x, in), bind(y, out)));
    return session.close().ok() && out == Floats(8, 7);
  }
};

/// A graph whose tasks change places is moved into its frozen form, or stays as it was.
struct Freezing {
  static bool live() {
    TaskGraph graph{Edges::explicit_};
    const auto x = graph.input<float>("x", {8});
    const auto s = graph.inout<float>("s", {8});
    const TaskId second = graph.add<kernels::Accumulate>(x, s);
    const TaskId first = graph.add<kernels::Accumulate>(x, s);
    graph.add_edge(first, second);
    try {
      const FrozenGraph frozen = freeze(std::move(graph));
      return frozen.view().tasks[0].added_as == index(first);
    } catch (const std::bad_alloc&) {
      CHECK(graph.tensors().size() == 2);  // NOLINT(bugprone-use-after-move)
      CHECK(graph.tasks().size() == 2);
      CHECK(graph.args().size() == graph.tasks()[1].first_arg + graph.tasks()[1].arg_count);
      CHECK(freeze(graph).view().tasks.size() == 2);
      throw;
    }
  }
};

/// A life over a stand-in, whose log of calls is emptied at the end, so that the memory before and after is the same.
template <class Life>
struct OverStandIn {
  static bool live() {
    struct Log {
      Log() = default;
      Log(const Log&) = delete;
      Log& operator=(const Log&) = delete;
      ~Log() {
        rondo_stand_in_reset();
        rondo_cuda_stand_in_reset();
      }
    };
    const Log log;
    return Life::live();
  }
};

}  // namespace

TEST_CASE_TEMPLATE("Each allocation of a session's life fails once", Life, OneByOne<A2A3Sim>, OneByOne<A5SimOn<Pool>>,
                   OneByOne<A2A3SimOn<Model>>, OneByOne<A5SimOn<Checked<Pool>>>, OneByOne<HostOn<Pool>>,
                   InFlight<A2A3SimOn<Pool>>, InFlight<A5SimOn<Model>>, StridedInFlight<A2A3SimOn<Pool>>,
                   Checkpointed<A2A3SimOn<Pool>>, OfShapes<A5Sim>, OfShapes<A2A3SimOn<Pool>>,
                   BuiltInRounds<A2A3SimOn<Pool>>, Learning<A2A3SimOn<Pool>, 1>, Learning<HostOn<Pool>, 3>,
                   ShapesInFlight<A5Sim>, ShapesInFlight<A2A3SimOn<Pool>>, Looping<A2A3Sim>, Looping<A2A3SimOn<Pool>>,
                   Looping<A2A3SimOn<Model>>, OverStandIn<OneByOne<A2A3OverStandIn>>,
                   OverStandIn<InFlight<A2A3OverStandIn>>, OverStandIn<OfShapes<A5OverStandIn>>,
                   OverStandIn<OneByOne<CudaOverStandIn>>, OverStandIn<InFlight<CudaOverStandIn>>,
                   OverStandIn<OfShapes<CudaOverStandIn>>, OverStandIn<Looping<CudaOverStandIn>>,
                   OverStandIn<Looping<A2A3OverStandIn>>, OverStandIn<Looping<A5OverStandIn>>,
                   OverStandIn<StridedInFlight<CudaOverStandIn>>, OverStandIn<StridedInFlight<A5OverStandIn>>,
                   OverStandIn<ShapesInFlight<CudaOverStandIn>>, OverStandIn<ShapesInFlight<A2A3OverStandIn>>,
                   OverStandIn<Calling<CudaOverStandIn>>, OverStandIn<Calling<A2A3OverStandIn>>) {
  const auto failed = fail_each_use(SystemCall::allocate, {ENOMEM}, &Life::live, [](const Outcome& outcome) {
    // What is not told was not needed, such as room to sort faster.
    CHECK((outcome.told.empty() || outcome.told.find("memory") != std::string::npos));
  });
  CHECK(failed > 20);
}

TEST_CASE("Each allocation of a graph that is frozen fails once, and a graph that is not frozen then is what it was") {
  CHECK(fail_each_use(SystemCall::allocate, {ENOMEM}, &Freezing::live, [](const Outcome&) {}) > 10);
}

TEST_CASE_TEMPLATE("Each thread of a session fails to start once", Life, OneByOne<A5SimOn<Pool>>,
                   OneByOne<HostOn<Pool>>, InFlight<A2A3Sim>, InFlight<A2A3SimOn<Pool>>, Checkpointed<A2A3SimOn<Pool>>,
                   BuiltInRounds<A2A3SimOn<Pool>>, OverStandIn<OneByOne<A2A3OverStandIn>>) {
  const auto failed = fail_each_use(SystemCall::thread, {EAGAIN}, &Life::live, [](const Outcome& outcome) {
    CHECK(outcome.told.find("could not be started") != std::string::npos);
  });
  CHECK(failed > 0);
}
