// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/extent.hpp>
#include <rondo/types.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

using namespace rondo;

TEST_CASE("Bytes is not made from a bare number by accident") {
  CHECK_FALSE(std::is_convertible_v<std::uint64_t, Bytes>);
  CHECK(std::is_constructible_v<Bytes, std::uint64_t>);
  CHECK(Bytes{}.value == 0);
}

TEST_CASE("Bytes add up and compare by value") {
  CHECK(Bytes{41} + Bytes{3} == Bytes{44});
  CHECK(Bytes{1} < Bytes{2});
  CHECK(Bytes{2} >= Bytes{2});
}

TEST_CASE("align_up gives the smallest multiple that is not below the value") {
  for (const std::uint64_t alignment : {1u, 2u, 32u, 64u, 1024u}) {
    for (std::uint64_t value = 0; value < 3 * alignment; ++value) {
      const std::uint64_t aligned = align_up(value, alignment);
      CAPTURE(value);
      CAPTURE(alignment);
      CHECK(aligned % alignment == 0);
      CHECK(aligned >= value);
      CHECK(aligned - value < alignment);
    }
  }
}

TEST_CASE("align_up is exact at the top of the 64 bits") {
  constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max() - 63;
  CHECK(align_up(top, 64) == top);
  CHECK(align_up(top - 1, 64) == top);
}

template <class T>
concept Dereferenceable = requires(T t) { *t; } || requires(T t) { t->x; } || requires(T t) { t[0]; };

TEST_CASE("A device pointer cannot be dereferenced on the host") {
  CHECK(Dereferenceable<int*>);  // the check itself can tell
  CHECK_FALSE(Dereferenceable<DevicePtr<int>>);
  CHECK_FALSE(std::is_convertible_v<DevicePtr<int>, int*>);
  CHECK_FALSE(std::is_convertible_v<DevicePtr<int>, void*>);
  CHECK_FALSE(std::is_constructible_v<int*, DevicePtr<int>>);
}

TEST_CASE("A device pointer is made neither from nullptr nor from an int nor from a host pointer") {
  CHECK_FALSE(std::is_constructible_v<DevicePtr<int>, std::nullptr_t>);
  CHECK_FALSE(std::is_constructible_v<DevicePtr<int>, int>);
  CHECK_FALSE(std::is_constructible_v<DevicePtr<int>, int*>);
  CHECK_FALSE(std::is_convertible_v<std::uint64_t, DevicePtr<int>>);
  CHECK(std::is_constructible_v<DevicePtr<int>, std::uint64_t>);
}

TEST_CASE("A device pointer gains const implicitly and never loses it or changes its type") {
  CHECK(std::is_convertible_v<DevicePtr<int>, DevicePtr<const int>>);
  CHECK_FALSE(std::is_constructible_v<DevicePtr<int>, DevicePtr<const int>>);
  CHECK_FALSE(std::is_constructible_v<DevicePtr<float>, DevicePtr<int>>);
  const DevicePtr<const int> p = DevicePtr<int>{std::uint64_t{4096}};
  CHECK(p.address() == 4096);
}

TEST_CASE("A device pointer is false only at address 0") {
  CHECK_FALSE(static_cast<bool>(DevicePtr<int>{}));
  CHECK(static_cast<bool>(DevicePtr<int>{std::uint64_t{1}}));
}

TEST_CASE("Offsets of a device pointer count bytes, whatever its type") {
  const DevicePtr<double> p{std::uint64_t{1000}};
  CHECK(p.offset(Bytes{8}).address() == 1008);
  CHECK(p.as<char>().address() == 1000);
  CHECK(std::is_same_v<decltype(p.as<char>()), DevicePtr<char>>);
  CHECK(p < p.offset(Bytes{1}));
}

TEST_CASE("A device pointer travels as the 64-bit word that kernels expect") {
  CHECK(sizeof(DevicePtr<float>) == 8);
  CHECK(std::is_trivially_copyable_v<DevicePtr<float>>);
}

TEST_CASE("Indices of different kinds do not mix") {
  CHECK_FALSE(std::is_convertible_v<TensorId, TaskId>);
  CHECK_FALSE(std::is_convertible_v<int, TensorId>);
  CHECK_FALSE(std::is_convertible_v<TensorId, std::uint32_t>);
  CHECK(index(TensorId{7}) == 7);
  CHECK(index(TaskId{8}) == 8);
  CHECK(index(RoundIndex{std::uint64_t{1} << 40}) == std::uint64_t{1} << 40);
}

