// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/tensor/data_type.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// The structs that a host and an orchestrator on its device exchange, in one block of device memory. Both programs are
/// compiled with this header. The layout of the block:
///
///     0            OrchestratorArgs of the launch of each round
///     256          OrchestratorArgs of the last launch (command: close)
///     512          OrchestratorArgs of the first launch if cores run the tasks (command: probe)
///     tensors_at   the OrchestratorTensor of each tensor of the interface, in the order of declaration, followed by
///                  the bytes of the host inputs
///     result_at    OrchestratorResult
///     mailboxes_at the mailboxes of the cores, see device/mailbox.hpp; 0: tasks run on the AICPU
///     heaps_at     the rings for intermediates, one after another, of `heap_bytes` each
///
/// All offsets count from the beginning of the block, whose device address is `arena`, a multiple of 1024.
namespace rondo::runtime {

/// The command of a launch.
enum class OrchestratorCommand : std::uint32_t {
  round,  ///< build and run the graph of one round, and write the result
  close,  ///< release the state that is kept between rounds; no launch follows
  probe,  ///< find out whether the AICPU and the cores see what the other writes; counts as a round
};

/// The arguments of an orchestrator's launch.
struct OrchestratorArgs {
  static constexpr std::uint32_t expected_magic = 0x4F44'4E52;  // "RNDO"
  static constexpr std::uint32_t expected_version = 3;
  static constexpr std::uint32_t probes = 1000;  ///< values that a probe exchanges

  std::uint32_t magic = expected_magic;
  std::uint32_t version = expected_version;
  OrchestratorCommand command = OrchestratorCommand::round;
  std::uint32_t npu_arch = 0;  ///< the chip's number in the runtime: 2201 or 3510
  std::uint64_t session = 0;   ///< differs for each session of a process
  std::uint64_t arena = 0;     ///< device address of this block
  std::uint64_t arena_bytes = 0;
  std::uint64_t tensors_at = 0;
  std::uint64_t result_at = 0;
  std::uint64_t heaps_at = 0;
  std::uint64_t heap_bytes = 0;  ///< the size of one ring
  std::uint64_t user = 0;        ///< OrchestratorBinary::user
  std::uint32_t rings = 0;
  std::uint32_t tensor_count = 0;
  std::uint32_t tag = 0;  ///< the graph half of the interface's TensorKeys
  // the session's OrchestrationOptions
  std::uint32_t threads = 0;
  std::uint32_t window = 0;
  std::uint32_t tensors = 0;
  std::uint32_t regions = 0;
  std::uint32_t edges = 0;
  std::uint32_t late = 0;
  // The cores that run the tasks
  std::uint64_t mailboxes_at = 0;
  std::uint32_t cube_cores = 0;
  std::uint32_t vector_cores = 0;
  std::uint32_t core_limit_ms = 0;   ///< the limit for a block of a task, and for cores to start and end; 0: none
  std::uint32_t probe_limit_ms = 0;  ///< the same limit in a probe
};
static_assert(std::is_trivially_copyable_v<OrchestratorArgs> && sizeof(OrchestratorArgs) == 144);
static_assert(offsetof(OrchestratorArgs, session) == 16 && offsetof(OrchestratorArgs, arena) == 24);
static_assert(offsetof(OrchestratorArgs, user) == 72 && offsetof(OrchestratorArgs, rings) == 80);
static_assert(offsetof(OrchestratorArgs, mailboxes_at) == 120);

/// A tensor of the interface in this round.
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

/// The outcome of a round.
struct OrchestratorResult {
  std::uint64_t round =
      0;  ///< counted from 1 by the device, which writes it last: then the other fields are of this round
  std::uint64_t tasks = 0;
  Status status;
  char text[488] = {};  ///< the description of a failure, ended by a zero
};
static_assert(std::is_trivially_copyable_v<OrchestratorResult> && sizeof(OrchestratorResult) == 512);
static_assert(offsetof(OrchestratorResult, status) == 16 && offsetof(OrchestratorResult, text) == 24);

/// Stands for an orchestration that is a program on the device, named by Options::orchestrator:
/// `open<A2A3Onboard, Policies>(interface, on_device, options)`.
struct OnDevice {};

}  // namespace rondo::runtime

namespace rondo {
/// The only value of runtime::OnDevice, which tells how to use it.
inline constexpr runtime::OnDevice on_device{};
}  // namespace rondo
