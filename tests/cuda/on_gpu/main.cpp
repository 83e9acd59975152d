// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The platform Cuda against the simulation, with kernels that are PTX: integers bit for bit, floats within 1e-6. Needs
// a GPU and its driver, or the stand-in for it. Prints one line for each check; ends with 0 if all of them hold.

#include "kernels.hpp"

#include <rondo/platform/cuda/cuda.hpp>
#include <rondo/platform/cuda/nccl.hpp>
#include <rondo/rondo.hpp>

#ifdef RONDO_OVER_CUDA_STAND_IN
#include "cuda_stand_in/control.hpp"
#endif

#include <dlfcn.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace rondo;
using on_gpu::Word;
using Words = std::vector<Word>;

int failures = 0;
void check(bool holds, const std::string& what) {
  std::printf("%s %s\n", holds ? "ok    " : "FAILED", what.c_str());
  failures += holds ? 0 : 1;
}

constexpr std::size_t n = 10'000;
constexpr std::size_t width = 24;

/// A graph of integers, three layers deep and `width` wide.
struct Integers {
  Integers() {
    for (std::size_t i = 0; i < width; ++i) {
      const std::string number = std::to_string(i);
      const auto a = graph.workspace<Word>("a" + number, {n});
      const auto b = graph.workspace<Word>("b" + number, {n});
      graph.add<on_gpu::Mix>(Blocks{7}, x, y, a);
      graph.add<on_gpu::Mix>(Blocks{1 + i}, a, x, b);
      graph.add<on_gpu::Fold>(b, s);
    }
  }
  TaskGraph graph;
  Input<Word> x = graph.input<Word>("x", {n});
  Input<Word> y = graph.input<Word>("y", {n});
  InputOutput<Word> s = graph.inout<Word>("s", {n});
};

Words numbers(Word seed) {
  Words words(n);
  for (Word& word : words) word = seed = seed * 1664525 + 1013904223;
  return words;
}

/// The contents of s after fifty rounds.
template <class P, class Policies = DefaultPolicies>
Words fifty_rounds() {
  const Integers g;
  auto session = open<P, Policies>(g.graph);
  Words s(n, 1);
  for (Word round = 0; round < 50; ++round) {
    const Words x = numbers(round), y = numbers(1000 + round);
    if (const Status status = session.run_round(bind(g.x, x), bind(g.y, y), bind(g.s, s)); !status) {
      std::printf("%s\n", session.explain(status).c_str());
      return {};
    }
  }
  return s;
}

/// The same with the inputs in device memory of the caller, at another address in each round.
template <class Policies>
Words fifty_moving_rounds() {
  const Integers g;
  auto session = open<Cuda, Policies>(g.graph);
  const Bytes bytes{n * sizeof(Word)};
  DevicePtr<std::byte> at[4];
  for (auto& block : at) block = session.platform().allocate(bytes, Bytes{256});
  Words s(n, 1);
  for (Word round = 0; round < 50; ++round) {
    const Words x = numbers(round), y = numbers(1000 + round);
    const auto dx = at[round % 2], dy = at[2 + round / 2 % 2];
    Status status = session.platform().copy_in(dx, x.data(), bytes);
    if (status.ok()) status = session.platform().copy_in(dy, y.data(), bytes);
    if (status.ok()) status = session.platform().wait();
    const DeviceSpan<const Word> in{dx.as<const Word>(), n}, other{dy.as<const Word>(), n};
    if (status.ok()) status = session.run_round(bind(g.x, in), bind(g.y, other), bind(g.s, s));
    if (!status.ok()) {
      std::printf("%s\n", session.explain(status).c_str());
      return {};
    }
  }
  for (const auto block : at) (void)session.platform().release(block);
  return s;
}
template <update::Mechanism M>
struct By : DefaultPolicies {
  using Refresh = update::Always<M>;
};

/// Fifty rounds with three of them in flight, each with an s of its own.
template <class P>
std::vector<Words> in_flight() {
  const Integers g;
  auto session = open_pipelined<P, 3>(g.graph);
  std::vector<Words> x, y, s(50, Words(n, 1));
  std::vector<RoundTicket> tickets;
  for (Word round = 0; round < 50; ++round) {
    x.push_back(numbers(round));
    y.push_back(numbers(1000 + round));
    tickets.push_back(session.submit_round(bind(g.x, x[round]), bind(g.y, y[round]), bind(g.s, s[round])));
  }
  for (const auto ticket : tickets) {
    if (const Status status = session.wait(ticket); !status.ok()) std::printf("%s\n", session.explain(status).c_str());
  }
  return s;
}

