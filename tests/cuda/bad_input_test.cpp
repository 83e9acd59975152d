// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What users of the platform Cuda hand in that it cannot take, and what it says then.

#include "cuda/fixture.hpp"

#include <rondo/platform/cuda/library.hpp>
#include <rondo/platform/cuda/runtime.hpp>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <initializer_list>

#include <cstdlib>
#include <string_view>

using namespace rondo;
using namespace cuda_test;

namespace {

struct TooManyThreads : kernels::Add {
  static constexpr std::uint32_t threads = 1025;
};
struct MuchShared : kernels::Add {
  static constexpr std::uint32_t shared_bytes = 100'000;
};
struct TooMuchShared : kernels::Add {
  static constexpr std::uint32_t shared_bytes = 200'000;
};
template <class K>
struct One {
  explicit One(Blocks blocks = Blocks{1}) { graph.add<K>(blocks, x, x, y); }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {4});
  Output<float> y = graph.output<float>("y", {4});
};

constexpr const char* ptx_for_a_later_chip = "\n.version 6.3\n.target sm_90\n";
constexpr const char* ptx_for_a_newer_driver = "\n.version 9.9\n.target sm_70\n";

}  // namespace

TEST_CASE("a kernel that is in no module is named, with how many modules were looked at") {
  const Clean clean;
  const Graph g;
  const CudaModule empty = CudaModule::from_text("\n.version 6.3\n.target sm_70\n");
  P::Options options;
  options.kernels = {&empty, 1};
  const auto [code, text] = refusal(g.graph, options);
  CHECK(code == Errc::invalid_argument);
  CHECK(has(text, "kernel 'add' is in none of the"));
}

TEST_CASE("a module that is not there, is nothing, or is for another chip or a newer driver, says so") {
  const Clean clean;
  const Graph g;
  const auto refuse = [&](const CudaModule& module) {
    P::Options options;
    options.kernels = {&module, 1};
    return refusal(g.graph, options);
  };
  auto told = refuse(CudaModule::from_file("/no/such/file.ptx"));
  CHECK(told.first == Errc::invalid_argument);
  CHECK(has(told.second, "/no/such/file.ptx"));
  CHECK(has(told.second, "No such file"));
  told = refuse(CudaModule::from_file("/"));
  CHECK(told.first == Errc::invalid_argument);
  CHECK(has(told.second, "Is a directory"));
  told = refuse(CudaModule::from_file("/dev/null"));
  CHECK(told.first == Errc::invalid_argument);
  CHECK(has(told.second, "/dev/null is empty"));
  told = refuse(CudaModule::from_text("garbage"));
  CHECK(told.first == Errc::unsupported);
  told = refuse(CudaModule::from_text(ptx_for_a_later_chip));
  CHECK(told.first == Errc::unsupported);
  CHECK(has(told.second, "compute capability 8.0"));
  CHECK(has(told.second, "209"));
  told = refuse(CudaModule::from_text(ptx_for_a_newer_driver));
  CHECK(told.first == Errc::unsupported);
  CHECK(has(told.second, "222"));
  told = refuse(CudaModule::from_text("\177ELF for another chip"));
  CHECK(told.first == Errc::unsupported);
  told = refuse(CudaModule::from_text("no version. no target."));
  CHECK(has(told.second, "the compiler said: ptxas"));
}

TEST_CASE("a kernel that takes no argument is refused") {
  const Clean clean;
  TaskGraph graph;
  graph.add_raw("idle", CoreType::vector, +[](ArgWord*) {});
  const auto [code, text] = refusal(graph);
  CHECK(code == Errc::unsupported);
  CHECK(has(text, "kernel 'idle' takes no argument"));
}

TEST_CASE("memory that nobody released goes with the platform") {
  const Clean clean;
  const Graph g;
  auto session = open<P>(g.graph);
  (void)session.platform().allocate(Bytes{64}, Bytes{64});
  (void)session.platform().allocate_pinned(Bytes{64});
  CHECK(session.close().ok());
}

TEST_CASE("threads and shared memory beyond the device's limits are refused when the session opens") {
  const Clean clean;
  auto told = refusal(One<TooManyThreads>().graph);
  CHECK(told.first == Errc::limit_exceeded);
  CHECK(has(told.second, "asks for 1025 threads per block, the most here is 1024"));
  told = refusal(One<TooMuchShared>().graph);
  CHECK(told.first == Errc::limit_exceeded);
  CHECK(has(told.second, "200000 bytes of shared memory, the most here is 166912"));
  CHECK(refusal(One<MuchShared>().graph).first == Errc::ok);  // above what every kernel may use, so it is asked for
}

