// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Tensors of the element types that not every chip knows: kernels get addresses, so what a type is to them is between
// the kernel and the caller.

#include "conformance/platforms.hpp"

#include <rondo/binding/dynamic_bindings.hpp>

#include <doctest/doctest.h>

#include <complex>
#include <type_traits>
#include <vector>

using namespace rondo;

namespace {

/// z = x * x + x, in the arithmetic of the element type
template <class T>
struct Polynomial {
  static constexpr std::string_view name = "polynomial";
  static constexpr auto core = CoreType::vector;
  static void run(In<T> x, Out<T> z) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = static_cast<T>(x[i] * x[i] + x[i]);
  }
};

template <class P, class T>
struct Case {
  using Platform = P;
  using Type = T;
};

}  // namespace

TEST_CASE_TEMPLATE("A round computes with elements of any arithmetic type", C, Case<A2A3Sim, std::complex<float>>,
                   Case<A5SimOn<Pool>, std::complex<float>>, Case<A2A3OverStandIn, std::complex<float>>,
                   Case<Host, std::complex<float>>, Case<Host, std::complex<double>>, Case<Host, double>,
                   Case<A2A3Sim, bool>, Case<A5OverStandIn, bool>) {
  using T = typename C::Type;
  constexpr std::size_t n = 21;
  TaskGraph graph;
  const auto x = graph.input<T>("x", {n});
  const auto z = graph.output<T>("z", {n});
  graph.add<Polynomial<T>>(x, z);
  auto session = open<typename C::Platform>(std::move(graph));
  CHECK(session.interface().tensors[1].type == data_type_of<T>);
  CHECK(session.interface().tensors[1].bytes == n * sizeof(T));

  T in[n], out[n] = {}, want[n];
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::is_class_v<T>) {
      in[i] = {static_cast<typename T::value_type>(i), -2};
    } else {
      in[i] = static_cast<T>(i % 3);
    }
    want[i] = static_cast<T>(in[i] * in[i] + in[i]);
  }
  REQUIRE(session.run_round(bind(x, in), bind(z, out)).ok());
  for (std::size_t i = 0; i < n; ++i) CHECK(out[i] == want[i]);
}
