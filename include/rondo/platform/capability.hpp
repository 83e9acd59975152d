// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/enum_set.hpp>
#include <rondo/types.hpp>

#include <cstdint>

namespace rondo {

/// The optional capabilities; a concept of the same name in platform/concept.hpp says what each promises.
enum class Capability : std::uint8_t {
  close,
  queue,
  overlapping_rounds,
  snapshot_copy,
  device_copy,
  pinned_memory,
  zero_fill,
  device_refresh,
  launch_refresh,
  args_in_host_memory,
  arena_move,
  staying_awake,
  stopping,
  failure_text,
  remarks,
  round_time,
  holdings,
  engine,
  orchestration,
  queued_orchestration,
  callers_stream,
  loops,
  learning,
  memory_registry,
  memory_kinds
};

/// A set of capabilities. A platform declares those that it means to have: `static constexpr rondo::Capabilities
/// capabilities{rondo::Capability::close, rondo::Capability::zero_fill};`. A declared capability does not compile if
/// its member is missing, is misspelt, has another type or is not noexcept. A member whose capability is not declared
/// is not used.
using Capabilities = detail::EnumSet<Capability>;

/// A set of kinds of memory.
using MemoryKinds = detail::EnumSet<MemoryKind>;

/// The moments at which a session asks a platform for remarks.
enum class Moment : std::uint8_t {
  opening,  ///< the limitations in this environment, and the substitutes in use
  closing,  ///< deviations from what the options or calls asked for
};

/// A copy within device memory, of pieces of the same size at addresses of any alignment.
struct DeviceCopy {
  DevicePtr<std::byte> to;          ///< the first piece that is written
  DevicePtr<const std::byte> from;  ///< the first piece that is read
  Bytes size;                       ///< the size of a piece
  std::uint64_t count = 1;          ///< the number of pieces
  std::int64_t to_stride = 0;    ///< the bytes from the start of a written piece to that of the next; may be negative
  std::int64_t from_stride = 0;  ///< the same for the pieces that are read; may also be 0
};

namespace detail {

/// Whether P declares the capability. Does not compile if its `capabilities` are no constant, which a requirement
/// would take for none.
template <class P, Capability c>
inline constexpr bool declares = [] {
  if constexpr (requires { P::capabilities; }) return P::capabilities.has(c);
  return false;
}();

}  // namespace detail
}  // namespace rondo