TEST_CASE("a grid beyond the device's limits is refused when the session opens") {
  const Clean clean;
  const auto told = refusal(One<kernels::Add>(Blocks{0x8000'0000U}).graph);
  CHECK(told.first == Errc::limit_exceeded);
  CHECK(has(told.second, "2147483648 blocks"));
}

TEST_CASE("a device that is not there, and a time limit that is none, are refused") {
  const Clean clean;
  const Graph g;
  P::Options options;
  options.device = 1;
  auto told = refusal(g.graph, options);
  CHECK(told.first == Errc::no_such_device);
  CHECK(has(told.second, "there is no device 1, the machine has 1"));
  options = {};
  options.timeout_ms = 0;
  CHECK(refusal(g.graph, options).first == Errc::invalid_argument);
}

TEST_CASE("a driver that is not there says where it was looked for") {
  REQUIRE(setenv("RONDO_CUDA_LIBRARY", "libno_such_cuda.so.1", 1) == 0);
  platform::cuda::Calls calls;
  std::string text;
  try {
    platform::cuda::open_library(calls);
  } catch (const Error& e) {
    CHECK(e.code() == Errc::no_such_device);
    text = e.what();
  }
  CHECK(has(text, "libno_such_cuda.so.1 not found"));
  CHECK(has(text, "RONDO_CUDA_LIBRARY"));
  REQUIRE(unsetenv("RONDO_CUDA_LIBRARY") == 0);
}

TEST_CASE("a driver that is too old for a call is an error that names version and call, unless there is another way") {
  using platform::cuda::Calls;
  static int version_asked = 0;
  const auto fill_without = [](std::string_view missing) {
    Calls calls;
    platform::cuda::fill(calls, "libcuda.so.1", [&](const char* name, const char*) -> void* {
      if (name == missing) return nullptr;
      if (name == std::string_view("cuDriverGetVersion")) {
        return reinterpret_cast<void*>(+[](int* version) {
          ++version_asked;
          *version = 9020;
          return 0;
        });
      }
      return reinterpret_cast<void*>(+[] { return 0; });
    });
    return calls;
  };
  Calls table;
  visit_required(table, [&](const char* name, const char*, auto&) {
    std::string text;
    try {
      (void)fill_without(name);
    } catch (const Error& e) {
      CHECK(e.code() == Errc::unsupported);
      text = e.what();
    }
    CAPTURE(text);
    CHECK(has(text, name));
    if (std::string_view(name) != "cuDriverGetVersion") CHECK(has(text, "driver version 9.2"));
  });
  const auto needs = [](std::initializer_list<std::string_view> calls, std::string_view name) {
    return std::ranges::count(calls, name) != 0;
  };
  visit_optional(table, [&](std::string_view name, const char*, auto&) {
    CAPTURE(name);
    const Calls calls = fill_without(name);
    CHECK(calls.has_graphs() != needs({"cuGraphCreate", "cuGraphAddKernelNode", "cuGraphInstantiateWithFlags",
                                       "cuGraphLaunch", "cuGraphExecDestroy", "cuGraphDestroy"},
                                      name));
    CHECK(calls.captures() != needs({"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphAddChildGraphNode"}, name));
    CHECK(calls.has_conditional_nodes() != needs({"cuGraphConditionalHandleCreate", "cuGraphAddNode"}, name));
    CHECK(calls.can_be_captured() != needs({"cuStreamGetCaptureInfo", "cuThreadExchangeStreamCaptureMode"}, name));
  });
  CHECK(version_asked > 0);
}

TEST_CASE("two sessions on two devices each make theirs current") {
  const Clean clean;
  rondo_cuda_stand_in_limit("devices", 2);
  const Graph g;
  P::Options second;
  second.device = 1;
  auto a = open<P>(g.graph);
  auto b = open<P>(g.graph, second);
  rondo_cuda_stand_in_reset();
  rondo_cuda_stand_in_limit("devices", 2);
  for (int round = 0; round < 3; ++round) {
    CHECK(run(a, g, 1.0F).second);
    CHECK(run(b, g, 2.0F).second);
  }
  CHECK(calls("cuCtxSetCurrent") == 6);
  CHECK(a.close().ok());
  CHECK(run(b, g, 3.0F).second);
}

TEST_CASE("a process that was forked from one with a session is told so, in rounds and when it opens") {
  const Clean clean;
  const Graph g;
  auto session = open<P>(g.graph);
  CHECK(run(session, g, 1.0F).second);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Status status = run(session, g, 1.0F).first;
    const auto told = refusal(g.graph);
    const bool right = status.code() == Errc::not_open && told.first == Errc::not_open && has(told.second, "forked");
    _exit(right ? 0 : 1);
  }
  int result = -1;
  REQUIRE(waitpid(child, &result, 0) == child);
  CHECK(WIFEXITED(result));
  CHECK(WEXITSTATUS(result) == 0);
  CHECK(run(session, g, 2.0F).second);
}

TEST_CASE("a caller's stream in capture mode is refused when a session opens, and in a round, which fails alone") {
  const Clean clean;
  const Graph g;
  P keeper{P::Options{}};
  const auto& driver = platform::cuda::Runtime::instance().calls();
  void* stream = nullptr;
  void* graph = nullptr;
  REQUIRE(driver.create_stream(&stream, 1, 0) == 0);
  P::Options options;
  options.stream = stream;
  {
    auto session = open<P>(g.graph, options);
    CHECK(run(session, g, 1.0F).second);
    REQUIRE(cuStreamBeginCapture_v2(stream, 1) == 0);
    const Status status = run(session, g, 2.0F).first;
    CHECK(status.code() == Errc::busy);
    CHECK(!status.poisoned());
    CHECK(has(session.platform().failure_text().c_str(), "capture mode"));
    CHECK(refusal(g.graph, options).first == Errc::busy);
    CHECK(cuStreamEndCapture(stream, &graph) == 0);  // nothing of the round was captured, and nothing spoilt it
    CHECK(run(session, g, 3.0F).second);
  }
  CHECK(driver.destroy_graph(graph) == 0);
  CHECK(driver.destroy_stream(stream) == 0);
}
