// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/limits.hpp>

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/arch/host.hpp>
#include <rondo/graph/freeze.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <complex>
#include <string>
#include <utility>

using namespace rondo;
using namespace rondo::test;

namespace {

template <class Chip>
Raised checked(const TaskGraph& graph) {
  return raised([&] { graph::check_limits(freeze(graph).view(), arch::limits_of<Chip>); });
}

TaskGraph with_blocks(std::uint32_t blocks) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  (void)graph.add_raw("modest", CoreType::vector, no_kernel, reads(x));
  (void)graph.add_raw("greedy", CoreType::vector, Blocks{blocks}, no_kernel, reads(x));
  return graph;
}

/// One task with `tensors` addresses and `scalars` scalars.
template <std::size_t Tensors, std::size_t Scalars>
TaskGraph with_args() {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  [&]<std::size_t... T, std::size_t... S>(std::index_sequence<T...>, std::index_sequence<S...>) {
    (void)graph.add_raw("crowded", CoreType::cube, no_kernel, ((void)T, reads(x))..., static_cast<int>(S)...);
  }(std::make_index_sequence<Tensors>{}, std::make_index_sequence<Scalars>{});
  return graph;
}

TaskGraph with_interface(std::size_t inputs, std::size_t residents) {
  TaskGraph graph;
  for (std::size_t i = 0; i < inputs; ++i) {
    const auto x = graph.input<float>("x" + std::to_string(i), {1});
    (void)graph.add_raw("reader", CoreType::vector, no_kernel, reads(x));
  }
  for (std::size_t i = 0; i < residents; ++i) (void)graph.resident<float>("r" + std::to_string(i), {1});
  return graph;
}

struct Everything5 {
  static constexpr std::string_view name = "five";
  static constexpr auto core = CoreType::vector;
  static void run(In<float, 5>, In<float, 5>, In<float, 5>, In<float, 5>, Block) {}
};

}  // namespace

TEST_CASE_TEMPLATE("A task may take all blocks of the chip and not one more", Chip, arch::A2A3, arch::A5) {
  CHECK(Chip::max_blocks == (std::string{Chip::name} == "a2a3" ? 24 : 36));
  CHECK(checked<Chip>(with_blocks(Chip::max_blocks)).code == Errc::ok);
  const Raised r = checked<Chip>(with_blocks(Chip::max_blocks + 1));
  CAPTURE(r.text);
  CHECK(r.code == Errc::limit_exceeded);
  CHECK(says(r.text, "task 1 'greedy'", std::to_string(Chip::max_blocks + 1) + " blocks", Chip::name,
             "is " + std::to_string(Chip::max_blocks)));
}

TEST_CASE("What is too much for one chip may be right for the other") {
  CHECK(checked<arch::A2A3>(with_blocks(30)).code == Errc::limit_exceeded);
  CHECK(checked<arch::A5>(with_blocks(30)).code == Errc::ok);
}

TEST_CASE_TEMPLATE("A task may take 32 tensors and 16 scalars and not one more", Chip, arch::A2A3, arch::A5) {
  CHECK(checked<Chip>(with_args<32, 16>()).code == Errc::ok);
  const Raised tensors = checked<Chip>(with_args<33, 0>());
  CAPTURE(tensors.text);
  CHECK(tensors.code == Errc::limit_exceeded);
  CHECK(says(tensors.text, "task 0 'crowded'", "33 tensors", "is 32"));
  const Raised scalars = checked<Chip>(with_args<1, 17>());
  CAPTURE(scalars.text);
  CHECK(scalars.code == Errc::limit_exceeded);
  CHECK(says(scalars.text, "task 0 'crowded'", "17 scalars", "is 16"));
}

TEST_CASE("Extents and blocks do not count as scalars") {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {1, 2, 3, 4, 5});
  (void)graph.add<Everything5>(x, x, x, x);
  CHECK(checked<arch::A2A3>(graph).code == Errc::ok);
}

TEST_CASE_TEMPLATE("A round may bind 256 tensors and not one more; residents do not count", Chip, arch::A2A3,
                   arch::A5) {
  CHECK(checked<Chip>(with_interface(256, 10)).code == Errc::ok);
  const Raised r = checked<Chip>(with_interface(257, 0));
  CAPTURE(r.text);
  CHECK(r.code == Errc::limit_exceeded);
  CHECK(says(r.text, "257", "256", Chip::name));
}

TEST_CASE_TEMPLATE("Element types of a5 alone are refused on a2a3, the tensor and the type named", T, Fp8E4M3Fn,
                   Fp8E8M0, Fp4E2M1x2) {
  TaskGraph graph;
  const auto x = graph.input<T>("quantised", {4});
  (void)graph.add_raw("reader", CoreType::cube, no_kernel, reads(x));
  CHECK(checked<arch::A5>(graph).code == Errc::ok);
  const Raised r = checked<arch::A2A3>(graph);
  CAPTURE(r.text);
  CHECK(r.code == Errc::unsupported);
  CHECK(says(r.text, "'quantised'", to_string(data_type_of<T>), "a2a3", "choose a5"));
}

TEST_CASE("The host takes what is too much for every chip") {
  CHECK(checked<arch::Host>(with_blocks(1'000'000)).code == Errc::ok);
  CHECK(checked<arch::Host>(with_args<100, 50>()).code == Errc::ok);
  CHECK(checked<arch::Host>(with_interface(1000, 10)).code == Errc::ok);
}

TEST_CASE_TEMPLATE("Tensors of double are for the host; a chip refuses them, the tensor and the type named", Chip,
                   arch::A2A3, arch::A5) {
  TaskGraph graph;
  const auto x = graph.input<double>("precise", {4});
  (void)graph.add_raw("reader", CoreType::vector, no_kernel, reads(x));
  CHECK(checked<arch::Host>(graph).code == Errc::ok);
  const Raised r = checked<Chip>(graph);
  CAPTURE(r.text);
  CHECK(r.code == Errc::unsupported);
  CHECK(says(r.text, "'precise'", "float64", Chip::name,
             "choose the platform host (RONDO_PLATFORM=host) or another type"));

  TaskGraph complex;
  const auto z = complex.input<std::complex<float>>("z", {4});
  (void)complex.add_raw("reader", CoreType::vector, no_kernel, reads(z));
  CHECK(checked<Chip>(complex).code == Errc::ok);
  const auto precise = complex.input<std::complex<double>>("precise", {4});
  (void)complex.add_raw("reader", CoreType::vector, no_kernel, reads(precise));
  CHECK(checked<arch::Host>(complex).code == Errc::ok);
  CHECK(says(checked<Chip>(complex).text, "'precise'", "complex128", Chip::name));
}

TEST_CASE("The host knows the element types of a5 as storage") {
  TaskGraph graph;
  const auto x = graph.input<Fp8E4M3Fn>("quantised", {4});
  (void)graph.add_raw("reader", CoreType::vector, no_kernel, reads(x));
  CHECK(checked<arch::Host>(graph).code == Errc::ok);
}
