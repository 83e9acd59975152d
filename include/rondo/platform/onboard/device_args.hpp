// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/tensor/data_type.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// What a host and an orchestrator on its device say to each other: three structs in one block of device memory, which
/// both sides are compiled with. The block is laid out as
///
///     0            OrchestratorArgs, what a round is launched with
///     256          OrchestratorArgs, what the last launch is made with (command: close)
///     tensors_at   OrchestratorTensor of each tensor of the interface, in the order of their declaration; after them
///                  the bytes of host inputs
///     result_at    OrchestratorResult
///     heaps_at     the rings for intermediates, one after the other, `heap_bytes` each
///
/// All offsets are from the block's begin, which is `arena` as the device sees it and a multiple of 1024.
namespace rondo::runtime {

/// What to do.
enum class OrchestratorCommand : std::uint32_t {
  round,  ///< build and run one round's graph, write the result
  close,  ///< forget what was kept from round to round; no other launch follows
};

/// What an orchestrator is launched with.
struct OrchestratorArgs {
  static constexpr std::uint32_t expected_magic = 0x4F44'4E52;  // "RNDO"
  static constexpr std::uint32_t expected_version = 1;

  std::uint32_t magic = expected_magic;
  std::uint32_t version = expected_version;
  OrchestratorCommand command = OrchestratorCommand::round;
  std::uint32_t npu_arch = 0;  ///< of the chip: 2201 or 3510
  std::uint64_t session = 0;   ///< another for each session of a process
  std::uint64_t arena = 0;     ///< device address of this block
  std::uint64_t arena_bytes = 0;
  std::uint64_t tensors_at = 0;
  std::uint64_t result_at = 0;
  std::uint64_t heaps_at = 0;
  std::uint64_t heap_bytes = 0;  ///< of one ring
  std::uint64_t user = 0;        ///< OrchestratorBinary::user
  std::uint32_t rings = 0;
  std::uint32_t tensor_count = 0;
  std::uint32_t tag = 0;  ///< the graph half of the interface's TensorKeys
  // StreamOptions, as the session was opened with
  std::uint32_t threads = 0;
  std::uint32_t window = 0;
  std::uint32_t tensors = 0;
  std::uint32_t regions = 0;
  std::uint32_t edges = 0;
  std::uint32_t deadlock_after_ms = 0;
  std::uint32_t late = 0;
};
static_assert(std::is_trivially_copyable_v<OrchestratorArgs> && sizeof(OrchestratorArgs) == 120);
static_assert(offsetof(OrchestratorArgs, session) == 16 && offsetof(OrchestratorArgs, arena) == 24);
static_assert(offsetof(OrchestratorArgs, user) == 72 && offsetof(OrchestratorArgs, rings) == 80);

/// A tensor of the interface, as it is in this round.
struct OrchestratorTensor {
  std::uint64_t address = 0;  ///< on the device
  std::uint64_t count = 0;    ///< elements
  std::uint64_t bytes = 0;
  std::uint64_t extents[max_rank] = {};
  std::uint8_t rank = 0;
  Direction direction = Direction::in;
  DataType type = DataType::float32;
  std::uint8_t reserved[5] = {};
};
static_assert(std::is_trivially_copyable_v<OrchestratorTensor> && sizeof(OrchestratorTensor) == 72);
static_assert(offsetof(OrchestratorTensor, extents) == 24 && offsetof(OrchestratorTensor, rank) == 64);

/// What became of a round.
struct OrchestratorResult {
  std::uint64_t round = 0;  ///< counted from 1 by the device: written last, so what stands here is of this round
  std::uint64_t tasks = 0;
  Status status;
  char text[488] = {};  ///< what is known of a failure, ends with 0
};
static_assert(std::is_trivially_copyable_v<OrchestratorResult> && sizeof(OrchestratorResult) == 512);
static_assert(offsetof(OrchestratorResult, status) == 16 && offsetof(OrchestratorResult, text) == 24);

/// In place of an orchestration, where a session is opened whose orchestration is a program on the device:
/// `open<A2A3Onboard, Policies>(interface, on_device, options)` with Options::orchestrator.
struct OnDevice {};

}  // namespace rondo::runtime

namespace rondo {
/// The one value of its type; see there.
inline constexpr runtime::OnDevice on_device{};
}  // namespace rondo
