// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/binding/bindings.hpp>
#include <rondo/binding/prebound.hpp>
#include <rondo/tensor/pair.hpp>
#include <rondo/tensor/view.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Handles, pairs and what they come down to: plain words.

using namespace rondo;

template <class T, std::size_t Size>
constexpr bool is_plain = sizeof(T) == Size && std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>;

static_assert(is_plain<Bytes, 8>);
static_assert(is_plain<DevicePtr<float>, 8> && is_plain<DevicePtr<const std::byte>, 8>);
static_assert(is_plain<RoundIndex, 8> && is_plain<TensorId, 4> && is_plain<TaskId, 4>);
static_assert(is_plain<TensorKey, 8>);
static_assert(std::is_trivially_copyable_v<Shape>);

static_assert(is_plain<Input<float>, 8> && is_plain<Output<bool>, 8> && is_plain<InputOutput<BFloat16>, 8>);
static_assert(is_plain<Resident<std::int64_t>, 8> && is_plain<Workspace<float>, 8>);

// Which, where, how many.
static_assert(is_plain<CopiedPair<float, Direction::in>, 24> && is_plain<CopiedPair<float, Direction::out>, 24>);
static_assert(is_plain<CopiedPair<float, Direction::inout>, 24>);
static_assert(is_plain<DevicePair<float, Direction::resident>, 24> &&
              is_plain<DevicePair<float, Direction::workspace>, 24>);

static_assert(is_plain<detail::Binding, 48>);
static_assert(std::is_trivially_copyable_v<Prebound<detail::Resolved<2, 3, 4, 1, true>, 2>>);

// A view is an address and its extents.
static_assert(is_plain<In<float>, 16> && is_plain<Out<float, 2>, 24> && is_plain<InOut<float, 5>, 48>);

// Storage for element types that C++ has no name for.
static_assert(is_plain<Float16, 2> && is_plain<BFloat16, 2>);
static_assert(is_plain<Fp8E4M3Fn, 1> && is_plain<Fp8E8M0, 1> && is_plain<Fp4E2M1x2, 1>);
