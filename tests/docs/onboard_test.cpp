// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The programs that docs/onboard.md shows. Without a runtime they get as far as being told so.

#include "docs/blocks.hpp"

#include <rondo/observe/device_tasks.hpp>
#include <rondo/observe/trace.hpp>
#include <rondo/observe/trace_json.hpp>
#include <rondo/orchestrated.hpp>
#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

struct Saxpy {
  static constexpr std::string_view name = "saxpy";  // the kernel's name in the binary, too
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
  }
};

struct MyPolicies : rondo::DefaultPolicies {
  using Runtime = rondo::runtime::TensorMapRingBuffer;
};

rondo::TaskGraph saxpy_graph() {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {16});
  graph.add<Saxpy>(x, graph.inout<float>("y", {16}), 2.0F);
  return graph;
}

void open_by_name() {
  const auto graph = saxpy_graph();
  const rondo::KernelBinary binaries[] = {rondo::KernelBinary::from_file("saxpy.o")};  // or from_memory(bytes)
  rondo::A2A3Onboard::Options options;
  options.kernels = binaries;
  auto session = rondo::open<rondo::A2A3Onboard>(graph, options);
}

void open_with_refresh_kernel() {
  const auto graph = saxpy_graph();
  const rondo::KernelBinary binaries[] = {rondo::KernelBinary::from_file("saxpy.o"),
                                          rondo::KernelBinary::from_file("refresh.o")};
  rondo::A2A3Onboard::Options options;
  options.kernels = binaries;
  options.cost_file = "costs.json";
  auto session = rondo::open<rondo::A2A3Onboard>(graph, options);
}

void open_by_number() {
  const rondo::KernelNumber numbers[] = {{"saxpy", 0}, {"scale", 1}};
  const rondo::KernelBinary binaries[] = {rondo::KernelBinary::from_file("kernels.o").with_numbers(numbers)};
  rondo::A5Onboard::Options options;
  options.kernels = binaries;
  auto session = rondo::open<rondo::A5Onboard>(saxpy_graph(), options);
}

void open_on_streams() {
  const std::vector<double> measured{120'000};
  rondo::A2A3Onboard::Options options;
  options.streams = 0;                  // the default: as many as make the round shorter; 1: one stream; 8: eight
  options.task_ns = measured;           // nanoseconds by TaskId, where you have measured them
  options.costs.stream_wait_ns = 3000;  // what a wait for another stream costs on your device
  auto session = rondo::open<rondo::A2A3Onboard>(saxpy_graph(), options);
}

void run_some_rounds(auto& session) {
  for (int i = 0; i < 3; ++i) (void)session.run_round();
}

void time_tasks() {
  rondo::A2A3Onboard::Options options;
  auto session = rondo::open<rondo::A2A3Onboard>(saxpy_graph(), options);
  std::ofstream file("trace.json");
  rondo::observe::DeviceTasks tasks(session);
  run_some_rounds(session);
  rondo::observe::write_trace(file, session, tasks);  // the tasks by stream, with arrows along the edges, and by core
  const std::vector<double> measured = tasks.task_ns();
  options.task_ns = measured;  // for the next session over this graph
}

void open_orchestrated() {
  rondo::TaskGraph interface;
  (void)interface.input<float>("x", {16});
  rondo::runtime::TensorMapRingBuffer::Options<rondo::A2A3Onboard> options;
  options.orchestrator.binary = rondo::KernelBinary::from_file("orchestrator.so");  // its entry: rondo_orchestrate
  options.orchestration.ring_bytes = rondo::Bytes{1 << 20};
  auto session = rondo::open<rondo::A2A3Onboard, MyPolicies>(interface, rondo::on_device, options);
}

void open_on_cores() {
  rondo::TaskGraph interface;
  (void)interface.input<float>("x", {16});
  rondo::runtime::TensorMapRingBuffer::Options<rondo::A2A3Onboard> options;
  options.orchestrator.cores = rondo::KernelBinary::from_file("dispatch.o");  // its kernel: rondo_dispatch
  options.orchestrator.blocks = 12;  // 12 cube and 24 vector cores; by default all of them
  auto session = rondo::open<rondo::A2A3Onboard, MyPolicies>(interface, rondo::on_device, options);
}

}  // namespace

TEST_CASE(
    "What docs/onboard.md shows is here, or in the kernel's source, and says where no runtime is that there is none") {
  const std::string here = docs::without_space(docs::read("tests/docs/onboard_test.cpp"));
  const std::string device = docs::without_space(docs::read("examples/06_onboard_saxpy/device/saxpy.cpp"));
  const auto blocks = docs::cpp_blocks(docs::read("docs/onboard.md"));
  CHECK(blocks.size() >= 5);
  for (const std::string& block : blocks) {
    CAPTURE(block);
    const std::string wanted = docs::without_space(block);
    const bool is_shown = here.find(wanted) != std::string::npos || device.find(wanted) != std::string::npos;
    CHECK(is_shown);
  }
  for (void (*const open)() : {&open_by_name, &open_with_refresh_kernel, &open_by_number, &open_on_streams, &time_tasks,
                               &open_orchestrated, &open_on_cores}) {
    try {
      open();
      FAIL("there is no device");
    } catch (const rondo::Error& e) {
      CAPTURE(std::string(e.what()));
      // Where a runtime is installed, it is its device, or the binary, that is not there.
      const bool is_told = e.code() == rondo::Errc::no_such_device || e.code() == rondo::Errc::invalid_argument ||
                           e.code() == rondo::Errc::unsupported;
      CHECK(is_told);
    }
  }
}
