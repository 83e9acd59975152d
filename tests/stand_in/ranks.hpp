// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>

/// The functions by which a test controls the stand-ins for libraries of collectives (libhccl.so of this folder, and
/// libnccl.so.2 of ../cuda_stand_in).
extern "C" {
/// The number of collectives that this process has put on streams.
std::uint64_t rondo_stand_in_collectives();
/// The milliseconds that a rank waits for the others at first: eleven days, longer than any machine is busy.
inline constexpr std::uint64_t rondo_stand_in_usual_patience = 1'000'000'000;
/// Sets for how many milliseconds a rank waits for the others, on the device and when a communicator is made.
void rondo_stand_in_patience(std::uint64_t ms);
}

/// What the stand-ins for libraries of collectives have in common: they join processes by shared memory, each with a
/// stand-in of the device of its own. A collective is a kernel on the stream that it is given, so it is captured, waits
/// for the other ranks on the device, and fails there if they do not come.
namespace stand_in::ranks {

enum class Kind : std::int64_t { all_reduce, all_gather, reduce_scatter, broadcast, send, recv };

struct Shared;

/// A rank of a communicator.
struct Comm {
  Shared* shared = nullptr;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::set<Kind> warm;  ///< the kinds that have run outside of a capture
  std::uint64_t barriers = 0;
  std::atomic<bool> is_aborted{false};
  std::atomic<bool> has_failed{false};  ///< whether a rank did not come
  std::atomic<int> running{0};          ///< kernels
  void* binary = nullptr;               ///< of the library
  void* function = nullptr;             ///< of the library
};

inline constexpr std::uint32_t most_ranks = 8;

/// Writes a name for shared memory that no other communicator has. `id` has `size` bytes.
void make_id(void* id, std::size_t size);
/// Waits for all ranks. @returns null if some do not come, or there is no memory to share
[[nodiscard]] std::unique_ptr<Comm> join(const void* id, std::uint32_t ranks, std::uint32_t rank, bool& is_too_late);
void leave(Comm& comm);
/// Ends the collective that waits for other ranks, with a failure, and those that come later.
void abort(Comm& comm);

/// The words of a launch. Types are numbered as by HCCL; reductions too, and 4 is the mean.
struct Words {
  std::int64_t comm, kind, from, to, count, type, op, other, is_captured;
};
enum class Refusal { none, parameter, unsupported, not_warm };
/// Checks a collective that is put on a stream, and fills its words.
[[nodiscard]] Refusal prepare(Words& words, Kind kind, const void* from, void* to, std::uint64_t count, int type,
                              int op, std::uint32_t other, Comm* comm, bool is_captured);
/// The kernel of a collective.
void run(std::int64_t* words);

}  // namespace stand_in::ranks
