// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/memory/registry.hpp>
#include <rondo/memory/space.hpp>
#include <rondo/platform/streams/api.hpp>
#include <rondo/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::platform::streams {

/// A block of memory. A platform derives from it, and adds what it needs to free the block.
struct DeviceBlock {
  std::uint64_t address = 0;
  void* host = nullptr;  ///< where the host accesses mapped host memory; null for any other memory
  MemoryKind kind = MemoryKind::device;
  std::uint64_t asked = 0;  ///< the size that was asked for
  std::uint64_t given = 0;  ///< the size that the vendor's runtime was asked for

  /// The bytes that count for the limit of device memory.
  [[nodiscard]] std::uint64_t counted() const noexcept { return kind == MemoryKind::mapped_host ? 0 : asked; }
};

/// The blocks that a session holds, which are recorded in the registry of allocations. `Memory` derives from it, and
/// has `Code free(const Block&) noexcept`. Lifetime: the device outlives it. Thread safety: none. Cost: set-up only.
template <class Memory, class Block>
class DeviceBlocks {
 public:
  DeviceBlocks(rondo::memory::Space space, Bytes limit) : space_{space}, free_{limit.value} {}
  DeviceBlocks(const DeviceBlocks&) = delete;
  DeviceBlocks& operator=(const DeviceBlocks&) = delete;
  /// After this, the vendor's runtime may give the addresses of released blocks to others.
  ~DeviceBlocks() { rondo::memory::Registry::instance().forget_released_by(this); }

  [[nodiscard]] rondo::memory::Space space() const noexcept { return space_; }
  [[nodiscard]] bool empty() const noexcept { return blocks_.empty(); }

  /// Frees a block, which must not be used again even if this fails. @returns the first failure
  [[nodiscard]] Code release(std::uint64_t address) noexcept {
    const auto found =
        std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.address == address; });
    if (found == blocks_.end()) return Memory::code_no_block;
    const Block block = *found;
    blocks_.erase(found);
    rondo::memory::Registry::instance().note_released(space_, address, this);
    free_ += block.counted();
    return static_cast<Memory&>(*this).free(block);
  }
  /// Frees all blocks that are left. @returns the first failure
  Code release_all() noexcept {
    Code first = code_ok;
    while (!blocks_.empty()) {
      keep_first(first, release(blocks_.back().address));
    }
    return first;
  }
  /// Returns where the host accesses an address in mapped host memory; null for any other address.
  [[nodiscard]] void* host_address(std::uint64_t address) const noexcept {
    for (const Block& block : blocks_) {
      const std::uint64_t offset = address - block.address;
      if (block.host != nullptr && (offset == 0 || offset < block.asked))
        return static_cast<std::byte*>(block.host) + offset;
    }
    return nullptr;
  }
  /// See HasHoldings. What a block takes beyond its size, to be aligned or for whole pages, is a line of its own.
  template <class Sink>
  void holdings(Sink& sink) const {
    for (auto kind = MemoryKind::device; kind <= MemoryKind::mapped_host;
         kind = static_cast<MemoryKind>(static_cast<int>(kind) + 1)) {
      Bytes asked, more;
      for (const Block& block : blocks_) {
        if (block.kind != kind) continue;
        asked.value += block.asked;
        more.value += block.given - block.asked;
      }
      sink(nullptr, asked, kind);
      sink("alignment", more, kind);
    }
  }

 protected:
  /// Begins a block. After it, until keep(), nothing may fail without giving the memory back. @throws Error
  /// out_of_memory if the limit is exceeded
  [[nodiscard]] Block begin(const char* platform, MemoryKind kind, Bytes size) {
    Block block;
    block.kind = kind;
    block.asked = size.value;
    if (block.counted() > free_) {
      throw Error(Errc::out_of_memory,
                  Error::Text{platform, ": ", size.value, " bytes of device memory were asked for, ", free_,
                              " are free; use smaller tensors"});
    }
    blocks_.reserve(blocks_.size() + 1);
    return block;
  }
  /// Returns the size from which a block of this alignment can be cut, if the runtime aligns to `given`; 2^64 - 1 at
  /// most.
  [[nodiscard]] static std::uint64_t bytes_for(Bytes size, Bytes alignment, std::uint64_t given) noexcept {
    const std::uint64_t more = alignment.value > given ? alignment.value - given : 0;
    return std::min(std::max<std::uint64_t>(size.value, 1), ~more) + more;
  }
  /// Records a block that has been allocated. @returns its address. @throws std::bad_alloc after freeing it
  std::uint64_t keep(const Block& block) {
    free_ -= block.counted();
    blocks_.push_back(block);
    try {
      rondo::memory::Registry::instance().note_allocated(space_, block.address, Bytes{block.asked});
    } catch (...) {
      (void)release(block.address);
      throw;
    }
    return block.address;
  }

 private:
  rondo::memory::Space space_;
  std::uint64_t free_;
  std::vector<Block> blocks_;
};

}  // namespace rondo::platform::streams
