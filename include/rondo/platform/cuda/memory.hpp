// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/registry.hpp>
#include <rondo/platform/cuda/device.hpp>
#include <rondo/platform/streams/block_holdings.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::platform::cuda {

/// The device memory that a session holds. Lifetime: the device outlives it. Thread safety: none. Cost: set-up only.
class DeviceMemory {
 public:
  DeviceMemory(Device& device, const Options& options) : device_{device}, free_{options.device_memory} {}
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  /// After this, the driver may give the addresses of released blocks to others.
  ~DeviceMemory() { rondo::memory::Registry::instance().forget_released_by(this); }

  [[nodiscard]] bool empty() const noexcept { return blocks_.empty(); }

  /// Allocates memory. Kernels access mapped host memory at the address that the host uses. @throws Error
  /// out_of_memory, and errors of the driver
  [[nodiscard]] std::uint64_t allocate(Bytes size, Bytes alignment, MemoryKind kind = MemoryKind::device) {
    const bool on_host = kind == MemoryKind::mapped_host;
    if (!on_host && size > free_) {
      throw Error(Errc::out_of_memory,
                  Error::Text{device_.platform(), ": ", size.value, " bytes of device memory were asked for, ",
                              free_.value, " are free; use smaller tensors"});
    }
    device_.must(Api::enter, device_.enter());
    blocks_.reserve(blocks_.size() + 1);  // nothing after this may fail without giving the memory back
    const std::uint64_t given = on_host ? 1 : driver_alignment;
    const std::uint64_t more = alignment.value > given ? alignment.value - given : 0;
    const std::uint64_t bytes = std::min(std::max<std::uint64_t>(size.value, 1), ~more) + more;  // 2^64 - 1 at most
    Block block;
    block.kind = kind;
    block.asked = size.value;
    block.given = bytes;
    if (on_host) {
      device_.must("cuMemHostAlloc", device_.calls().malloc_host(&block.host, bytes));
      block.whole = static_cast<Pointer>(reinterpret_cast<std::uintptr_t>(block.host));
    } else {
      block.bytes = size.value;
      device_.must("cuMemAlloc", device_.driver().malloc(&block.whole, bytes));
    }
    block.address = align_up(block.whole, std::max<std::uint64_t>(alignment.value, 1));
    free_.value -= block.bytes;
    blocks_.push_back(block);
    try {
      memory::Registry::instance().note_allocated(space(), block.address, size);
    } catch (...) {
      (void)release(block.address);
      throw;
    }
    return block.address;
  }
  /// Frees a block, which must not be used again even if this fails. @returns the first failure
  [[nodiscard]] Result release(std::uint64_t address) noexcept {
    const auto found =
        std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.address == address; });
    if (found == blocks_.end()) return invalid_value;
    const Block block = *found;
    blocks_.erase(found);
    memory::Registry::instance().note_released(space(), address, this);
    free_.value += block.bytes;
    const Result entered = device_.enter();
    const Result freed =
        block.host != nullptr ? device_.calls().free_host(block.host) : released(device_.driver().free(block.whole));
    return entered == success || entered == stream_is_captured ? freed : entered;
  }
  /// Returns where the host accesses an address in mapped host memory; null for any other address.
  [[nodiscard]] void* host_address(std::uint64_t address) const noexcept {
    for (const Block& block : blocks_) {
      const std::uint64_t offset = address - block.address;
      if (block.host != nullptr && (offset == 0 || offset < block.asked))
        return reinterpret_cast<void*>(address);  // NOLINT: the host's address, too
    }
    return nullptr;
  }
  /// See HasHoldings.
  template <class Sink>
  void holdings(Sink& sink) const noexcept {
    streams::report_blocks(std::span<const Block>{blocks_}, sink);
  }
  Result release_all() noexcept {
    Result first = success;
    while (!blocks_.empty()) {
      const Result code = release(blocks_.back().address);
      if (first == success) first = code;
    }
    return first;
  }
  [[nodiscard]] memory::Space space() const noexcept {
    return memory::space_of_device(memory::cuda_devices, device_.number());
  }

 private:
  /// The alignment of every block that the driver allocates.
  static constexpr std::uint64_t driver_alignment = 256;
  struct Block {
    Pointer whole = 0;
    void* host = nullptr;  ///< null: device memory
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  ///< of device memory, for the limit
    MemoryKind kind = MemoryKind::device;
    std::uint64_t asked = 0;  ///< the size that was asked for
    std::uint64_t given = 0;  ///< the size that the driver was asked for
  };

  Device& device_;
  Bytes free_;
  std::vector<Block> blocks_;
};

}  // namespace rondo::platform::cuda
