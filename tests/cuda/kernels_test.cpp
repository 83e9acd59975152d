// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that clang compiled to PTX without a toolkit: what the PTX is, and how sessions find it.

#include "cuda/fixture.hpp"
#include "cuda/kernels/saxpy.hpp"

#include <rondo/platform/cuda/device/refresh_ptx.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

using namespace rondo;
using namespace cuda_test;

namespace {

/// The parameters of an entry, as PTX has them.
std::string parameters_of(std::string_view ptx, const std::string& entry) {
  const std::size_t at = ptx.find(".entry " + entry + "(");
  if (at == std::string_view::npos) return "no such entry";
  const std::size_t begin = ptx.find('(', at) + 1;
  std::string text{ptx.substr(begin, ptx.find(')', begin) - begin)};
  std::erase_if(text, [](char c) { return c == '\n' || c == '\t'; });
  return text;
}

#ifdef RONDO_TEST_SAXPY_PTX
constexpr bool has_compiler = true;
constexpr const char* ptx_file = RONDO_TEST_SAXPY_PTX;
#else
constexpr bool has_compiler = false;
constexpr const char* ptx_file = "";
#endif

/// y += 2 x on a session of the platform itself, whose kernels are PTX.
void run_saxpy(const platform::cuda::Options& options) {
  constexpr std::uint32_t words = 3 + 1 + 2;  // x, y, a, the block, and the tensors' extents
  rondo_cuda_stand_in_kernel("saxpy", &detail::kernel_entry<Saxpy>, 8 * words);
  TaskGraph graph;
  const auto x = graph.input<float>("x", {1000});
  const auto y = graph.inout<float>("y", {1000});
  graph.add<Saxpy>(Blocks{5}, x, y, 2.0F);
  auto session = open<rondo::Cuda>(graph, options);
  Floats hx(1000), hy(1000, 1);
  for (std::size_t i = 0; i < hx.size(); ++i) hx[i] = static_cast<float>(i);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  for (std::size_t i = 0; i < hy.size(); ++i) REQUIRE(hy[i] == 1 + 2 * hx[i]);
}

/// Kernels with one entry, and with different amounts of shared memory.
template <std::uint32_t Bytes>
struct Tile {
  static constexpr std::string_view name = "tile";
  static constexpr auto core = CoreType::vector;
  static constexpr std::uint32_t shared_bytes = Bytes;
  static void run(In<float> x, Out<float> y) { y[0] = x[0] + 1; }
};
template <std::uint32_t First, std::uint32_t Second>
float run_tiles() {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {1});
  const auto y = graph.output<float>("y", {1});
  const auto between = graph.workspace<float>("between", {1});
  graph.add<Tile<First>>(x, between);
  graph.add<Tile<Second>>(between, y);
  cuda_stand_in::ModuleImage image;
  image.add("tile", graph.tasks()[0].entry, graph.tasks()[0].block_bytes);
  const auto bytes = image.bytes();
  const CudaModule module = CudaModule::from_memory(bytes);
  rondo::Cuda::Options options;
  options.kernels = {&module, 1};
  auto session = open<rondo::Cuda>(graph, options);
  const Floats in{1};
  Floats out{0};
  CHECK(session.run_round(bind(x, in), bind(y, out)).ok());
  return out[0];
}

}  // namespace

TEST_CASE("an entry that tasks run with different shared memory may take as much as the largest needs") {
  const Clean clean;
  CHECK(run_tiles<60'000, 100'000>() == 3);
  CHECK(run_tiles<100'000, 60'000>() == 3);
  CHECK(run_tiles<100'000, 16>() == 3);
}

TEST_CASE("the PTX of a kernel has an entry of its name, whose one parameter is an address, and its threads") {
  if (!has_compiler) return;
  const auto* const embedded = platform::cuda::EmbeddedPtx::first();
  REQUIRE(embedded != nullptr);
  const std::string_view ptx = embedded->text();
  CHECK(parameters_of(ptx, "saxpy") == ".param .u64 saxpy_param_0");
  CHECK(has(std::string(ptx), ".maxntid 128, 1, 1"));
  CHECK(has(std::string(ptx), ".target sm_70"));
  CHECK(!has(std::string(ptx), "fma"));  // as the host computes it
}

TEST_CASE("a session finds kernels that are embedded in the program without being told") {
  if (!has_compiler) return;
  const Clean clean;
  run_saxpy({});
}

TEST_CASE("a session takes kernels from a file of PTX") {
  if (!has_compiler) return;
  const Clean clean;
  const CudaModule file = CudaModule::from_file(ptx_file);
  platform::cuda::Options options;
  options.kernels = {&file, 1};
  run_saxpy(options);
  CHECK(calls("cuModuleLoadDataEx") == 2);  // it and Rondo's own: what is embedded was not needed
}

TEST_CASE("a session opens with the modules that it is told of") {
  const Clean clean;
  TaskGraph graph;
  graph.add<Saxpy>(graph.input<float>("x", {16}), graph.inout<float>("y", {16}), 2.0F);
  try {
    const rondo::CudaModule modules[] = {rondo::CudaModule::from_file("kernels.cubin")};
    rondo::Cuda::Options options;
    options.kernels = modules;
    auto session = rondo::open<rondo::Cuda>(graph, options);
    FAIL("there is no such file");
  } catch (const Error& e) {
    CHECK(e.code() == Errc::invalid_argument);
    CHECK(has(e.what(), "kernels.cubin"));
  }
}

TEST_CASE("Rondo's own kernels take four words, or all that a launch carries") {
  const std::string_view ptx = platform::cuda::refresh_ptx;
  const std::string words = parameters_of(ptx, "rondo_refresh");
  CHECK(std::count(words.begin(), words.end(), ',') == 3);
  CHECK(has(parameters_of(ptx, "rondo_refresh_carried"), "[4096]"));
}
