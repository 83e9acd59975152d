// expect: rondo: the platform declares Capability::overlapping_rounds; write `bool overlaps_rounds() const
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/select.hpp>

using namespace rondo;

struct Mine : A2A3Sim {
  using A2A3Sim::A2A3Sim;
  static constexpr Capabilities capabilities{Capability::queue, Capability::overlapping_rounds};
  struct Queue : platform::sim::DeviceQueue<A2A3Sim> {
    void overlap_rounds();
    void run_alone(std::uint32_t);  // noexcept is missing
  };
  Queue open_queue(std::size_t, std::size_t, Bytes);
  bool overlaps_rounds() const noexcept;
};
static_assert(check_platform<Mine>());
