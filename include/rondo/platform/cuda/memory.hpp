// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/registry.hpp>
#include <rondo/platform/cuda/device.hpp>
#include <rondo/platform/streams/device_blocks.hpp>

#include <algorithm>
#include <cstdint>

namespace rondo::platform::cuda {

/// A block of a GPU's memory, or of memory that a GPU accesses.
struct Block : streams::DeviceBlock {
  Pointer whole = 0;
};

/// The device memory that a session holds. Lifetime: the device outlives it. Thread safety: none. Cost: set-up only.
class DeviceMemory : public streams::DeviceBlocks<DeviceMemory, Block> {
 public:
  static constexpr Result code_no_block = invalid_value;

  DeviceMemory(Device& device, const Options& options)
      : DeviceBlocks{memory::space_of_device(memory::cuda_devices, device.number()), options.device_memory},
        device_{device} {}

  /// Allocates memory. Kernels access mapped host memory at the address that the host uses. @throws Error
  /// out_of_memory, and errors of the driver
  [[nodiscard]] std::uint64_t allocate(Bytes size, Bytes alignment, MemoryKind kind = MemoryKind::device) {
    Block block = begin(device_.platform(), kind, size);
    device_.must(Api::enter, device_.enter());
    if (kind == MemoryKind::mapped_host) {
      block.given = bytes_for(size, alignment, 1);
      void* host = nullptr;
      device_.must(Api::malloc_host, device_.calls().malloc_host(&host, block.given));
      block.whole = reinterpret_cast<std::uintptr_t>(host);
    } else {
      block.given = bytes_for(size, alignment, 256);  // the driver's own alignment
      device_.must(Api::malloc, device_.driver().malloc(&block.whole, block.given));
    }
    block.address = align_up(block.whole, std::max<std::uint64_t>(alignment.value, 1));
    if (kind == MemoryKind::mapped_host) block.host = host_pointer(block.address);
    return keep(block);
  }
  /// @returns the first failure
  [[nodiscard]] Result free(const Block& block) noexcept {
    const Result entered = device_.enter_to_release();
    const Result freed = block.host != nullptr ? device_.calls().free_host(host_pointer(block.whole))
                                               : released(device_.driver().free(block.whole));
    return entered == success ? freed : entered;
  }

 private:
  [[nodiscard]] static void* host_pointer(Pointer address) noexcept {
    return reinterpret_cast<void*>(address);  // NOLINT: the host's address, too
  }

  Device& device_;
};

}  // namespace rondo::platform::cuda
