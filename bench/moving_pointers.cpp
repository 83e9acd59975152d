// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The cost of a round of n small tasks on a CUDA device whose 64 input buffers move, m of them in each round:
//   moving/rondo         Rondo: one refresh of the args table, one launch of a graph that is never updated
//   moving/set_params    cuGraphExecKernelNodeSetParams for each node whose pointer moved, then a launch of the graph
//   moving/exec_update   the tasks captured again, cuGraphExecUpdate, then a launch of the graph
//   moving/launches      a launch for each task
//   moving/copies/...    the buffers that moved copied into buffers that stay, of 4 KiB and 4 MiB each, then a launch
//                        of the graph
// The time is that of a round and its end on the host. Over the stand-in for the driver, times mean nothing; there the
// counters count the driver calls of a round except waits, `calls`, and the bytes that it moves, `bytes`.
// bench/count_moving_pointers counts instructions.

#include "moving_pointers_kernels/touch.hpp"

#include <rondo/platform/cuda/cuda.hpp>
#include <rondo/rondo.hpp>

#ifdef RONDO_OVER_CUDA_STAND_IN
#include "cuda_stand_in/control.hpp"
#endif

#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace rondo;
namespace cuda = platform::cuda;

constexpr std::size_t buffers = 64;
constexpr std::size_t elements = 4;

#ifdef RONDO_OVER_CUDA_STAND_IN
/// The number of rounds of a case.
int rounds_of_a_case() {
  const char* const wanted = std::getenv("RONDO_BENCH_ROUNDS");
  return wanted == nullptr ? 2 : std::atoi(wanted);
}
#endif

void begin_count() {
#ifdef RONDO_OVER_CUDA_STAND_IN
  rondo_cuda_stand_in_reset();
  rondo_cuda_stand_in_kernel("touch", &detail::kernel_entry<Touch>, 8 * Touch::words);
#endif
}

template <class Round>
[[gnu::noinline]] bool call(Round& round) {
  return round();
}
/// The part that bench/count_moving_pointers counts.
template <class Round>
[[gnu::noinline]] bool measured(benchmark::State& state, Round& round) {
  bool good = true;
  for (auto _ : state) good = good && call(round);
  return good;
}
/// Runs rounds; the first ones, which load and upload, are not counted.
template <class Round>
void run(benchmark::State& state, std::uint64_t bytes_inside, Round round) {
  bool good = round() && round();
  begin_count();
  good = good && measured(state, round);
  if (!good) state.SkipWithError("a round failed");
#ifdef RONDO_OVER_CUDA_STAND_IN
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["calls"] = static_cast<double>(rondo_cuda_stand_in_calls(nullptr)) / rounds;
  state.counters["bytes"] =
      static_cast<double>(rondo_cuda_stand_in_calls("bytes_in") + rondo_cuda_stand_in_calls("bytes_out")) / rounds +
      static_cast<double>(bytes_inside);
#else
  state.counters["bytes_inside"] = static_cast<double>(bytes_inside);
#endif
}

/// Every task reads one of the buffers and adds it to a sum that it shares with the tasks of that buffer.
void with_rondo(benchmark::State& state, std::size_t tasks, std::size_t moved) {
  TaskGraph graph;
  std::vector<Input<float>> inputs;
  std::vector<Resident<float>> sums;
  for (std::size_t b = 0; b < buffers; ++b) {
    inputs.push_back(graph.input<float>("x" + std::to_string(b), {elements}));
    sums.push_back(graph.resident<float>("y" + std::to_string(b), {elements}));
  }
  for (std::size_t t = 0; t < tasks; ++t) graph.add<Touch>(inputs[t % buffers], sums[t % buffers]);
  Cuda::Options options;
#ifdef RONDO_OVER_CUDA_STAND_IN
  options.timeout_ms = -1;  // one call waits, so that instructions do not depend on the clock
#endif
  auto session = open<Cuda>(graph, options);
  for (const auto& sum : sums) (void)session.upload(sum, std::vector<float>(elements));
  const Bytes bytes{elements * sizeof(float)};
  const auto block = session.platform().allocate(Bytes{2 * buffers * 256}, Bytes{256});
  {
    DynamicBindings bindings(session);
    const auto place = [&](std::size_t b, std::size_t side) {
      return bindings.bind(inputs[b].key.tensor(), block.offset(Bytes{(2 * b + side) * 256}), bytes).ok();
    };
    for (std::size_t b = 0; b < buffers; ++b) (void)place(b, 0);
    std::size_t side = 0;
    run(state, 0, [&] {
      side ^= 1;
      bool good = true;
      for (std::size_t b = 0; b < moved; ++b) good = good && place(b, side);
      return good && session.run_round(bindings).ok();
    });
  }
  (void)session.platform().release(block);
}

