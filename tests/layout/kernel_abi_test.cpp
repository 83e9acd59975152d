// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/kernel.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/tensor/data_type.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

// The kernel ABI of simpler: one function, one block of 64-bit words.

using namespace rondo;

static_assert(std::is_same_v<ArgWord, std::int64_t>);
static_assert(std::is_same_v<KernelEntry, void (*)(std::int64_t*)>);

struct Kernel4 {
  static constexpr std::string_view name = "kernel";
  static constexpr auto core = CoreType::cube;
  static void run(In<float, 2>, Block, InOut<float>, std::int32_t) {}
};
static_assert(std::is_convertible_v<decltype(&detail::kernel_entry<Kernel4>), KernelEntry>);
// One word for each parameter, then the extents: two and one.
static_assert(detail::ParametersOf<Kernel4>::words == 4 + 3);

// Scalars are zero-extended.
static_assert(detail::to_word(std::int32_t{-1}) == 0xFFFF'FFFF);
static_assert(detail::to_word(std::int8_t{-1}) == 0xFF);
static_assert(detail::to_word(std::int64_t{-1}) == -1);
static_assert(detail::to_word(1.0F) == 0x3F80'0000 && detail::to_word(1.0) == 0x3FF0'0000'0000'0000);
static_assert(detail::to_word(Block{5, 7}) == (std::int64_t{7} << 32 | 5));

// The numbers of the data types.
static_assert(static_cast<int>(DataType::float32) == 0 && static_cast<int>(DataType::bfloat16) == 6);
static_assert(static_cast<int>(DataType::boolean) == 11 && static_cast<int>(DataType::fp4e2m1) == 14);
static_assert(sizeof(DataType) == 1 && sizeof(CoreType) == 1 && sizeof(Direction) == 1 && sizeof(Access) == 1);

// Records are copied as memory.
static_assert(std::is_trivially_copyable_v<graph::TensorRecord> && std::is_trivially_copyable_v<graph::TaskRecord>);
static_assert(std::is_trivially_copyable_v<graph::ArgRecord> && std::is_trivially_copyable_v<graph::GraphView>);
