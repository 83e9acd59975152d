// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/sim.hpp>

#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

TEST_CASE_TEMPLATE("What is copied to the device comes back, from any offset", P, A2A3Sim, A5Sim, A2A3SimOn<Pool>) {
  P device{{}};
  const DevicePtr<std::byte> block = device.allocate(Bytes{1000}, Bytes{1024});
  std::vector<unsigned char> out(1000);
  std::iota(out.begin(), out.end(), static_cast<unsigned char>(1));
  CHECK(device.copy_in(block, out.data(), Bytes{1000}).ok());
  CHECK(device.wait().ok());
  std::vector<unsigned char> back(100);
  CHECK(device.copy_out(back.data(), block.offset(Bytes{333}), Bytes{100}).ok());
  CHECK(device.wait().ok());
  CHECK(back == std::vector<unsigned char>(out.begin() + 333, out.begin() + 433));
  CHECK(device.release(block).ok());
}

TEST_CASE("Device memory has the alignment that was asked for, whatever the size") {
  A2A3Sim device{{}};
  std::vector<DevicePtr<std::byte>> blocks;
  for (const std::uint64_t alignment : {1U, 8U, 16U, 64U, 1024U, 4096U}) {
    for (const std::uint64_t size : {1U, 15U, 16U, 17U, 1000U, 1024U, 5000U}) {
      const DevicePtr<std::byte> block = device.allocate(Bytes{size}, Bytes{alignment});
      CHECK(block.address() % alignment == 0);
      const std::vector<char> ones(size, 1);
      CHECK(device.copy_in(block, ones.data(), Bytes{size}).ok());  // every byte is there: a sanitizer would say
      blocks.push_back(block);
    }
  }
  for (const auto block : blocks) CHECK(device.release(block).ok());
}

TEST_CASE("The device holds what its options say, and released memory counts as free again") {
  A5Sim device{{.device_memory = Bytes{1000}}};
  const auto first = device.allocate(Bytes{600}, Bytes{64});
  const Raised r = raised([&] { (void)device.allocate(Bytes{401}, Bytes{64}); });
  CAPTURE(r.text);
  CHECK(r.code == Errc::out_of_memory);
  CHECK(says(r.text, "a5_sim", "401 bytes", "400 are free", "smaller tensors"));
  const auto second = device.allocate(Bytes{400}, Bytes{64});
  CHECK(device.release(first).ok());
  CHECK(raised([&] { (void)device.allocate(Bytes{601}, Bytes{64}); }).code == Errc::out_of_memory);
  const auto third = device.allocate(Bytes{600}, Bytes{64});
  CHECK(device.release(second).ok());
  CHECK(device.release(third).ok());
}

TEST_CASE("More memory than any device has is refused, not wrapped") {
  A2A3Sim device{{}};
  CHECK(raised([&] { (void)device.allocate(Bytes{(std::uint64_t{1} << 62) + 1}, Bytes{1024}); }).code ==
        Errc::out_of_memory);
  A2A3Sim boundless{{.device_memory = Bytes{100}}};
  CHECK(raised([&] { (void)boundless.allocate(Bytes{~std::uint64_t{0}}, Bytes{1024}); }).code == Errc::out_of_memory);
}

TEST_CASE("Two devices do not share their memory") {
  A2A3Sim a{{.device_memory = Bytes{100}}};
  A2A3Sim b{{.device_memory = Bytes{100}}};
  const auto in_a = a.allocate(Bytes{100}, Bytes{64});
  const auto in_b = b.allocate(Bytes{100}, Bytes{64});
  CHECK(in_a != in_b);
  CHECK(a.release(in_a).ok());
  CHECK(b.release(in_b).ok());
}
