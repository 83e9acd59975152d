// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

#include <span>

namespace rondo::platform::streams {

/// Reports blocks of device memory and of mapped host memory to the sink of HasHoldings. A block has its `kind`, the
/// size that was `asked` for, and the bytes that the driver has `given`. What a block takes beyond its size, to be
/// aligned or for whole pages, is a line of its own.
template <class Block, class Sink>
void report_blocks(std::span<const Block> blocks, Sink& sink) noexcept {
  for (auto kind = MemoryKind::device; kind <= MemoryKind::mapped_host;
       kind = static_cast<MemoryKind>(static_cast<int>(kind) + 1)) {
    Bytes asked, more;
    for (const Block& block : blocks) {
      if (block.kind != kind) continue;
      asked.value += block.asked;
      more.value += block.given - block.asked;
    }
    sink(nullptr, asked, kind);
    sink("alignment", more, kind);
  }
}

}  // namespace rondo::platform::streams