template <class P>
std::vector<float> floats() {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.inout<float>("y", {n});
  graph.add<on_gpu::Axpy>(x, y, 0.3F);
  auto session = open<P>(graph);
  std::vector<float> hx(n), hy(n, 0.1F);
  for (std::size_t i = 0; i < n; ++i) hx[i] = 1.0F / static_cast<float>(i + 1);
  for (int round = 0; round < 20; ++round) (void)session.run_round(bind(x, hx), bind(y, hy));
  return hy;
}

/// The only rank of a communicator, which is what one GPU can have.
struct Alone {
  static int rank() { return 0; }
  static int size() { return 1; }
  static std::vector<std::uint64_t> gather(std::span<const std::uint64_t> numbers) {
    return {numbers.begin(), numbers.end()};
  }
};

/// Whether collectives of one rank leave the results of kernels as they are, in CUDA graphs.
bool reduces_alone(NcclCommunicator& ranks) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.inout<float>("y", {n});
  const auto all = graph.output<float>("all", {1, n});
  graph.add<on_gpu::Axpy>(x, y, 2.0F);
  graph.add_collective(Collective::all_reduce, y, ranks);
  graph.add_collective(Collective::all_gather, y, all, ranks);
  auto session = open<Cuda>(graph);
  bool right = true;
  for (int round = 0; round < 20; ++round) {
    const std::vector<float> hx(n, static_cast<float>(round));
    std::vector<float> hy(n, 1), hall(n);
    const Status status = session.run_round(bind(x, hx), bind(y, hy), bind(all, hall));
    if (!status.ok()) std::printf("%s\n", session.explain(status).c_str());
    const std::vector<float> expected(n, static_cast<float>(1 + 2 * round));
    right = right && status.ok() && hy == expected && hall == expected;
  }
  return right && session.platform().is_captured();
}
/// The same, where NCCL is installed.
void check_collectives() {
  std::unique_ptr<NcclCommunicator> ranks;
  try {
    ranks = std::make_unique<NcclCommunicator>(Alone{});
  } catch (const Error& e) {
    if (e.code() != Errc::unsupported) throw;
    std::printf("skipped: %s\n", e.what());
    return;
  }
  check(reduces_alone(*ranks), "collectives of NCCL are captured with the graph");
}

#ifndef RONDO_OVER_CUDA_STAND_IN
/// The calls of cuBLAS that a matrix product needs, from its library if there is one.
struct Blas {
  Blas() {
    for (const char* const name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"}) {
      if (library == nullptr) library = dlopen(name, RTLD_NOW);
    }
    if (library == nullptr) return;
    const auto find = [&]<class F>(const char* symbol, F*& call) {
      call = reinterpret_cast<F*>(dlsym(library, symbol));
    };
    find("cublasCreate_v2", create);
    find("cublasDestroy_v2", destroy);
    find("cublasSetStream_v2", set_stream);
    find("cublasSetWorkspace_v2", set_workspace);
    find("cublasSgemm_v2", multiply);
  }
  void* library = nullptr;
  int (*create)(void**) = nullptr;
  int (*destroy)(void*) = nullptr;
  int (*set_stream)(void*, void*) = nullptr;
  int (*set_workspace)(void*, void*, std::size_t) = nullptr;
  int (*multiply)(void*, int, int, int, int, int, const float*, const float*, int, const float*, int, const float*,
                  float*, int) = nullptr;
};

