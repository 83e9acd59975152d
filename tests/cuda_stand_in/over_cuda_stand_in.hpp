// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_stand_in/control.hpp"

#include <rondo/platform/cuda/cuda.hpp>
#include <rondo/platform/select.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

extern "C" int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t size, void* stream);

namespace cuda_stand_in {

/// The number of live objects that belong to a test and not to the code under test.
inline std::atomic<std::uint64_t>& live_of_others() {
  static std::atomic<std::uint64_t> count{0};
  return count;
}

/// Ends the test program with a list of all misuses that the stand-in noted.
inline void must_be_clean(bool is_last) {
  static char text[4096];
  const auto misuses = rondo_cuda_stand_in_misuses(text, sizeof(text));
  const auto live = is_last ? rondo_cuda_stand_in_live(nullptr) : 0;
  if (misuses == 0 && live <= live_of_others()) return;
  std::fprintf(stderr, "the CUDA stand-in found %llu misuses, %llu things live at the end:\n%s",
               static_cast<unsigned long long>(misuses), static_cast<unsigned long long>(live), text);
  for (const char* const what :
       {"memory", "pinned", "streams", "events", "graphs", "executables", "modules", "contexts"}) {
    std::fprintf(stderr, "  %s: %llu\n", what, static_cast<unsigned long long>(rondo_cuda_stand_in_live(what)));
  }
  std::abort();
}

/// Makes a module of a graph's kernels when the graph is loaded. It must live as long as the platform that reads it.
class KernelsOfGraph {
 public:
  KernelsOfGraph() { ++alive(); }
  KernelsOfGraph(const KernelsOfGraph&) = delete;
  KernelsOfGraph& operator=(const KernelsOfGraph&) = delete;
  /// A lost context is lost for the whole process. So that each test gets a new one, the stand-in acts as if the
  /// process ended here, unless a test has something on the device.
  ~KernelsOfGraph() {
    const bool is_last = --alive() == 0;
    must_be_clean(is_last);
    if (is_last && live_of_others() == 0) rondo_cuda_stand_in_end_process();
  }

 protected:
  [[nodiscard]] rondo::platform::cuda::Options options_for(rondo::platform::cuda::Options options) {
    if (options.kernels.empty()) options.kernels = {&module_, 1};
    // No test fails because the machine is busy for as long as the usual limit.
    const std::int32_t usual = rondo::platform::cuda::Options{}.timeout_ms;
    if (options.timeout_ms == usual) options.timeout_ms = std::numeric_limits<std::int32_t>::max();
    return options;
  }
  void take(const rondo::graph::GraphView& view) {
    ModuleImage image;
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
      image.add(view.name(task.name), task.entry, task.block_bytes);
    }
    bytes_ = image.bytes();
    module_ = rondo::CudaModule::from_memory(bytes_);
  }

 private:
  static std::atomic<int>& alive() {
    static std::atomic<int> count{0};
    return count;
  }
  std::vector<std::byte> bytes_;
  rondo::CudaModule module_;
};

/// The platform over the stand-in, whose device has the kernels of every graph that is loaded, so that tests need no
/// modules of their own.
template <class RoundEvents = rondo::platform::streams::NoRoundEvents>
class OverStandIn : private KernelsOfGraph, public rondo::platform::Cuda<RoundEvents> {
  using Base = rondo::platform::Cuda<RoundEvents>;

 public:
  static constexpr bool runs_over_stand_in = true;
  using Timed = OverStandIn<rondo::platform::streams::RoundEvents>;
  using Options = typename Base::Options;
  explicit OverStandIn(const Options& options) : Base(options_for(options)) {}

  template <class Graph>
  [[nodiscard]] typename Base::Program load(const Graph& graph, rondo::args::ArgsTable& args) {
    take(graph.view());
    return Base::load(graph, args);
  }
  /// Stands for a library's operator: enqueues a copy within the device on the stream.
  static int enqueue_copy(void* stream, void* to, const void* from, std::size_t bytes) {
    return cuMemcpyDtoDAsync_v2(reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from), bytes,
                                stream);
  }
};

}  // namespace cuda_stand_in

using CudaOverStandIn = cuda_stand_in::OverStandIn<>;
static_assert(rondo::check_platform<CudaOverStandIn>());