/// The same rounds by calls of the driver alone: the graph of the tasks, with one table of arguments for each of the
/// two places of the buffers.
class Raw {
 public:
  Raw(std::size_t tasks, std::size_t buffer_bytes)
      : platform_{Cuda::Options{}}, tasks_{tasks}, buffer_bytes_{buffer_bytes}, args_(2 * tasks) {
    memory_ = platform_.allocate(Bytes{3 * buffers * buffer_bytes}, Bytes{256});
    (void)platform_.fill_zeros(memory_, Bytes{3 * buffers * buffer_bytes});
    table_ = platform_.allocate(Bytes{2 * tasks * 8 * Touch::words}, Bytes{256});
    std::vector<std::uint64_t> words;
    for (std::size_t side = 0; side < 2; ++side) {
      for (std::size_t t = 0; t < tasks; ++t) {
        args_[side * tasks + t] = table_.address() + 8 * words.size();
        words.insert(words.end(), {buffer(side, t % buffers), buffer(2, t % buffers), elements, elements});
      }
    }
    (void)platform_.copy_in(table_, words.data(), Bytes{8 * words.size()});
    (void)platform_.wait();
    ok_ = c_.create_stream(&stream_, cuda::stream_non_blocking, 0) == 0 &&
          c_.load_module(&module_, cuda::EmbeddedPtx::first()->text(), 0, nullptr, nullptr) == 0 &&
          c_.get_function(&function_, module_, "touch") == 0 && make_graph();
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    const auto find = [&](auto& call, const char* name) {
      call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(library, name));
      ok_ = ok_ && call != nullptr;
    };
    find(set_params_, "cuGraphExecKernelNodeSetParams");
    find(update_, "cuGraphExecUpdate");
    find(begin_capture_, "cuStreamBeginCapture_v2");
    find(end_capture_, "cuStreamEndCapture");
  }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  ~Raw() {
    (void)c_.destroy_exec(exec_);
    if (graph_ != nullptr) (void)c_.destroy_graph(graph_);
    (void)c_.unload_module(module_);
    (void)c_.destroy_stream(stream_);
    (void)platform_.release(table_);
    (void)platform_.release(memory_);
  }

  bool set_params(std::size_t moved) {
    side_ ^= 1;
    for (std::size_t t = 0; t < tasks_ && ok_; ++t) {
      if (t % buffers >= moved) continue;
      void* parameters[] = {&args_[side_ * tasks_ + t]};
      const cuda::KernelNodeParams node = params(parameters);
      ok_ = set_params_(exec_, nodes_[t], &node) == 0;
    }
    return launch_graph();
  }
  bool exec_update(std::size_t moved) {
    side_ ^= 1;
    if (is_captured_ && moved == 0) return launch_graph();
    void *graph = nullptr, *node = nullptr;
    int result = 0;
    ok_ = ok_ && begin_capture_(stream_, cuda::capture_relaxed) == 0 && launch_all(moved) &&
          end_capture_(stream_, &graph) == 0;
    if (ok_ && !is_captured_) {  // a capture of one stream has other edges than the graph so far
      ok_ = c_.destroy_exec(exec_) == 0 && c_.instantiate(&exec_, graph, 0) == 0;
      is_captured_ = true;
    } else if (ok_) {
      ok_ = update_(exec_, graph, &node, &result) == 0;
    }
    if (graph != nullptr) ok_ = c_.destroy_graph(graph) == 0 && ok_;
    return launch_graph();
  }
  bool launches(std::size_t moved) {
    side_ ^= 1;
    return launch_all(moved) && end();
  }
  bool copies(std::size_t moved) {
    side_ ^= 1;
    for (std::size_t b = 0; b < moved && ok_; ++b) {
      ok_ = c_.copy_inside(buffer(0, b), buffer(1, b), buffer_bytes_, stream_) == 0;
    }
    return launch_graph();
  }

 private:
  [[nodiscard]] std::uint64_t buffer(std::size_t side, std::size_t b) const {
    return memory_.offset(Bytes{(side * buffers + b) * buffer_bytes_}).address();
  }
  [[nodiscard]] cuda::KernelNodeParams params(void** parameters) const {
    return {function_, {1, 1, 1}, {Touch::threads, 1, 1}, 0, parameters, nullptr};
  }
  bool make_graph() {
    bool ok = c_.create_graph(&graph_, 0) == 0;
    for (std::size_t t = 0; t < tasks_ && ok; ++t) {
      void* parameters[] = {&args_[t]};
      const cuda::KernelNodeParams node = params(parameters);
      nodes_.push_back(nullptr);
      const bool has_need = t >= buffers;
      ok = c_.add_kernel_node(&nodes_[t], graph_, has_need ? &nodes_[t - buffers] : nullptr, has_need ? 1 : 0, &node) ==
           0;
    }
    return ok && c_.instantiate(&exec_, graph_, 0) == 0;
  }
  bool launch_all(std::size_t moved) {
    for (std::size_t t = 0; t < tasks_ && ok_; ++t) {
      void* parameters[] = {&args_[(t % buffers < moved ? side_ : 0) * tasks_ + t]};
      ok_ = c_.launch(function_, 1, 1, 1, Touch::threads, 1, 1, 0, stream_, parameters, nullptr) == 0;
    }
    return ok_;
  }
  bool launch_graph() { return ok_ && c_.launch_graph(exec_, stream_) == 0 && end(); }
  bool end() {
#ifdef RONDO_OVER_CUDA_STAND_IN
    return c_.synchronize(stream_) == 0;
#else
    cuda::Result code = cuda::not_ready;
    while (code == cuda::not_ready) code = c_.query_stream(stream_);
    return code == 0;
#endif
  }

  Cuda platform_;  // for its memory, and the context that it makes current
  const cuda::Calls& c_ = cuda::Runtime::instance().calls();
  std::size_t tasks_, buffer_bytes_;
  std::vector<cuda::Pointer> args_;  ///< by place of the buffers, then by task
  DevicePtr<std::byte> memory_, table_;
  cuda::Stream stream_ = nullptr;
  cuda::Module module_ = nullptr;
  cuda::Function function_ = nullptr;
  cuda::Graph graph_ = nullptr;
  cuda::GraphExec exec_ = nullptr;
  std::vector<cuda::GraphNode> nodes_;
  std::size_t side_ = 0;
  bool is_captured_ = false;
  bool ok_ = false;
  cuda::Result (*set_params_)(cuda::GraphExec, cuda::GraphNode, const cuda::KernelNodeParams*) = nullptr;
  cuda::Result (*update_)(cuda::GraphExec, cuda::Graph, cuda::GraphNode*, int*) = nullptr;
  cuda::Result (*begin_capture_)(cuda::Stream, int) = nullptr;
  cuda::Result (*end_capture_)(cuda::Stream, cuda::Graph*) = nullptr;
};