/// A product of cuBLAS between two kernels of the graph, with operands that rounds bind anew: z = 2 (a b) + c.
bool multiplies(const Blas& blas, int& captured) {
  constexpr std::size_t side = 64, size = side * side;
  constexpr std::int64_t elements = size, workspace = 1 << 20;
  void* handle = nullptr;
  const Cuda keeps_context{Cuda::Options{}};
  if (blas.create(&handle) != 0) return false;
  bool right = true;
  {
    TaskGraph graph;
    const auto a = graph.input<float>("a", {elements}), b = graph.input<float>("b", {elements});
    const auto z = graph.inout<float>("z", {elements});
    const auto product = graph.workspace<float>("product", {elements});
    const auto space = graph.workspace<std::uint8_t>("space", {workspace});
    const auto product_of = [&](const LibraryCall& call) {
      const float one = 1, zero = 0;
      int code = blas.set_stream(handle, call.stream());
      if (code == 0) code = blas.set_workspace(handle, call.data<void>(3), workspace);
      if (code != 0) return code;
      const int m = side;
      return blas.multiply(handle, 0, 0, m, m, m, &one, call.data<float>(1), m, call.data<float>(0), m, &zero,
                           call.data<float>(2), m);
    };
    graph.add_call("product", {reads(a), reads(b), writes(product), writes(space)}, product_of);
    graph.add<on_gpu::Axpy>(product, z, 2.0F);
    auto session = open<Cuda>(graph);
    for (int round = 0; round < 20; ++round) {
      std::vector<float> ha(size), hb(size), hz(size), expected(size);
      for (std::size_t i = 0; i < size; ++i) {
        ha[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(round)) % 5);
        hb[i] = static_cast<float>((i * 3) % 7);
        expected[i] = hz[i] = static_cast<float>(i % 11);
      }
      for (std::size_t i = 0; i < side; ++i) {
        for (std::size_t j = 0; j < side; ++j) {
          for (std::size_t k = 0; k < side; ++k) expected[i * side + j] += 2 * ha[i * side + k] * hb[k * side + j];
        }
      }
      const Status status = session.run_round(bind(a, ha), bind(b, hb), bind(z, hz));
      if (!status.ok()) std::printf("%s\n", session.explain(status).c_str());
      right = right && status.ok() && hz == expected;  // small integers: exact in any order
    }
    captured = session.platform().is_captured() ? 1 : 0;
  }
  return blas.destroy(handle) == 0 && right;
}
#endif

/// Whether a capture in the global mode ends well although another thread uses a session meanwhile.
bool captures_beside_a_session() {
  const Cuda keeps_context{Cuda::Options{}};
  const platform::cuda::Calls& driver = platform::cuda::Runtime::instance().calls();
  platform::cuda::Stream stream = nullptr;
  if (driver.create_stream(&stream, platform::cuda::stream_non_blocking, 0) != 0) return false;
  constexpr int global_mode = 0;
  if (driver.begin_capture(stream, global_mode) != 0) return false;
  bool right = false;
  std::thread other([&] {
    try {
      right = fifty_rounds<Cuda>() == fifty_rounds<A2A3Sim>() && in_flight<Cuda>() == in_flight<A2A3Sim>();
    } catch (const Error& e) {
      std::printf("%s\n", e.what());
    }
  });
  other.join();
  platform::cuda::Graph graph = nullptr;
  const bool ended = driver.end_capture(stream, &graph) == 0 && driver.destroy_graph(graph) == 0;
  return driver.destroy_stream(stream) == 0 && ended && right;
}

}  // namespace

int main() {
#ifdef RONDO_OVER_CUDA_STAND_IN
  rondo_cuda_stand_in_kernel("mix", &detail::kernel_entry<on_gpu::Mix>, 8 * 7);
  rondo_cuda_stand_in_kernel("fold", &detail::kernel_entry<on_gpu::Fold>, 8 * 4);
  rondo_cuda_stand_in_kernel("axpy", &detail::kernel_entry<on_gpu::Axpy>, 8 * 5);
#endif
  try {
    const Words expected = fifty_rounds<A2A3Sim>();
    check(fifty_rounds<Cuda>() == expected, "fifty rounds of integers give what the simulation gives");
    check(fifty_moving_rounds<By<update::Mechanism::segment_copy>>() == expected,
          "so they do where buffers move, by copies");
    check(fifty_moving_rounds<By<update::Mechanism::device_op>>() == expected, "by the refresh kernel");
    check(fifty_moving_rounds<By<update::Mechanism::in_launch>>() == expected, "by what its launch carries");
    check(in_flight<Cuda>() == in_flight<A2A3Sim>(), "so do rounds in flight");
    const std::vector<float> here = floats<Cuda>(), there = floats<A2A3Sim>();
    bool close = here.size() == there.size();
    for (std::size_t i = 0; i < here.size(); ++i)
      close = close && std::abs(here[i] - there[i]) <= 1e-6F * std::abs(there[i]);
    check(close, "floats differ by at most 1e-6");
    check_collectives();
    check(captures_beside_a_session(), "sessions do not disturb what another thread captures in the global mode");
#ifndef RONDO_OVER_CUDA_STAND_IN
    int captured = 0;
    if (const Blas blas; blas.library == nullptr) {
      std::printf("skipped: there is no library of cuBLAS\n");
    } else {
      check(multiplies(blas, captured), "products of cuBLAS are tasks of a graph");
      check(captured == 1, "they are captured");
    }
#endif
  } catch (const Error& e) {
    check(false, e.what());
  }
  return failures == 0 ? 0 : 1;
}
