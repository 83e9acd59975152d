// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/device.hpp>

#include <cstdint>
#include <vector>

namespace rondo::platform::onboard {

/// The device memory that a session holds: addresses with pages behind them where the runtime has virtual memory, else
/// plain blocks. Lifetime: the device outlives it. Thread safety: none. Cost: set-up only.
class DeviceMemory {
 public:
  DeviceMemory(Device& device, const Options& options) : device_{device}, free_{options.device_memory} {
    kind_.location.id = options.device;
    if (options.virtual_memory && calls().has_virtual_memory()) {
      std::size_t granule = 0;
      if (calls().granularity(&kind_, 0, &granule) == code_ok) granule_ = granule;
    }
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  [[nodiscard]] bool is_virtual() const noexcept { return granule_ != 0; }
  [[nodiscard]] bool empty() const noexcept { return blocks_.empty(); }

  /// @throws Error out_of_memory, and what the runtime reports
  [[nodiscard]] std::uint64_t allocate(Bytes size, Bytes alignment) {
    if (size > free_) {
      throw Error(Errc::out_of_memory,
                  Error::Text(device_.identity().platform, ": ", size.value, " bytes of device memory were asked for, ",
                              free_.value, " are free; use smaller tensors"));
    }
    device_.must("aclrtSetDevice", device_.enter());
    blocks_.reserve(blocks_.size() + 1);  // nothing after this may fail without giving the memory back
    Block block;
    block.bytes = size.value;
    if (granule_ != 0) take_pages(block);
    if (block.whole == nullptr) {
      // The runtime aligns to 64 bytes; what more is wanted is found inside a larger block.
      const std::uint64_t more = alignment.value > 64 ? alignment.value - 64 : 0;
      device_.must("aclrtMalloc", calls().malloc(&block.whole, (size.value == 0 ? 1 : size.value) + more, huge_first));
    }
    block.address = align_up(reinterpret_cast<std::uintptr_t>(block.whole), alignment.value);
    free_.value -= size.value;
    blocks_.push_back(block);
    return block.address;
  }

  /// @returns the first failure; the block is gone in any case
  [[nodiscard]] AclError release(std::uint64_t address) noexcept {
    auto found = blocks_.begin();
    while (found != blocks_.end() && found->address != address) ++found;
    if (found == blocks_.end()) return code_bad_parameter;
    const Block block = *found;
    blocks_.erase(found);
    free_.value += block.bytes;
    AclError first = device_.enter();
    const auto keep = [&](AclError code) {
      if (first == code_ok) first = code;
    };
    if (block.pages == nullptr) {
      keep(calls().free(block.whole));
    } else {
      keep(calls().unmap_memory(block.whole));
      keep(calls().free_physical(block.pages));
      keep(calls().release_address(block.whole));
    }
    return first;
  }
  /// What is left, at the end.
  AclError release_all() noexcept {
    AclError first = code_ok;
    while (!blocks_.empty()) {
      const AclError code = release(blocks_.back().address);
      if (first == code_ok) first = code;
    }
    return first;
  }

 private:
  struct Block {
    void* whole = nullptr;
    PhysicalMemory pages = nullptr;  ///< null: a plain block
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] const Calls& calls() const noexcept { return device_.calls(); }

  /// Leaves the block empty if anything is refused: then a plain one takes its place.
  void take_pages(Block& block) noexcept {
    const std::size_t size = ((block.bytes == 0 ? 1 : block.bytes) + granule_ - 1) / granule_ * granule_;
    void* address = nullptr;
    PhysicalMemory pages = nullptr;
    if (calls().reserve_address(&address, size, 0, nullptr, 0) != code_ok) {
      granule_ = 0;  // it has the calls, and not what they are for: asked once
      return;
    }
    if (calls().malloc_physical(&pages, size, &kind_, 0) != code_ok) {
      (void)calls().release_address(address);
      return;
    }
    if (calls().map_memory(address, size, 0, pages, 0) != code_ok) {
      (void)calls().free_physical(pages);
      (void)calls().release_address(address);
      return;
    }
    block.whole = address;
    block.pages = pages;
  }

  Device& device_;
  Bytes free_;
  PhysicalMemoryProp kind_;
  std::size_t granule_ = 0;  ///< of pages; 0: plain blocks
  std::vector<Block> blocks_;
};

}  // namespace rondo::platform::onboard
