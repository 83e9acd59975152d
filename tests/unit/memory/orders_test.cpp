// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/memory/orders.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace rondo::memory;
using Numbers = std::vector<std::uint32_t>;

namespace {

const Problem sample{{{.lower = 0, .upper = 10, .size = 2},  // longest, meets all
                      {.lower = 1, .upper = 2, .size = 9},   // largest
                      {.lower = 4, .upper = 8, .size = 6},   // largest area, in the fullest step
                      {.lower = 5, .upper = 6, .size = 5}},
                     {}};

Numbers ordered(Order order) { return make_order(sample, Sections{sample}, order); }

}  // namespace

TEST_CASE("each order puts first what it is named for") {
  CHECK(ordered(Order::size) == Numbers{1, 2, 3, 0});
  CHECK(ordered(Order::duration) == Numbers{0, 2, 1, 3});
  CHECK(ordered(Order::area) == Numbers{2, 0, 1, 3});
  CHECK(ordered(Order::conflicts) == Numbers{0, 2, 3, 1});
  CHECK(ordered(Order::start) == Numbers{0, 1, 2, 3});
}

TEST_CASE("by breadth, the buffers of the fullest step come first, the largest of them foremost") {
  // Loads: 11 while 1 is alive, 13 while 3 is.
  CHECK(ordered(Order::breadth) == Numbers{2, 3, 0, 1});
}

TEST_CASE("equal buffers stay in the order of their numbers") {
  const Problem twins{std::vector<Buffer>(5, {.lower = 0, .upper = 3, .size = 4}), {}};
  for (const Order order :
       {Order::size, Order::duration, Order::area, Order::breadth, Order::conflicts, Order::start}) {
    CHECK(make_order(twins, Sections{twins}, order) == Numbers{0, 1, 2, 3, 4});
  }
}
