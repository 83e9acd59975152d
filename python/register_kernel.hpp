// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../src/erased/kernel.hpp"

#include <rondo/args/kernel_args.hpp>
#include <rondo/graph/kernel.hpp>

#include <pybind11/pybind11.h>

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

/// For modules that bring kernels of their own to Python: a module that does nothing but
///
///     PYBIND11_MODULE(my_kernels, module) { rondo::python::register_kernel<Saxpy>(); }
///
/// and in Python `import my_kernels`, after which graphs can `add("saxpy", …)`.
namespace rondo::python {

using erased::KernelArgument;
using erased::KernelParameter;
using erased::KernelRecord;
using erased::ScalarKind;

namespace detail {

template <class P>
constexpr KernelParameter parameter_of() {
  using Parameter = rondo::detail::Parameter<P>;
  KernelParameter p;
  p.is_tensor = Parameter::is_tensor;
  if constexpr (Parameter::is_tensor) {
    p.type = data_type_of<typename Parameter::element_type>;
    p.access = Parameter::access;
    p.rank = static_cast<std::uint8_t>(Parameter::rank);
  } else if constexpr (std::is_enum_v<P>) {
    return parameter_of<std::underlying_type_t<P>>();
  } else if constexpr (!Parameter::is_block) {
    p.scalar = std::is_same_v<P, bool>       ? ScalarKind::boolean
               : std::is_floating_point_v<P> ? ScalarKind::floating
               : std::is_signed_v<P>         ? ScalarKind::signed_integer
                                             : ScalarKind::unsigned_integer;
    p.scalar_bytes = static_cast<std::uint8_t>(sizeof(P));
  }
  return p;
}

/// A kernel's parameters but Blocks.
template <class... P>
constexpr auto parameters_of(rondo::detail::ParameterList<P...> list) {
  std::array<KernelParameter, rondo::detail::arguments_before(sizeof...(P), decltype(list){})> parameters{};
  std::size_t n = 0;
  ((rondo::detail::Parameter<P>::is_block ? void() : void(parameters[n++] = parameter_of<P>())), ...);
  return parameters;
}

/// The argument that TaskGraph::add takes for a parameter, or none. The handle's direction allows everything, since
/// what the compiler would check of it was checked when Python handed the tensor over.
template <class K, class P>
auto argument_of(std::span<const KernelArgument> arguments, std::size_t n) {
  using Parameter = rondo::detail::Parameter<P>;
  if constexpr (Parameter::is_tensor) {
    const TensorHandle<typename Parameter::element_type, Direction::inout> handle{arguments[n].tensor};
    if constexpr (rondo::detail::DeclaresArgs<K>) {
      return std::tuple{handle};
    } else {
      return std::tuple{reshape(handle, arguments[n].shape)};
    }
  } else if constexpr (Parameter::is_block) {
    return std::tuple<>{};
  } else {
    return std::tuple{rondo::detail::from_word<P>(arguments[n].scalar)};
  }
}

template <class K, class... P, std::size_t... I>
TaskId add_task(TaskGraph& graph, Blocks blocks, std::span<const KernelArgument> arguments,
                rondo::detail::ParameterList<P...> list, std::index_sequence<I...>) {
  return std::apply(
      [&](const auto&... argument) { return graph.template add<K>(blocks, argument...); },
      std::tuple_cat(argument_of<K, P>(arguments, rondo::detail::arguments_before(I, decltype(list){}))...));
}

template <class K>
inline constexpr auto parameters = parameters_of(rondo::detail::ParametersOf<K>{});

template <class K>
inline constexpr KernelRecord record{
    {K::name.data(), K::name.size()},
    K::core,
    parameters<K>,
    [](const KernelRecord&, TaskGraph& graph, Blocks blocks, std::span<const KernelArgument> arguments) {
      using List = rondo::detail::ParametersOf<K>;
      return add_task<K>(graph, blocks, arguments, List{}, std::make_index_sequence<List::size>{});
    }};

}  // namespace detail

/// Makes kernel K known to Python under its name. For the body of PYBIND11_MODULE. Imports the module `rondo`.
/// @throws pybind11::error_already_set: `rondo` is not on Python's path, another kernel has that name, or `rondo` was
/// compiled against another version of Rondo
template <Kernel K>
void register_kernel() {
  pybind11::module_::import("rondo").attr("_register")(pybind11::capsule(&detail::record<K>, erased::capsule_name));
}

}  // namespace rondo::python
