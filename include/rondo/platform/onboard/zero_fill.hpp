// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/a2a3.hpp>
#include <rondo/platform/onboard/device.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rondo::platform::onboard {

/// Sets device memory to zero. On a2a3 chips the runtime's own fill makes a buffer on the host and sends it over the
/// bus each time, so zeros are copied from a block of device memory instead. On other chips the runtime's fill runs on
/// the device.
///
/// Lifetime: the device must outlive it; release() frees the blocks. Thread safety: that of the session. Errors:
/// prepare() throws. Cost on the hot path: one call for each 16 MiB.
class ZeroFill {
 public:
  explicit ZeroFill(Device& device) : device_{device} {}
  ZeroFill(const ZeroFill&) = delete;
  ZeroFill& operator=(const ZeroFill&) = delete;

  /// Makes fills of `bytes` possible with few calls. Precondition: the device is the calling thread's, and its stream
  /// exists. @throws Error out_of_memory, and errors of the runtime
  void prepare(std::uint64_t bytes) {
    if (device_.identity().npu_arch != arch::A2A3::npu_arch) return;
    bytes = align_up(std::min(bytes, longest), 64);
    if (bytes <= bytes_) return;
    blocks_.reserve(blocks_.size() + 1);
    void* block = nullptr;
    device_.must("aclrtMalloc", calls().malloc(&block, bytes, huge_first));
    blocks_.push_back(block);
    held_ += bytes;
    device_.work_begins();
    device_.must("aclrtMemsetAsync", calls().set_async(block, bytes, 0, bytes, device_.stream()));
    device_.must("aclrtSynchronizeStreamWithTimeout", device_.wait());
    zeros_ = block;
    bytes_ = bytes;
  }
  /// Submits the fill. @returns the runtime's code; `call` is then the name of the call
  [[nodiscard]] AclError fill(std::uint64_t address, std::uint64_t bytes, Stream stream, const char*& call) noexcept {
    if (bytes_ == 0) {
      call = "aclrtMemsetAsync";
      return calls().set_async(pointer(address), bytes, 0, bytes, stream);
    }
    call = "aclrtMemcpyAsync";
    AclError code = code_ok;
    while (bytes != 0 && code == code_ok) {
      const std::uint64_t part = std::min(bytes, bytes_);
      code = calls().copy_async(pointer(address), part, zeros_, part, device_to_device, stream);
      address += part;
      bytes -= part;
    }
    return code;
  }
  /// The size of all blocks: older ones are kept, since programs that use them may be loaded.
  [[nodiscard]] std::uint64_t held() const noexcept { return held_; }

  /// Frees the blocks. The device must be idle. @returns the first failure
  AclError release() noexcept {
    AclError first = blocks_.empty() ? code_ok : device_.enter_to_release();
    for (void* const block : blocks_) {
      keep_first(first, calls().free(block));
    }
    blocks_ = {};
    zeros_ = nullptr;
    bytes_ = held_ = 0;
    return first;
  }

 private:
  static constexpr std::uint64_t longest = std::uint64_t{1} << 24;

  [[nodiscard]] const Calls& calls() const noexcept { return device_.calls(); }
  [[nodiscard]] static void* pointer(std::uint64_t address) noexcept {
    return reinterpret_cast<void*>(address);  // NOLINT: an address for the runtime
  }

  Device& device_;
  std::vector<void*> blocks_;  ///< queued copies may still read those that are no longer used
  void* zeros_ = nullptr;      ///< the block that fills copy from
  std::uint64_t bytes_ = 0;    ///< its size
  std::uint64_t held_ = 0;     ///< the size of all blocks
};

}  // namespace rondo::platform::onboard
