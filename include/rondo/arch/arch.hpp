// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

#include <concepts>
#include <cstdint>

/// The chips as constant data. A chip is a type whose static members are its properties; it derives what both chips
/// share from CommonFacts.
namespace rondo::arch {

/// The properties that a2a3 and a5 share. Source: simpler, another runtime for the chips (hw-native-sys/simpler).
struct CommonFacts {
  static constexpr std::uint32_t cube_cores_per_block = 1;
  static constexpr std::uint32_t vector_cores_per_block = 2;

  static constexpr std::uint32_t arena_alignment = 1024;  ///< bytes
  static constexpr std::uint32_t tensor_alignment = 64;   ///< bytes; alignment of a sub-allocation
  static constexpr std::uint32_t view_alignment = 64;     ///< bytes; alignment of a view in its source
  static constexpr std::uint32_t block_granule = 32;      ///< bytes; sub-allocation sizes are multiples of it

  static constexpr bool has_float64 = false;  ///< whether it computes with double, and complex numbers of it

  static constexpr std::uint32_t max_task_tensors = 32;
  static constexpr std::uint32_t max_task_scalars = 16;
  static constexpr std::uint32_t max_graph_tensors = 256;
};

/// The number of cores of one type on the whole chip.
template <class A>
[[nodiscard]] constexpr std::uint32_t cores(CoreType core) noexcept {
  return A::max_blocks * (core == CoreType::cube ? A::cube_cores_per_block : A::vector_cores_per_block);
}

/// The limits of a chip that set-up needs, as a value, so that set-up is compiled once for all chips.
struct Limits {
  const char* name = "";
  std::uint32_t max_blocks = 0;
  std::uint32_t max_task_tensors = 0;
  std::uint32_t max_task_scalars = 0;
  std::uint32_t max_graph_tensors = 0;
  std::uint32_t tensor_alignment = 1;
  std::uint32_t view_alignment = 1;
  std::uint32_t block_granule = 1;
  std::uint32_t block_guard = 0;
  bool has_fp8 = false;
  bool has_float64 = false;

  /// The bytes that a sub-allocation of `size` bytes takes: whole granules, plus a guard if the chip requires one.
  [[nodiscard]] constexpr std::uint64_t block_bytes(std::uint64_t size) const noexcept {
    return align_up(size, block_granule) + block_guard;
  }
};

template <class A>
inline constexpr Limits limits_of = {A::name,
                                     A::max_blocks,
                                     A::max_task_tensors,
                                     A::max_task_scalars,
                                     A::max_graph_tensors,
                                     A::tensor_alignment,
                                     A::view_alignment,
                                     A::block_granule,
                                     A::block_guard,
                                     A::has_fp8,
                                     A::has_float64};

template <class A>
[[nodiscard]] constexpr std::uint64_t block_bytes(std::uint64_t size) noexcept {
  return limits_of<A>.block_bytes(size);
}

/// A type that describes a chip. Requires what the library uses: the members of CommonFacts, and the name, the maximum
/// number of blocks, the schedulers, the guard, and whether it has 8-bit floating point. A2A3 and A5 state more.
template <class A>
concept Arch = requires {
  { A::name } -> std::convertible_to<const char*>;
  { A::max_blocks } -> std::convertible_to<std::uint32_t>;
  { A::aicpu_schedulers } -> std::convertible_to<std::uint32_t>;
  { A::block_guard } -> std::convertible_to<std::uint32_t>;
  { A::has_fp8 } -> std::convertible_to<bool>;
  { A::has_float64 } -> std::convertible_to<bool>;
  { A::tensor_alignment } -> std::convertible_to<std::uint32_t>;
  { A::arena_alignment } -> std::convertible_to<std::uint32_t>;
  { A::max_task_tensors } -> std::convertible_to<std::uint32_t>;
  { A::max_task_scalars } -> std::convertible_to<std::uint32_t>;
};

}  // namespace rondo::arch
