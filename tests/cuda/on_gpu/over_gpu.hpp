// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/cuda/cuda.hpp>
#include <rondo/platform/select.hpp>

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

/// What the conformance suite needs to run on a GPU: kernels as PTX, and access to device memory without the platform.
namespace cuda_on_gpu {

/// A kernel of a test: the function that simulations call, and the same as PTX, whose entry is called `placeholder`.
struct Kernel {
  static constexpr const char* placeholder = "rondo_test_kernel";
  void (*entry)(rondo::ArgWord*);
  const char* ptx;
};
inline std::vector<Kernel>& kernels() {
  static std::vector<Kernel> kernels;
  return kernels;
}
/// One object of this type in each source adds its kernels before main().
struct AddKernels {
  explicit AddKernels(std::span<const Kernel> added) { kernels().insert(kernels().end(), added.begin(), added.end()); }
};

/// Finds a call of the driver, which the platform has opened before.
template <class F>
F* driver_call(const char* symbol) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* const found = library == nullptr ? nullptr : dlsym(library, symbol);
  if (found == nullptr) {
    std::fprintf(stderr, "libcuda.so.1 has no %s\n", symbol);
    std::abort();
  }
  return reinterpret_cast<F*>(found);
}

/// Makes a module of a graph's kernels when the graph is loaded. It must live as long as the platform that reads it.
class KernelsOfGraph {
 public:
  KernelsOfGraph() = default;
  KernelsOfGraph(const KernelsOfGraph&) = delete;
  KernelsOfGraph& operator=(const KernelsOfGraph&) = delete;

 protected:
  [[nodiscard]] rondo::platform::cuda::Options options_for(rondo::platform::cuda::Options options) {
    if (options.kernels.empty()) options.kernels = {&module_, 1};
    return options;
  }
  void take(const rondo::graph::GraphView& view) {
    text_ = ".version 6.3\n.target sm_70\n.address_size 64\n";
    for (std::size_t t = 0; t < view.tasks.size(); ++t) {
      const rondo::graph::TaskRecord& task = view.tasks[t];
      if (task.call != nullptr || task.fills || task.entry == &rondo::graph::decide) continue;  // no kernel
      const std::string entry = ".entry " + std::string(view.name(task.name)) + "(";
      if (text_.find(entry) == std::string::npos) text_ += ptx_of(task.entry, std::string(view.name(task.name)));
    }
    module_ = rondo::CudaModule::from_text(text_);
  }

 private:
  static std::string ptx_of(void (*entry)(rondo::ArgWord*), const std::string& name) {
    for (const Kernel& kernel : kernels()) {
      if (kernel.entry != entry) continue;
      std::string text = kernel.ptx;
      const std::string placeholder = Kernel::placeholder;
      for (auto at = text.find(placeholder); at != std::string::npos; at = text.find(placeholder, at + name.size())) {
        text.replace(at, placeholder.size(), name);
      }
      return text;
    }
    throw rondo::Error(rondo::Errc::invalid_argument, rondo::Error::Text{"no PTX for kernel ", name.c_str()});
  }
  std::string text_;
  rondo::CudaModule module_;
};

/// The platform on a GPU, which has the kernels of every graph that is loaded.
template <class RoundEvents = rondo::platform::streams::NoRoundEvents>
class OnGpu : private KernelsOfGraph, public rondo::platform::Cuda<RoundEvents> {
  using Base = rondo::platform::Cuda<RoundEvents>;

 public:
  static constexpr bool runs_over_stand_in = true;  // as far as tests ask: a device whose memory the host cannot read
  using Timed = OnGpu<rondo::platform::streams::RoundEvents>;
  using Options = typename Base::Options;
  explicit OnGpu(const Options& options) : Base(options_for(options)) {}

  template <class Graph>
  [[nodiscard]] typename Base::Program load(const Graph& graph, rondo::args::ArgsTable& args) {
    take(graph.view());
    return Base::load(graph, args);
  }
  /// Stands for a library's operator: enqueues a copy within the device on the stream.
  static int enqueue_copy(void* stream, void* to, const void* from, std::size_t bytes) {
    static auto* const copy =
        driver_call<int(std::uint64_t, std::uint64_t, std::size_t, void*)>("cuMemcpyDtoDAsync_v2");
    return copy(reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from), bytes, stream);
  }
};

}  // namespace cuda_on_gpu

using CudaOverStandIn = cuda_on_gpu::OnGpu<>;

/// Read and write device memory, as the functions of the stand-in with these names do.
inline bool rondo_cuda_stand_in_peek(std::uint64_t address, void* to, std::size_t size) {
  return cuda_on_gpu::driver_call<int(void*, std::uint64_t, std::size_t)>("cuMemcpyDtoH_v2")(to, address, size) == 0;
}
inline bool rondo_cuda_stand_in_poke(std::uint64_t address, const void* from, std::size_t size) {
  const int code =
      cuda_on_gpu::driver_call<int(std::uint64_t, const void*, std::size_t)>("cuMemcpyHtoD_v2")(address, from, size);
  // The call returns when it has read pageable memory, so the copy may still be under way, and sessions' streams do not
  // wait for the stream that it is on.
  return code == 0 && cuda_on_gpu::driver_call<int()>("cuCtxSynchronize")() == 0;
}
