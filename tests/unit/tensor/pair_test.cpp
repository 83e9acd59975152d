// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/tensor/pair.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

using namespace rondo;

namespace {

constexpr Input<float> x{TensorKey{TensorId{3}, 7}};
constexpr Output<float> y{TensorKey{TensorId{4}, 7}};
constexpr InputOutput<std::int32_t> z{TensorKey{TensorId{5}, 7}};

/// Contiguous, and nothing of the standard library.
struct MyBuffer {
  float elements[3] = {1, 2, 3};
  [[nodiscard]] const float* data() const { return elements; }
  [[nodiscard]] float* data() { return elements; }
  [[nodiscard]] short size() const { return 3; }
};

}  // namespace

TEST_CASE("Vector, array, span, C array and a class of one's own bind with their memory and size") {
  std::vector<float> vector(5);
  CHECK(bind(x, vector).data() == vector.data());
  CHECK(bind(x, vector).size() == 5);
  CHECK(bind(x, vector).handle() == x);

  std::array<float, 4> array{};
  CHECK(bind(y, array).data() == array.data());
  CHECK(bind(y, array).size() == 4);

  const std::span<float> span{vector.data() + 1, 2};
  CHECK(bind(y, span).data() == vector.data() + 1);
  CHECK(bind(y, span).size() == 2);
  CHECK(bind(y, std::span<float>{vector}).size() == 5);  // a temporary span is fine: its memory lives on

  float c_array[6] = {};
  CHECK(bind(x, c_array).data() == c_array);
  CHECK(bind(x, c_array).size() == 6);

  MyBuffer mine;
  CHECK(bind(y, mine).data() == mine.elements);
  CHECK(bind(y, mine).size() == 3);
}

TEST_CASE("A plain variable binds as a tensor of one element") {
  std::int32_t value = 9;
  const auto pair = bind(z, value);
  CHECK(pair.data() == &value);
  CHECK(pair.size() == 1);
}

TEST_CASE("Const memory binds to an input and is handed on as const") {
  const std::vector<float> vector(5);
  const auto pair = bind(x, vector);
  CHECK(std::is_same_v<decltype(pair.data()), const float*>);
  const float c_array[2] = {};
  CHECK(bind(x, c_array).size() == 2);
  const float value = 1;
  CHECK(bind(x, value).data() == &value);
}

TEST_CASE("Outputs and inouts hand on memory that can be written") {
  std::vector<float> vector(5);
  CHECK(std::is_same_v<decltype(bind(y, vector).data()), float*>);
  std::int32_t value = 0;
  CHECK(std::is_same_v<decltype(bind(z, value).data()), std::int32_t*>);
}

TEST_CASE("Binding is usable in constant expressions and never throws") {
  static constexpr float values[3] = {1, 2, 3};
  constexpr auto pair = bind(x, values);
  static_assert(pair.size() == 3 && pair.data()[2] == 3);
  CHECK(noexcept(bind(x, values)));
}

TEST_CASE("A device pair shows which tensor, where and how many elements") {
  const Resident<float> w{TensorKey{TensorId{1}, 2}};
  const DevicePair<float, Direction::resident> pair{w, {DevicePtr<float>{std::uint64_t{4096}}, 12}};
  CHECK(pair.handle() == w);
  CHECK(pair.device().address() == 4096);
  CHECK(pair.size() == 12);
}

TEST_CASE("Copied pairs are bound each round, device pairs are not") {
  CHECK(BoundPair<CopiedPair<float, Direction::in>>);
  CHECK(BoundPair<CopiedPair<float, Direction::out>>);
  CHECK(BoundPair<CopiedPair<float, Direction::inout>>);
  CHECK(TensorPair<DevicePair<float, Direction::resident>>);
  CHECK(TensorPair<DevicePair<float, Direction::workspace>>);
  CHECK_FALSE(BoundPair<DevicePair<float, Direction::resident>>);
  CHECK_FALSE(BoundPair<DevicePair<float, Direction::workspace>>);
}
