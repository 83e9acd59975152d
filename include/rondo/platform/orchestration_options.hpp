// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

#include <cstdint>

namespace rondo::runtime {

/// The capacity for graphs that are built during a round. All of it is reserved when the session is opened; unused
/// memory stays untouched, so large figures cost only address space.
struct OrchestrationOptions {
  static constexpr std::uint32_t by_engine = 0xFFFF'FFFF;

  /// The number of worker threads in addition to the orchestrating one. By default, the Pool engine has one for each
  /// further core of the host, and at least one. The Inline engine has none.
  std::uint32_t threads = by_engine;
  /// The most tasks that may be unfinished at once in one ring, rounded up to a power of two. The default is that of
  /// the chips.
  std::uint32_t window = 16384;
  /// The memory for intermediates in one ring. The chips have four rings of 256 MiB each.
  Bytes ring_bytes{std::uint64_t{32} << 20};
  /// The most intermediates that may be alive at once in one ring, rounded up to a power of two.
  std::uint32_t tensors = 16384;
  /// The most uses of tensors by unfinished tasks that are recorded at once, over all rings.
  std::uint32_t regions = 262'144;
  /// The most edges that may be pending at once, in addition to two per task.
  std::uint32_t edges = 65'536;
  /// Whether the Inline engine runs tasks as late as possible, and the newest first. This is slower, but reveals
  /// missing edges.
  bool late = false;
};

}  // namespace rondo::runtime
