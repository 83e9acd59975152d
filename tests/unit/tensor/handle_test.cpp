// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/tensor/handle.hpp>

#include <doctest/doctest.h>

#include <type_traits>

using namespace rondo;

TEST_CASE("A key gives back the tensor and the graph it was made of") {
  const TensorKey key{TensorId{0xFFFF'FFFE}, 0x8000'0001};
  CHECK(key.tensor() == TensorId{0xFFFF'FFFE});
  CHECK(key.graph() == 0x8000'0001);
}

TEST_CASE("Keys are equal only for the same tensor of the same graph") {
  CHECK(TensorKey{TensorId{1}, 2} == TensorKey{TensorId{1}, 2});
  CHECK_FALSE(TensorKey{TensorId{1}, 2} == TensorKey{TensorId{2}, 1});
  CHECK_FALSE(TensorKey{TensorId{1}, 2} == TensorKey{TensorId{1}, 3});
  CHECK_FALSE(TensorKey{TensorId{1}, 2} == TensorKey{TensorId{0}, 2});
}

TEST_CASE("A handle carries element type and direction in its type and the identity in one word") {
  CHECK(std::is_same_v<Input<float>::element_type, float>);
  CHECK(Input<float>::direction == Direction::in);
  CHECK(Output<float>::direction == Direction::out);
  CHECK(InputOutput<float>::direction == Direction::inout);
  CHECK(Resident<float>::direction == Direction::resident);
  CHECK(Workspace<float>::direction == Direction::workspace);
  CHECK(sizeof(Input<float>) == sizeof(std::uint64_t));
}

TEST_CASE("Handles of different type or direction do not convert into each other") {
  CHECK_FALSE(std::is_convertible_v<Input<float>, Output<float>>);
  CHECK_FALSE(std::is_convertible_v<Input<float>, Input<std::int32_t>>);
  CHECK_FALSE(std::is_constructible_v<InputOutput<float>, Input<float>>);
}

TEST_CASE("Handles, and nothing else, are recognised as such") {
  CHECK(detail::is_tensor_handle<Input<float>>);
  CHECK(detail::is_tensor_handle<Workspace<bool>>);
  CHECK_FALSE(detail::is_tensor_handle<TensorKey>);
  CHECK_FALSE(detail::is_tensor_handle<const Input<float>>);
  CHECK_FALSE(detail::is_tensor_handle<int>);
}
