// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

//   steps × [ saxpy: y += 2·x ]         a graph that the device builds anew in each round, with `steps` tasks
//
// The part of such a session that runs on the device's AICPU. The part on the host is:
//
//   TaskGraph interface;                                          // in this order
//   const auto x = interface.input<float>("x", {n});
//   const auto y = interface.inout<float>("y", {n});
//   const auto steps = interface.input<std::int32_t>("steps", {});
//   auto session = rondo::open<A2A3Onboard, MyPolicies>(interface, rondo::on_device, options);
//
// build_orchestrator.sh compiles this file to a shared library.

#include <rondo/orchestrated.hpp>
#include <rondo/platform/onboard/device_orchestration.hpp>
#include <rondo/runtime/tensormap_and_ringbuffer.hpp>

#include <cstdint>
#include <string_view>

extern "C" std::uint32_t rondo_orchestrate(void* args);

namespace {

/// The function that the AICPU calls for a task: here it computes by itself. A program that passes tasks to other cores
/// does so here.
struct Saxpy {
  static constexpr std::string_view name = "saxpy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
  }
};

}  // namespace

extern "C" std::uint32_t rondo_orchestrate(void* args) {
  using rondo::Direction;
  return rondo::runtime::orchestrate_on_device<rondo::runtime::TensorMapRingBuffer>(
      args, [](auto& round, const auto& io) {
        const auto x = io.template get<float, Direction::in>(0);
        const auto y = io.template get<float, Direction::inout>(1);
        const auto steps = io.template get<std::int32_t, Direction::in>(2);
        for (std::int32_t i = 0; i < round.value(steps); ++i) round.template add<Saxpy>(x, y, 2.0F);
      });
}
