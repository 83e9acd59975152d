// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/kernel.hpp>
#include <rondo/tensor/handle.hpp>

#include <cstddef>
#include <type_traits>

/// What a task is handed, checked against what its kernel takes; shared by all that add tasks.
namespace rondo {

/// A tensor handed to a raw kernel, with what the kernel does to it; made by reads(), writes() and updates().
template <class H>
struct RawTensor {
  H handle;
  Access access;
};
/// The task reads the tensor; for add_raw, whose kernel does not say.
template <class T, Direction D>
[[nodiscard]] constexpr RawTensor<TensorHandle<T, D>> reads(TensorHandle<T, D> h) noexcept {
  return {h, Access::read};
}
/// The task writes all of the tensor; for add_raw.
template <class T, Direction D>
[[nodiscard]] constexpr RawTensor<TensorHandle<T, D>> writes(TensorHandle<T, D> h) noexcept {
  static_assert(kernels_may_write(D), "rondo: the kernel writes a tensor that is an input; make it inout, or read it");
  return {h, Access::write};
}
/// The task reads and writes the tensor; for add_raw.
template <class T, Direction D>
[[nodiscard]] constexpr RawTensor<TensorHandle<T, D>> updates(TensorHandle<T, D> h) noexcept {
  static_assert(kernels_may_write(D), "rondo: the kernel writes a tensor that is an input; make it inout, or read it");
  return {h, Access::read_write};
}

/// A tensor handed to a kernel under another shape of as many elements; made by reshape().
template <class H>
struct Reshaped {
  using element_type = typename H::element_type;
  static constexpr Direction direction = H::direction;
  H handle;
  /// The shape under which the task sees it; as many elements as the tensor has.
  Shape shape;
};
/// The same tensor under another shape: `graph.add<Matmul>(reshape(x, {64, 10}), …)`. The same memory; no copy, no
/// task. That the shape holds as many elements is checked by add().
template <class T, Direction D>
[[nodiscard]] constexpr Reshaped<TensorHandle<T, D>> reshape(TensorHandle<T, D> tensor, Shape shape) noexcept {
  return {tensor, shape};
}

namespace detail {

/// May A stand for a tensor in add<K>()? True for handles; whoever makes another kind of tensor argument says so here.
/// Such a type has `element_type` and `direction`.
template <class A>
inline constexpr bool is_tensor_argument = is_tensor_handle<A>;
template <class H>
inline constexpr bool is_tensor_argument<Reshaped<H>> = true;
template <class A>
inline constexpr bool is_reshaped = false;
template <class H>
inline constexpr bool is_reshaped<Reshaped<H>> = true;

/// One argument of add<K>() against one parameter of K::run. Each failure reads as a sentence.
template <class P, class A>
consteval bool check_argument() {
  using Param = Parameter<P>;
  if constexpr (Param::is_tensor) {
    static_assert(is_tensor_argument<A>,
                  "rondo: the kernel takes a tensor here; pass the handle that the graph gave out");
    if constexpr (is_tensor_argument<A>) {
      static_assert(std::is_same_v<typename A::element_type, typename Param::element_type>,
                    "rondo: the tensor's element type is not that of the kernel's parameter");
      static_assert(!writes(Param::access) || kernels_may_write(A::direction),
                    "rondo: the kernel writes a tensor that is an input; make it inout, or take it as In");
    }
  } else {
    static_assert(!is_tensor_argument<A>, "rondo: the kernel takes a scalar here, not a tensor");
    if constexpr (!is_tensor_argument<A>) {
      static_assert(
          requires(A a) { P{a}; },
          "rondo: the scalar does not convert to the kernel's parameter without "
          "narrowing; cast it to the parameter's type");
    }
  }
  return true;
}

template <std::size_t N, class First, class... Rest>
[[nodiscard]] constexpr const auto& nth(const First& first, const Rest&... rest) noexcept {
  if constexpr (N == 0) {
    return first;
  } else {
    return nth<N - 1>(rest...);
  }
}

/// How many of the first `count` parameters take an argument; a Block is filled in by the launch.
template <class... P>
[[nodiscard]] consteval std::size_t arguments_before(std::size_t count, ParameterList<P...>) {
  constexpr bool takes_argument[] = {!Parameter<P>::is_block..., false};
  std::size_t n = 0;
  for (std::size_t i = 0; i < count; ++i) n += takes_argument[i] ? 1 : 0;
  return n;
}

}  // namespace detail

}  // namespace rondo
