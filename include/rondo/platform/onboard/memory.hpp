// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/registry.hpp>
#include <rondo/platform/onboard/device.hpp>
#include <rondo/platform/streams/block_holdings.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace rondo::platform::onboard {

/// The device memory that a session holds: reserved addresses with mapped pages if the runtime has virtual memory,
/// otherwise plain blocks. Lifetime: the device outlives it. Thread safety: none. Cost: set-up only.
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
  /// After this, the runtime may give the addresses of released blocks to others.
  ~DeviceMemory() { rondo::memory::Registry::instance().forget_released_by(this); }

  [[nodiscard]] bool is_virtual() const noexcept { return granule_ != 0; }
  [[nodiscard]] bool empty() const noexcept { return blocks_.empty(); }

  /// Allocates device memory. @throws Error out_of_memory, and errors of the runtime
  [[nodiscard]] std::uint64_t allocate(Bytes size, Bytes alignment) {
    if (size > free_) {
      throw Error(Errc::out_of_memory,
                  Error::Text{device_.identity().platform, ": ", size.value, " bytes of device memory were asked for, ",
                              free_.value, " are free; use smaller tensors"});
    }
    device_.must("aclrtSetDevice", device_.enter());
    blocks_.reserve(blocks_.size() + 1);  // first, so that nothing fails after the memory is allocated
    Block block;
    block.bytes = size.value;
    if (granule_ != 0) take_pages(block);
    if (block.whole == nullptr) {
      // The runtime aligns to 64 bytes; for a greater alignment, a larger block is allocated.
      const std::uint64_t more = alignment.value > 64 ? alignment.value - 64 : 0;
      block.given = (size.value == 0 ? 1 : size.value) + more;
      device_.must("aclrtMalloc", calls().malloc(&block.whole, block.given, huge_first));
    }
    block.address = align_up(reinterpret_cast<std::uintptr_t>(block.whole), alignment.value);
    return keep(block, size);
  }

  /// Allocates memory of one kind; of another kind than `device`, as a plain block. @throws Error unsupported if the
  /// runtime has no such memory
  [[nodiscard]] std::uint64_t allocate(MemoryKind kind, Bytes size, Bytes alignment) {
    if (kind == MemoryKind::device) return allocate(size, alignment);
    const std::uint64_t more = alignment.value > 64 ? alignment.value - 64 : 0;
    const std::uint64_t bytes = std::min(std::max<std::uint64_t>(size.value, 1), ~more) + more;  // 2^64 - 1 at most
    const bool is_host = kind == MemoryKind::mapped_host;
    if (!is_host && size > free_) {
      throw Error(Errc::out_of_memory,
                  Error::Text{device_.identity().platform, ": ", size.value, " bytes of device memory were asked for, ",
                              free_.value, " are free; use smaller tensors"});
    }
    device_.must("aclrtSetDevice", device_.enter());
    blocks_.reserve(blocks_.size() + 1);
    Block block;
    block.bytes = is_host ? 0 : size.value;
    block.kind = kind;
    block.given = bytes;
    if (is_host) {
      map_host(block, bytes, alignment);
    } else if (kind == MemoryKind::task_scheduler) {
      must_have(calls().malloc_for_scheduler != nullptr, "aclrtMallocForTaskScheduler");
      device_.must("aclrtMallocForTaskScheduler",
                   calls().malloc_for_scheduler(&block.whole, bytes, huge_first, nullptr));
    } else {
      const int policy = kind == MemoryKind::huge_pages     ? huge_only
                         : kind == MemoryKind::normal_pages ? normal_only
                                                            : huge_first_for_peers;
      device_.must("aclrtMalloc", calls().malloc(&block.whole, bytes, policy));
    }
    if (!is_host) block.address = align_up(reinterpret_cast<std::uintptr_t>(block.whole), alignment.value);
    return keep(block, size);
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

  /// See HasHoldings.
  template <class Sink>
  void holdings(Sink& sink) const noexcept {
    streams::report_blocks(std::span<const Block>{blocks_}, sink);
  }

  /// Frees a block, which must not be used again even if this fails. @returns the first failure
  [[nodiscard]] AclError release(std::uint64_t address) noexcept {
    auto found = blocks_.begin();
    while (found != blocks_.end() && found->address != address) ++found;
    if (found == blocks_.end()) return code_bad_parameter;
    const Block block = *found;
    blocks_.erase(found);
    rondo::memory::Registry::instance().note_released(space(), address, this);
    free_.value += block.bytes;
    AclError first = device_.enter();
    const auto keep = [&](AclError code) {
      if (first == code_ok) first = code;
    };
    if (block.host != nullptr) {
      keep(calls().unregister_host(block.host));
      keep(calls().free_host(block.whole));
    } else if (block.pages == nullptr) {
      keep(calls().free(block.whole));
    } else {
      keep(calls().unmap_memory(block.whole));
      keep(calls().free_physical(block.pages));
      keep(calls().release_address(block.whole));
    }
    return first;
  }
  /// Frees all blocks that are left.
  AclError release_all() noexcept {
    AclError first = code_ok;
    while (!blocks_.empty()) {
      const AclError code = release(blocks_.back().address);
      if (first == code_ok) first = code;
    }
    return first;
  }
  [[nodiscard]] rondo::memory::Space space() const noexcept {
    return rondo::memory::space_of_device(rondo::memory::onboard_devices, device_.number());
  }

 private:
  struct Block;
  std::uint64_t keep(Block& block, Bytes size) {
    block.asked = size.value;
    free_.value -= block.bytes;
    blocks_.push_back(block);
    try {
      rondo::memory::Registry::instance().note_allocated(space(), block.address, size);
    } catch (...) {
      (void)release(block.address);
      throw;
    }
    return block.address;
  }
  struct Block {
    void* whole = nullptr;
    PhysicalMemory pages = nullptr;  ///< null: a plain block
    void* host = nullptr;            ///< null: not mapped host memory
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  ///< of device memory, for the limit
    MemoryKind kind = MemoryKind::device;
    std::uint64_t asked = 0;  ///< the size that was asked for
    std::uint64_t given = 0;  ///< the size that the runtime was asked for
  };

  [[nodiscard]] const Calls& calls() const noexcept { return device_.calls(); }

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
    const std::size_t size = ((block.bytes == 0 ? 1 : block.bytes) + granule_ - 1) / granule_ * granule_;
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
  Bytes free_;
  PhysicalMemoryProp kind_;
  std::size_t granule_ = 0;  ///< the size of a page; 0: plain blocks
  std::vector<Block> blocks_;
};

}  // namespace rondo::platform::onboard
