// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// For which cores kernels are: what their binaries say, what the graph says, and what the runtime is told.

#include "folder.hpp"
#include "onboard/fixture.hpp"
#include "stand_in/elf.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

using namespace rondo;
using namespace onboard_test;
using stand_in::KernelFor;

namespace {

struct OnVector {
  static constexpr std::string_view name = "on_vector";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
struct OnCube {
  static constexpr std::string_view name = "on_cube";
  static constexpr auto core = CoreType::cube;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 1 + x[i];
  }
};
struct OnBoth {
  OnBoth() {
    const auto between = graph.workspace<float>("between", {8});
    graph.add<OnVector>(x, between);
    graph.add<OnCube>(between, y);
  }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {8});
  Output<float> y = graph.output<float>("y", {8});
};

std::vector<std::byte> elf(KernelFor vector, KernelFor cube) {
  const stand_in::ElfKernel kernels[] = {{"on_vector", &rondo::detail::kernel_entry<OnVector>, vector},
                                         {"on_cube", &rondo::detail::kernel_entry<OnCube>, cube}};
  return stand_in::elf_of(kernels);
}
std::vector<std::byte> plain() {
  stand_in::Binary binary;
  binary.add("on_vector", &rondo::detail::kernel_entry<OnVector>);
  binary.add("on_cube", &rondo::detail::kernel_entry<OnCube>);
  return binary.bytes();
}
void write(const std::string& path, const std::vector<std::byte>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

template <class P>
std::string why(const TaskGraph& graph, const typename P::Options& options) {
  try {
    auto session = open<P>(graph, options);
  } catch (const Error& e) {
    CHECK(e.code() == Errc::invalid_argument);
    return e.what();
  }
  return "it was opened";
}

}  // namespace

TEST_CASE_TEMPLATE("Kernels run on the cores that the graph says, whether or not their binary says it", P, A2A3Onboard,
                   A5Onboard) {
  const Clean clean;
  rondo_stand_in_chip(P::Arch::name);
  OnBoth g;
  typename P::Options options;
  options.capture = false;  // so that launches are counted
  const test::Folder folder;
  const std::string path = folder / "kernels.o";
  std::vector<std::byte> bytes;
  KernelBinary binary;
  SUBCASE("it says nothing") { bytes = elf(KernelFor::nothing_said, KernelFor::nothing_said); }
  SUBCASE("it says it") { bytes = elf(KernelFor::vector, KernelFor::cube); }
  SUBCASE("it says one") { bytes = elf(KernelFor::nothing_said, KernelFor::cube); }
  SUBCASE("it is of another form") { bytes = plain(); }
  SUBCASE("it is a file that says nothing") {
    write(path, elf(KernelFor::nothing_said, KernelFor::nothing_said));
    binary = KernelBinary::from_file(path.c_str());
  }
  if (binary.file == nullptr) binary = KernelBinary::from_memory(bytes);
  options.kernels = {&binary, 1};
  auto session = open<P>(g.graph, options);
  rondo_stand_in_reset();
  const Floats x(8, 3);
  Floats y(8);
  for (int round = 0; round < 3; ++round) REQUIRE(session.run_round(bind(g.x, x), bind(g.y, y)).ok());
  CHECK(y == Floats(8, 7));
  CHECK(calls("on_vector_cores") == 3);
  CHECK(calls("on_cube_cores") == 3);
  CHECK(session.close().ok());
}

TEST_CASE_TEMPLATE("A kernel for other cores than its task's is an error that names it", P, A2A3Onboard, A5Onboard) {
  const Clean clean;
  rondo_stand_in_chip(P::Arch::name);
  OnBoth g;
  typename P::Options options;
  std::vector<std::byte> bytes;
  const test::Folder folder;
  const std::string path = folder / "kernels.o";
  KernelBinary binary;
  const char* kernel = "kernel 'on_vector' is for cube cores in its binary, and for vector cores in the graph";
  SUBCASE("its binary says so") { bytes = elf(KernelFor::cube, KernelFor::cube); }
  SUBCASE("the other one's") {
    bytes = elf(KernelFor::vector, KernelFor::vector);
    kernel = "kernel 'on_cube' is for vector cores in its binary, and for cube cores in the graph";
  }
  SUBCASE("the runtime cannot be told") {
    rondo_stand_in_limit("load_magic", 0);
    bytes = elf(KernelFor::nothing_said, KernelFor::nothing_said);
  }
  SUBCASE("a file beside it is to tell, and does not") {
    write(path, elf(KernelFor::nothing_said, KernelFor::nothing_said));
    write(folder / "kernels.json", {});
    binary = KernelBinary::from_file(path.c_str());
  }
  if (binary.file == nullptr) binary = KernelBinary::from_memory(bytes);
  options.kernels = {&binary, 1};
  CHECK(contains(why<P>(g.graph, options), kernel));
}

TEST_CASE("A kernel for both types of cores serves any task, and a binary without kernels none") {
  const Clean clean;
  rondo_stand_in_chip("a2a3");
  OnBoth g;
  A2A3Onboard::Options options;
  const auto mixed = elf(KernelFor::any, KernelFor::any);
  KernelBinary binary = KernelBinary::from_memory(mixed);
  options.kernels = {&binary, 1};
  {
    auto session = open<A2A3Onboard>(g.graph, options);
    CHECK(session.close().ok());
  }
  const auto empty = stand_in::elf_of({});
  binary = KernelBinary::from_memory(empty);
  CHECK(contains(why<A2A3Onboard>(g.graph, options), "aclrtBinaryLoadFromData returned 107000"));
}