TEST_CASE("Each direction says what a round does with the tensor") {
  struct Row {
    Direction direction;
    bool bound, in, out, writable, defined;
    const char* name;
  };
  const Row rows[] = {
      {Direction::in, true, true, false, false, true, "in"},
      {Direction::out, true, false, true, true, false, "out"},
      {Direction::inout, true, true, true, true, true, "inout"},
      {Direction::resident, false, false, false, true, true, "resident"},
      {Direction::workspace, false, false, false, true, false, "workspace"},
      {Direction::host_input, true, false, false, false, true, "host_input"},
      {Direction::session_value, false, false, false, false, true, "session_value"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(is_bound_each_round(row.direction) == row.bound);
    CHECK(copies_in(row.direction) == row.in);
    CHECK(copies_out(row.direction) == row.out);
    CHECK(kernels_may_write(row.direction) == row.writable);
    CHECK(defined_at_start(row.direction) == row.defined);
    CHECK(to_string(row.direction) == std::string{row.name});
  }
}

TEST_CASE("Core types have names, and their count is that of the enumerators") {
  CHECK(to_string(CoreType::cube) == std::string{"cube"});
  CHECK(to_string(CoreType::vector) == std::string{"vector"});
  CHECK(core_type_count == 2);
}

TEST_CASE_TEMPLATE("An extent keeps any integer that fits and marks every other one as -1", Extent, rondo::Extent,
                   Shape::Number) {
  CHECK(Extent{0}.value == 0);
  CHECK(Extent{std::size_t{1024}}.value == 1024);
  CHECK(Extent{std::numeric_limits<std::int64_t>::max()}.value == std::numeric_limits<std::int64_t>::max());
  CHECK(Extent{-1}.value == -1);
  CHECK(Extent{-7}.value == -1);
  CHECK(Extent{std::numeric_limits<std::uint64_t>::max()}.value == -1);
  CHECK(Extent{std::uint64_t{1} << 63}.value == -1);
}

TEST_CASE("A shape keeps its extents, outermost first") {
  const Shape shape{2, 3, 5};
  CHECK(shape.rank() == 3);
  CHECK(shape.extent(0) == 2);
  CHECK(shape.extent(1) == 3);
  CHECK(shape.extent(2) == 5);
  CHECK(Shape{}.rank() == 0);
}

TEST_CASE("Shapes are equal only with equal rank and extents") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK(Shape{2, 3} != Shape{3, 2});
  CHECK(Shape{2} != Shape{2, 0});
  CHECK(Shape{} != Shape{0});
}

TEST_CASE("A shape with too many dimensions reports its rank and keeps the extents it has room for") {
  const Shape shape{1, 2, 3, 4, 5, 6, 7};
  CHECK(shape.rank() == 7);
  CHECK(shape.rank() > max_rank);
  CHECK(shape.extent(max_rank - 1) == 5);
}

TEST_CASE("Shapes and extents are usable in constant expressions") {
  constexpr Shape shape{4, std::size_t{8}};
  static_assert(shape.rank() == 2 && shape.extent(1) == 8);
  static_assert(align_up(65, 64) == 128);
  CHECK(shape == Shape{4, 8});
}

constexpr SymbolicShape known_to_the_compiler{2, Dim::symbol(0) + 1};
static_assert(known_to_the_compiler.is_symbolic() && !SymbolicShape{Dim{2} * 3}.is_symbolic());

TEST_CASE("A symbolic shape keeps numbers and expressions; every shape is one") {
  const Dim n = Dim::symbol(0);
  const SymbolicShape shape{2, n + 1, 5};
  CHECK(shape.rank() == 3);
  CHECK(shape.is_symbolic());
  CHECK(shape.plain() == Shape{2, 0, 5});
  CHECK(shape.dim(0).empty());
  CHECK(shape.dim(1) == n + 1);
  const std::int64_t values[] = {7};
  CHECK(shape.evaluate(1, values).value == 8);
  CHECK(shape.evaluate(2, values).value == 5);
  CHECK(shape != SymbolicShape{2, n, 5});
  const SymbolicShape plain = Shape{2, 3};
  CHECK_FALSE(plain.is_symbolic());
  CHECK(plain == SymbolicShape{2, 3});
  CHECK(SymbolicShape{1, 2, 3, 4, 5, n}.rank() > max_rank);
}
