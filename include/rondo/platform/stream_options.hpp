// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

#include <cstdint>

namespace rondo::runtime {

/// The capacity for graphs that are built while they run. All of it is reserved when the session is opened; unused
/// memory stays untouched, so large figures cost address space only.
struct StreamOptions {
  static constexpr std::uint32_t by_engine = 0xFFFF'FFFF;

  /// Worker threads besides the orchestrating one. By default one per further host core, at least one, on the Pool
  /// engine. The Inline engine has none.
  std::uint32_t threads = by_engine;
  /// Tasks that may be unfinished at once in one ring; rounded up to a power of two. The chips' figure.
  std::uint32_t window = 16384;
  /// Memory for intermediates, per ring; 256 MiB on the chips, for each of four.
  Bytes ring_bytes{std::uint64_t{32} << 20};
  /// Intermediates that may be alive at once in one ring; rounded up to a power of two.
  std::uint32_t tensors = 16384;
  /// Uses of tensors by unfinished tasks that are remembered at once, over all rings.
  std::uint32_t regions = 262'144;
  /// Edges that may be pending at once beyond two per task.
  std::uint32_t edges = 65'536;
  /// The time for which nothing may run or become ready, while the orchestration waits for room, before the round
  /// fails.
  std::uint32_t deadlock_after_ms = 500;
  /// On the Inline engine: run tasks as late as possible and the newest first, which shows missing edges, but is
  /// slower.
  bool late = false;
};

}  // namespace rondo::runtime
