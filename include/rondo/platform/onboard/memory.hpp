// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/registry.hpp>
#include <rondo/platform/onboard/device.hpp>
#include <rondo/platform/streams/device_blocks.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace rondo::platform::onboard {

/// A block of an NPU's memory, or of memory that an NPU accesses.
struct Block : streams::DeviceBlock {
  void* whole = nullptr;
  PhysicalMemory pages = nullptr;  ///< null: a plain block
};

/// The device memory that a session holds: reserved addresses with mapped pages if the runtime has virtual memory,
/// otherwise plain blocks. Lifetime: the device outlives it. Thread safety: none. Cost: set-up only.
class DeviceMemory : public streams::DeviceBlocks<DeviceMemory, Block> {
 public:
  static constexpr AclError code_no_block = code_bad_parameter;

  DeviceMemory(Device& device, const Options& options)
      : DeviceBlocks{rondo::memory::space_of_device(rondo::memory::onboard_devices, device.number()),
                     options.device_memory},
        device_{device} {
    kind_.location.id = options.device;
    if (options.virtual_memory && calls().has_virtual_memory()) {
      std::size_t granule = 0;
      if (calls().granularity(&kind_, 0, &granule) == code_ok) granule_ = granule;
    }
  }

  [[nodiscard]] bool is_virtual() const noexcept { return granule_ != 0; }

  /// Allocates memory of one kind; of another kind than `device`, as a plain block. @throws Error out_of_memory,
  /// unsupported if the runtime has no such memory, and errors of the runtime
  [[nodiscard]] std::uint64_t allocate(MemoryKind kind, Bytes size, Bytes alignment) {
    Block block = begin(device_.identity().platform, kind, size);
    device_.must(Api::enter, device_.enter());
    if (kind == MemoryKind::device && alignment.value <= granule_) take_pages(block);
    if (block.whole == nullptr) take_plain(block, size, alignment);
    if (block.host == nullptr) {
      block.address = align_up(reinterpret_cast<std::uintptr_t>(block.whole), alignment.value);
    }
    return keep(block);
  }
  /// @returns the first failure
  [[nodiscard]] AclError free(const Block& block) noexcept {
    AclError first = device_.enter_to_release();
    if (block.host != nullptr) {
      keep_first(first, calls().unregister_host(block.host));
      keep_first(first, calls().free_host(block.whole));
    } else if (block.pages == nullptr) {
      keep_first(first, calls().free(block.whole));
    } else {
      keep_first(first, calls().unmap_memory(block.whole));
      keep_first(first, calls().free_physical(block.pages));
      keep_first(first, calls().release_address(block.whole));
    }
    return first;
  }

 private:
  [[nodiscard]] const Calls& calls() const noexcept { return device_.calls(); }

  /// Allocates a plain block. The runtime aligns to 64 bytes; for a greater alignment, a larger block is allocated.
  void take_plain(Block& block, Bytes size, Bytes alignment) {
    block.given = bytes_for(size, alignment, 64);
    const auto take = [&](int policy) { device_.must(Api::malloc, calls().malloc(&block.whole, block.given, policy)); };
    switch (block.kind) {
      case MemoryKind::device: return take(huge_first);
      case MemoryKind::huge_pages: return take(huge_only);
      case MemoryKind::normal_pages: return take(normal_only);
      case MemoryKind::mapped_host: return map_host(block, block.given, alignment);
      case MemoryKind::task_scheduler: {
        constexpr const char* call = "aclrtMallocForTaskScheduler";
        must_have(calls().malloc_for_scheduler != nullptr, call);
        device_.must(call, calls().malloc_for_scheduler(&block.whole, block.given, huge_first, nullptr));
        return;
      }
      default: return take(huge_first_for_peers);
    }
  }
  void must_have(bool has, const char* call) const {
    if (has) return;
    throw Error(Errc::unsupported, Error::Text{device_.identity().platform, ": the runtime has no ", call,
                                               ", so there is no memory of this kind; use another"});
  }
  /// Maps pinned memory in whole pages, since older Linux kernels register no less.
  void map_host(Block& block, std::uint64_t bytes, Bytes alignment) {
    constexpr std::uint64_t page = 4096;
    must_have(calls().register_host != nullptr, "aclrtHostRegisterV2");
    must_have(calls().device_pointer_of_host != nullptr, "aclrtHostGetDevicePointer");
    must_have(calls().unregister_host != nullptr, "aclrtHostUnregister");
    if (alignment.value > page) {
      throw Error(Errc::misaligned, Error::Text{device_.identity().platform, ": mapped host memory is aligned to ",
                                                page, " bytes, not to ", alignment.value});
    }
    bytes = align_up(std::min(bytes, ~(2 * page)), page);  // no more than 2^64 bytes with the page
    block.given = bytes + page;
    device_.must("aclrtMallocHost", calls().malloc_host(&block.whole, block.given));
    const auto whole = reinterpret_cast<std::uintptr_t>(block.whole);
    void* const host = static_cast<char*>(block.whole) + (align_up(whole, page) - whole);
    const char* call = "aclrtHostRegisterV2";
    AclError code = calls().register_host(host, bytes, host_register_mapped);
    void* device = nullptr;
    if (code == code_ok) {
      call = "aclrtHostGetDevicePointer";
      code = calls().device_pointer_of_host(host, &device, 0);
      if (code != code_ok) (void)calls().unregister_host(host);
    }
    if (code != code_ok) {
      (void)calls().free_host(block.whole);
      device_.must(call, code);
    }
    std::memset(host, 0, bytes);  // the warm-up runs over it
    block.host = host;
    block.address = reinterpret_cast<std::uintptr_t>(device);
  }

  /// Reserves addresses with pages. If the runtime refuses a call, the block stays empty; a plain one then replaces it.
  void take_pages(Block& block) noexcept {
    const std::size_t bytes = std::min(std::max<std::size_t>(block.asked, 1), ~granule_);  // or size would wrap
    const std::size_t size = (bytes + granule_ - 1) / granule_ * granule_;
    void* address = nullptr;
    PhysicalMemory pages = nullptr;
    if (calls().reserve_address(&address, size, 0, nullptr, 0) != code_ok) {
      granule_ = 0;  // the calls exist, but there is no virtual memory: do not try again
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
    block.given = size;
  }

  Device& device_;
  PhysicalMemoryProp kind_;
  std::size_t granule_ = 0;  ///< the size of a page; 0: plain blocks
};

}  // namespace rondo::platform::onboard
