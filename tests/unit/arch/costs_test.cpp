// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/arch/costs.hpp>

#include <doctest/doctest.h>

#include <string_view>

using namespace rondo;
using arch::Costs;

namespace {
template <class F>
void for_each_figure(const Costs& c, F f) {
  for (const double figure : {c.launch_ns, c.dispatch_ns, c.retire_ns, c.start_block_ns, c.notice_block_ns,
                              c.complete_ns, c.copy_in_latency_ns, c.copy_in_gbps, c.copy_out_latency_ns,
                              c.copy_out_gbps, c.memory_gbps, c.stream_wait_ns, c.task_floor_ns, c.host_factor}) {
    f(figure);
  }
}
}  // namespace

TEST_CASE("Both chips have every figure, and nothing else is a double") {
  static_assert(sizeof(Costs) == 14 * sizeof(double));
  for_each_figure(arch::costs_of<arch::A2A3>, [](double figure) { CHECK(figure > 0); });
  for_each_figure(arch::costs_of<arch::A5>, [](double figure) { CHECK(figure > 0); });
}

TEST_CASE("Costs that are handed in replace the chip's one by one; zero is a figure") {
  const Costs mine = Costs{.launch_ns = 0, .copy_out_gbps = 5}.or_else(arch::costs_of<arch::A2A3>);
  CHECK(mine.launch_ns == 0);
  CHECK(mine.copy_out_gbps == 5);
  CHECK(mine.dispatch_ns == arch::costs_of<arch::A2A3>.dispatch_ns);
  int kept = 0;
  for_each_figure(Costs{.host_factor = 2}.or_else(Costs{}), [&](double figure) { kept += figure < 0 ? 1 : 0; });
  CHECK(kept == 13);
  // Each figure by itself goes to its own place.
  for_each_figure(Costs{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}.or_else(Costs{}),
                  [n = 0.0](double f) mutable { CHECK(f == ++n); });
  for_each_figure(Costs{}.or_else(Costs{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}),
                  [n = 0.0](double f) mutable { CHECK(f == ++n); });
}

TEST_CASE("A mailbox takes the place of a core's register in all four costs of a scheduler") {
  constexpr Costs registers = arch::costs_of<arch::A2A3>;
  constexpr Costs mailboxes = arch::mailbox_costs<arch::A2A3>;
  CHECK(mailboxes.start_block_ns == 1040);
  CHECK(mailboxes.notice_block_ns == 1040);
  CHECK(mailboxes.dispatch_ns == registers.dispatch_ns + 900);
  CHECK(mailboxes.retire_ns == registers.retire_ns + 940);
  CHECK(mailboxes.launch_ns == registers.launch_ns);
  CHECK(arch::mailbox_costs<arch::A5>.start_block_ns == 1040);
}

TEST_CASE("A chip says what it has of cores and schedulers") {
  constexpr arch::Chip a2a3 = arch::chip_of<arch::A2A3>;
  CHECK(std::string_view{a2a3.name} == "a2a3");
  CHECK(a2a3.blocks == 24);
  CHECK(a2a3.cube_cores == 24);
  CHECK(a2a3.vector_cores == 48);
  CHECK(a2a3.schedulers == 3);
  constexpr arch::Chip a5 = arch::chip_of<arch::A5>;
  CHECK(a5.cube_cores == 36);
  CHECK(a5.vector_cores == 72);
  CHECK(a5.schedulers == 4);
}
