// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/update/cost_model.hpp>

#include <doctest/doctest.h>

using namespace rondo;
using update::ByCost;
using update::cost_of;
using update::Mechanism;
using update::RefreshCosts;
using update::RefreshFacts;

namespace {

constexpr RefreshCosts costs{.copy = 1'000'000,
                             .copied_byte = 10'000,
                             .host_slot = 300,
                             .device_op = 50,
                             .device_slot = 7,
                             .launched_byte = 70'000};
/// The segments cost 2'060'600, an op of the device 1'080'057 or so, and the launch 2'100'057.
constexpr RefreshFacts facts{.segments = 2,
                             .segment_bytes = 6,
                             .slots = 2,
                             .base_bytes = 8,
                             .relocations = 1,
                             .launch_bytes = 30,
                             .device_op = true,
                             .in_launch = true};

RefreshFacts with(bool device_op, bool in_launch, std::uint64_t base_bytes, std::uint64_t launch_bytes) {
  RefreshFacts f = facts;
  f.device_op = device_op;
  f.in_launch = in_launch;
  f.base_bytes = base_bytes;
  f.launch_bytes = launch_bytes;
  return f;
}

}  // namespace

TEST_CASE("Each mechanism costs its copies, its bytes, and the slots that the host or the device writes") {
  CHECK(cost_of(Mechanism::segment_copy, costs, facts) == 2 * 1'000'000 + 6 * 10'000 + 2 * 300);
  CHECK(cost_of(Mechanism::device_op, costs, facts) == 1'000'000 + 8 * 10'000 + 50 + 1 * 7);
  CHECK(cost_of(Mechanism::in_launch, costs, facts) == 30 * 70'000 + 50 + 1 * 7);
  RefreshFacts more = facts;
  more.relocations = 3;
  CHECK(cost_of(Mechanism::device_op, costs, more) == 1'000'000 + 8 * 10'000 + 50 + 3 * 7);
}

TEST_CASE("The cheapest mechanism that is possible is chosen, and of equal ones the first") {
  using Choice = ByCost<costs>;
  CHECK(Choice::choose(facts) == Mechanism::device_op);
  CHECK(Choice::choose(with(false, true, 8, 30)) == Mechanism::segment_copy);
  CHECK(Choice::choose(with(false, true, 8, 29)) == Mechanism::in_launch);
  CHECK(Choice::choose(with(true, true, 8, 15)) == Mechanism::in_launch);
  CHECK(Choice::choose(with(true, true, 8, 16)) == Mechanism::device_op);
  CHECK(Choice::choose(with(true, false, 8, 15)) == Mechanism::device_op);
  CHECK(Choice::choose(with(true, false, 200, 15)) == Mechanism::segment_copy);
  CHECK(Choice::choose(with(false, false, 0, 0)) == Mechanism::segment_copy);
  constexpr RefreshCosts flat{0, 0, 0, 0, 0, 0};
  CHECK(ByCost<flat>::choose(facts) == Mechanism::segment_copy);
  constexpr RefreshCosts slots{0, 0, 9, 0, 0, 0};
  CHECK(ByCost<slots>::choose(facts) == Mechanism::device_op);
}

TEST_CASE("What a platform reports of its costs goes before what was assumed") {
  constexpr RefreshCosts cheap_launch{.copy = 1'000'000, .copied_byte = 10'000, .device_op = 50, .launched_byte = 1};
  RefreshFacts f = facts;
  f.costs = &cheap_launch;
  CHECK(ByCost<costs>::choose(f) == Mechanism::in_launch);
  CHECK(ByCost<costs>::allows(Mechanism::in_place));
}
