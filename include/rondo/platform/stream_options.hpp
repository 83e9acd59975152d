// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

#include <cstdint>

namespace rondo::runtime {

/// Room for the graphs that are built while they run. All of it is taken when the session is opened; memory that no
/// round uses stays untouched, so large figures cost address space only.
struct StreamOptions {
  static constexpr std::uint32_t by_engine = 0xFFFF'FFFF;

  /// Worker threads besides the orchestrating one. By default one per further host core, at least one, on the Pool
  /// engine. The Inline engine has none, whatever is asked for.
  std::uint32_t threads = by_engine;
  /// Tasks that may be unfinished at once in one ring; rounded up to a power of two. The chips' figure.
  std::uint32_t window = 16384;
  /// Memory for intermediates, per ring. The chips' runtime takes 256 MiB for each of its four.
  Bytes ring_bytes{std::uint64_t{32} << 20};
  /// Intermediates that may be alive at once in one ring; rounded up to a power of two.
  std::uint32_t tensors = 16384;
  /// Uses of tensors by unfinished tasks that are remembered at once, over all rings.
  std::uint32_t regions = 262'144;
  /// Edges that may be pending at once beyond two per task.
  std::uint32_t edges = 65'536;
  /// How long nothing may run or become ready, while the orchestration waits for room, before the round is failed.
  std::uint32_t deadlock_after_ms = 500;
  /// On the Inline engine: run tasks as late as possible and the newest first, rather than as soon as they are ready in
  /// the order in which they came. Slower; shows edges that are missing.
  bool late = false;
};

}  // namespace rondo::runtime
