// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

/// The parts of a kernel that a CUDA device needs besides its type, for sources that clang compiles without a CUDA
/// toolkit, or nvcc with --expt-relaxed-constexpr.
///
///     #include "saxpy.hpp"  // struct Saxpy: name, core, threads, and run() for simulation
///
///     RONDO_DEVICE void saxpy_on_cuda(rondo::In<float> x, rondo::InOut<float> y, float a) {
///       for (std::size_t i = rondo::cuda::thread(); i < y.size(); i += rondo::cuda::threads()) y[i] += a * x[i];
///     }
///     RONDO_CUDA_KERNEL(saxpy, Saxpy, saxpy_on_cuda)
///
/// The body takes the parameters of run() and is called by every thread of every block; the threads of a block share
/// its work. A kernel of several blocks has a rondo::Block among its parameters, as in simulation.

#if defined(__CUDA__) || defined(__CUDACC__)  // empty for host code

/// Mark a kernel's entry, and a function of the device that an entry calls.
#define RONDO_GLOBAL __attribute__((global))
#define RONDO_DEVICE __attribute__((device))

namespace rondo::cuda {

/// The number of the calling thread in its block, and of threads in a block.
[[nodiscard]] RONDO_DEVICE inline std::size_t thread() {
#if defined(__clang__)
  return static_cast<std::uint32_t>(__nvvm_read_ptx_sreg_tid_x());
#else
  return threadIdx.x;
#endif
}
[[nodiscard]] RONDO_DEVICE inline std::size_t threads() {
#if defined(__clang__)
  return static_cast<std::uint32_t>(__nvvm_read_ptx_sreg_ntid_x());
#else
  return blockDim.x;
#endif
}
/// The number of the calling block in its task.
[[nodiscard]] RONDO_DEVICE inline std::size_t block() {
#if defined(__clang__)
  return static_cast<std::uint32_t>(__nvvm_read_ptx_sreg_ctaid_x());
#else
  return blockIdx.x;
#endif
}
/// Waits for all threads of the block. Afterwards each sees what the others wrote before.
RONDO_DEVICE inline void wait_for_block() { __syncthreads(); }

namespace detail {

/// The number of threads in a block of K: the number that it states, otherwise the platform's default.
template <class K>
[[nodiscard]] consteval std::uint32_t threads_of() {
  if constexpr (StatesThreads<K>) {
    return K::threads;
  } else {
    return 256;
  }
}

/// Calls the body with the parameters of K::run, taken from the arguments of the calling block.
template <class K, auto body, class... P, std::size_t... I>
RONDO_DEVICE inline void call(const ArgWord* args, rondo::detail::ParameterList<P...>, std::index_sequence<I...>) {
  using List = rondo::detail::ParameterList<P...>;
  static_assert(
      std::is_same_v<decltype(body), void (*)(P...)> || std::is_same_v<decltype(body), void (*)(P...) noexcept>,
      "rondo: the body of a kernel for CUDA takes the parameters of the kernel's run() and returns nothing");
  static_assert(!rondo::detail::DeclaresArgs<K>,
                "rondo: a kernel that declares an args format reads its arguments itself; write its entry by hand");
  const ArgWord* const own = args + block() * List::words;
  body(rondo::detail::Parameter<P>::read(own, I, rondo::detail::extents_of(I, List{}))...);
}
template <class K, auto body>
RONDO_DEVICE inline void run(const ArgWord* args) {
  using List = rondo::detail::ParametersOf<K>;
  call<K, body>(args, List{}, std::make_index_sequence<List::size>{});
}

/// Whether `entry` is the name of K in the graph.
template <class K>
[[nodiscard]] consteval bool is_named(std::string_view entry) {
  return std::string_view{K::name.data(), K::name.size()} == entry;
}

}  // namespace detail

}  // namespace rondo::cuda

/// Defines the entry of a kernel: its name, its type, and the function that each thread calls. The entry's one
/// parameter is the address of the arguments of the task's blocks.
#define RONDO_CUDA_KERNEL(entry, Kernel, body)                                                                    \
  static_assert(rondo::cuda::detail::is_named<Kernel>(#entry), "rondo: the entry is not named as the kernel is"); \
  extern "C" RONDO_GLOBAL __attribute__((launch_bounds(rondo::cuda::detail::threads_of<Kernel>()))) void entry(   \
      const rondo::ArgWord* args) {                                                                               \
    rondo::cuda::detail::run<Kernel, &body>(args);                                                                \
  }

#endif
