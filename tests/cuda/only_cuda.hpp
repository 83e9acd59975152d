// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included before the sources of tests/conformance: their cases run for the platform Cuda alone, over the stand-in
// for its driver, wherever they name a platform over a stand-in. Cases that are for other platforms are left out.

#ifdef RONDO_ON_GPU
#include "cuda/on_gpu/over_gpu.hpp"
#else
#include "cuda_stand_in/over_cuda_stand_in.hpp"
#endif
#include "stand_in/over_stand_in.hpp"

#include <doctest/doctest.h>

#include <tuple>
#include <type_traits>

namespace only_cuda {

template <class T, class Wanted>
inline constexpr bool names = std::is_same_v<T, Wanted>;
template <template <class...> class Of, class... T, class Wanted>
inline constexpr bool names<Of<T...>, Wanted> = std::is_same_v<Of<T...>, Wanted> || (names<T, Wanted> || ...);
template <template <class, class, bool> class Of, class A, class B, bool c, class Wanted>
inline constexpr bool names<Of<A, B, c>, Wanted> = names<A, Wanted> || names<B, Wanted>;

template <class Kept, class... T>
struct Filter {
  using Types = Kept;
};
template <class... K, class First, class... T>
struct Filter<std::tuple<K...>, First, T...> {
  static constexpr bool keeps = names<First, CudaOverStandIn> && !(std::is_same_v<K, First> || ...);
  using Types = typename Filter<std::conditional_t<keeps, std::tuple<K..., First>, std::tuple<K...>>, T...>::Types;
};
template <class... T>
using Types = typename Filter<std::tuple<>, T...>::Types;

}  // namespace only_cuda

#define A2A3OverStandIn CudaOverStandIn
#define A5OverStandIn CudaOverStandIn
#define A2A3ThatComputes CudaOverStandIn
#define A5ThatComputes CudaOverStandIn
#define rondo_stand_in_peek rondo_cuda_stand_in_peek
#define rondo_stand_in_poke rondo_cuda_stand_in_poke

#undef TEST_CASE
#define TEST_CASE(text) \
  template <class>      \
  [[maybe_unused]] static void DOCTEST_ANONYMOUS(left_out_)()
#undef DOCTEST_TEST_CASE_TEMPLATE_IMPL
#define DOCTEST_TEST_CASE_TEMPLATE_IMPL(text, T, anon, ...)                              \
  DOCTEST_TEST_CASE_TEMPLATE_DEFINE_IMPL(text, T, DOCTEST_CAT(anon, ITERATOR), anon);    \
  DOCTEST_TEST_CASE_TEMPLATE_INSTANTIATE_IMPL(anon, anon, only_cuda::Types<__VA_ARGS__>) \
  template <typename T>                                                                  \
  static void anon()
