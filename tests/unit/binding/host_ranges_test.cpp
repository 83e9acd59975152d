// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/binding/host_ranges.hpp>

#include <rondo/graph/task_graph.hpp>
#include <rondo/tensor/pair.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace rondo;
using detail::HostRange;

namespace {

struct Rig {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {4});
  Output<float> y = graph.output<float>("y", {4});
  InputOutput<float> z = graph.inout<float>("z", {4});
  std::vector<float> hx = std::vector<float>(4), hy = std::vector<float>(4), hz = std::vector<float>(4);
};

bool is(const HostRange& range, const std::vector<float>& memory) {
  return range.begin == reinterpret_cast<std::uintptr_t>(memory.data()) &&
         range.end == reinterpret_cast<std::uintptr_t>(memory.data() + memory.size());
}

}  // namespace

TEST_CASE("Ranges that touch do not overlap, those that share a byte do") {
  const auto range = [](std::uintptr_t begin, std::uintptr_t end) {
    return HostRange{reinterpret_cast<const void*>(begin), end - begin};
  };
  CHECK_FALSE(range(8, 16).overlaps(range(16, 24)));
  CHECK_FALSE(range(16, 24).overlaps(range(8, 16)));
  CHECK(range(8, 17).overlaps(range(16, 24)));
  CHECK(range(8, 24).overlaps(range(12, 13)));
  CHECK(range(12, 13).overlaps(range(8, 24)));
  CHECK_FALSE(HostRange{}.overlaps(range(8, 16)));
  CHECK_FALSE(range(8, 16).overlaps(HostRange{}));
}

TEST_CASE("The hull of ranges holds them all, and that of none overlaps nothing") {
  HostRange hull;
  hull.include({reinterpret_cast<const void*>(std::uintptr_t{32}), 8});
  CHECK(hull.begin == 32);
  CHECK(hull.end == 40);
  hull.include({reinterpret_cast<const void*>(std::uintptr_t{16}), 4});
  hull.include({reinterpret_cast<const void*>(std::uintptr_t{36}), 8});
  CHECK(hull.begin == 16);
  CHECK(hull.end == 44);
}

TEST_CASE(
    "Of pairs what is copied to the device is read, what is copied from it is written, device memory is neither") {
  Rig rig;
  const auto ranges = detail::ranges_of(bind(rig.x, rig.hx), bind(rig.y, rig.hy), bind(rig.z, rig.hz));
  CHECK(ranges.in_count == 2);
  CHECK(ranges.out_count == 2);
  CHECK(is(ranges.in[0], rig.hx));
  CHECK(is(ranges.in[1], rig.hz));
  CHECK(is(ranges.out[0], rig.hy));
  CHECK(is(ranges.out[1], rig.hz));
  const DeviceSpan<float> device{DevicePtr<float>{std::uint64_t{64}}, 4};
  const auto fewer = detail::ranges_of(bind(rig.x, device), bind(rig.y, rig.hy), bind(rig.z, device));
  CHECK(fewer.in_count == 0);
  CHECK(fewer.out_count == 1);
  CHECK(is(fewer.out[0], rig.hy));
}

TEST_CASE("Bindings known only at run time have the same ranges as pairs") {
  Rig rig;
  const DeviceSpan<float> device{DevicePtr<float>{std::uint64_t{64}}, 4};
  detail::DynamicRanges dynamic(3);
  const std::vector<detail::Binding> all = {detail::Binding{bind(rig.x, rig.hx)}, detail::Binding{bind(rig.y, rig.hy)},
                                            detail::Binding{bind(rig.z, rig.hz)}};
  const auto& ranges = dynamic.take(all, rig.graph.interface());
  REQUIRE(ranges.in_count == 2);
  REQUIRE(ranges.out_count == 2);
  CHECK(is(ranges.in[0], rig.hx));
  CHECK(is(ranges.in[1], rig.hz));
  CHECK(is(ranges.out[0], rig.hy));
  CHECK(is(ranges.out[1], rig.hz));
  const std::vector<detail::Binding> fewer = {
      detail::Binding{bind(rig.x, device)}, detail::Binding{bind(rig.y, rig.hy)}, detail::Binding{bind(rig.z, device)}};
  CHECK(dynamic.take(fewer, rig.graph.interface()).in_count == 0);
  CHECK(dynamic.out_count == 1);
}