using Contender = bool (Raw::*)(std::size_t);
void register_raw(const std::string& name, Contender contender, std::size_t tasks, std::size_t moved,
                  std::size_t buffer_bytes, bool is_copied) {
  auto* const made = benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    begin_count();
    Raw raw(tasks, buffer_bytes);
    run(state, is_copied ? moved * buffer_bytes : 0, [&] { return (raw.*contender)(moved); });
  });
#ifdef RONDO_OVER_CUDA_STAND_IN
  made->Iterations(rounds_of_a_case());
#else
  made->Unit(benchmark::kMicrosecond);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t tasks : {1U, 20U, 200U, 5'000U}) {
    for (const std::size_t moved : {0U, 1U, 16U, 64U}) {
      const std::string tail = "/tasks:" + std::to_string(tasks) + "/moved:" + std::to_string(moved);
      auto* const rondo = benchmark::RegisterBenchmark(("moving/rondo" + tail).c_str(), [=](benchmark::State& state) {
        begin_count();
        with_rondo(state, tasks, moved);
      });
#ifdef RONDO_OVER_CUDA_STAND_IN
      rondo->Iterations(rounds_of_a_case());
#else
      rondo->Unit(benchmark::kMicrosecond);
#endif
      register_raw("moving/set_params" + tail, &Raw::set_params, tasks, moved, 256, false);
      register_raw("moving/exec_update" + tail, &Raw::exec_update, tasks, moved, 256, false);
      register_raw("moving/launches" + tail, &Raw::launches, tasks, moved, 256, false);
      register_raw("moving/copies/4KiB" + tail, &Raw::copies, tasks, moved, 4096, true);
      register_raw("moving/copies/4MiB" + tail, &Raw::copies, tasks, moved, 4194304, true);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
