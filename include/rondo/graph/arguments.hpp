// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/kernel.hpp>
#include <rondo/tensor/handle.hpp>

#include <cstddef>
#include <type_traits>

/// The arguments of tasks, checked against the parameters of their kernels.
namespace rondo {

/// A tensor for a raw kernel, with its access; made by reads(), writes() and updates().
template <class H>
struct RawTensor {
  H handle;
  Access access;
};
/// A tensor argument with another shape of the same number of elements; made by reshape().
template <class H>
struct Reshaped {
  using element_type = typename H::element_type;
  static constexpr Direction direction = H::direction;
  H handle;
  SymbolicShape shape;
};
/// Passes the same tensor and memory with another shape: `graph.add<Matmul>(reshape(x, {64, 10}), …)`. add() checks
/// that the numbers of elements are equal.
template <class T, Direction D>
[[nodiscard]] constexpr Reshaped<TensorHandle<T, D>> reshape(TensorHandle<T, D> tensor, SymbolicShape shape) noexcept {
  return {tensor, shape};
}

namespace detail {

/// Whether A is a tensor argument of add<K>(): true for handles, and specialised for other kinds of tensor arguments,
/// which have `element_type` and `direction`.
template <class A>
inline constexpr bool is_tensor_argument = is_tensor_handle<A>;
template <class H>
inline constexpr bool is_tensor_argument<Reshaped<H>> = true;
template <class A>
inline constexpr bool is_reshaped = false;
template <class H>
inline constexpr bool is_reshaped<Reshaped<H>> = true;

}  // namespace detail

/// For add_raw, whose kernel does not declare how it accesses its tensors: the task reads the tensor.
template <class H>
  requires detail::is_tensor_argument<H>
[[nodiscard]] constexpr RawTensor<H> reads(const H& tensor) noexcept {
  return {tensor, Access::read};
}
/// For add_raw: the task writes the whole tensor.
template <class H>
  requires detail::is_tensor_argument<H>
[[nodiscard]] constexpr RawTensor<H> writes(const H& tensor) noexcept {
  static_assert(kernels_may_write(H::direction),
                "rondo: the kernel writes a tensor that is an input; make it inout, or read it");
  return {tensor, Access::write};
}
/// For add_raw: the task reads and writes the tensor.
template <class H>
  requires detail::is_tensor_argument<H>
[[nodiscard]] constexpr RawTensor<H> updates(const H& tensor) noexcept {
  static_assert(kernels_may_write(H::direction),
                "rondo: the kernel writes a tensor that is an input; make it inout, or read it");
  return {tensor, Access::read_write};
}

namespace detail {

/// Checks an argument of add<K>() against a parameter of K::run. Each error message is a sentence.
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

/// The number of arguments for the first `count` parameters. The launch provides a Block, so it takes no argument.
template <class... P>
[[nodiscard]] consteval std::size_t arguments_before(std::size_t count, ParameterList<P...>) {
  constexpr bool takes_argument[] = {!Parameter<P>::is_block..., false};
  std::size_t n = 0;
  for (std::size_t i = 0; i < count; ++i) n += takes_argument[i] ? 1 : 0;
  return n;
}

}  // namespace detail

}  // namespace rondo
