// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/device.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rondo::platform::onboard {

/// Pinned host memory of a session: blocks that the user asked for, which the device reaches directly, and a buffer
/// through which ordinary memory travels.
///
/// The buffer is given out from front to back and is free again when the device is through with all of it; outputs wait
/// in it until then. Lifetime: the device outlives it. Thread safety: none. Cost on the hot path: no allocation.
class Staging {
 public:
  explicit Staging(Device& device) : device_{device} {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // --- the user's blocks
  // ----------------------------------------------------------------------------------------------

  /// @throws Error out_of_memory, and what the runtime reports
  [[nodiscard]] void* pin(Bytes size) {
    pinned_.reserve(pinned_.size() + 1);
    void* const memory = allocate(size.value == 0 ? 1 : size.value);
    const Block block{reinterpret_cast<std::uintptr_t>(memory), size.value};
    pinned_.insert(std::upper_bound(pinned_.begin(), pinned_.end(), block), block);
    return memory;
  }
  AclError unpin(const void* memory) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    const auto found =
        std::find_if(pinned_.begin(), pinned_.end(), [&](const Block& block) { return block.begin == at; });
    if (found == pinned_.end()) return 107000;
    pinned_.erase(found);
    return free(const_cast<void*>(memory));
  }
  [[nodiscard]] bool has_pinned() const noexcept { return !pinned_.empty(); }
  [[nodiscard]] bool is_pinned(const void* memory, std::uint64_t size) const noexcept {
    if (pinned_.empty()) [[likely]]
      return false;
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    auto next = std::upper_bound(pinned_.begin(), pinned_.end(), Block{at, 0});
    if (next == pinned_.begin()) return false;
    --next;
    return at - next->begin <= next->size && size <= next->size - (at - next->begin);
  }

  // --- the buffer
  // -----------------------------------------------------------------------------------------------------

  /// Makes it hold `bytes`, and remember `outputs` at a time. The device is idle. @throws Error
  void resize(std::uint64_t bytes, std::size_t outputs) {
    outputs_.reserve(outputs);
    most_outputs_ = outputs_.capacity();
    if (bytes <= capacity_) return;
    release_buffer();
    buffer_ = static_cast<std::byte*>(allocate(bytes));
    capacity_ = bytes;
  }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }

  /// `size` bytes at a multiple of 64, or null: wait for the device first.
  [[nodiscard]] std::byte* take(std::uint64_t size) noexcept {
    const std::uint64_t begin = used_;
    if (size > capacity_ - begin) [[unlikely]]
      return nullptr;
    used_ = std::min(align_up(begin + size, 64), capacity_);
    return buffer_ + begin;
  }
  [[nodiscard]] bool has_room_for_output() const noexcept { return outputs_.size() < most_outputs_; }
  /// Once the device is through, `size` bytes from `from` in the buffer belong at `to`.
  void expect(void* to, const std::byte* from, std::uint64_t size) noexcept { outputs_.push_back({to, from, size}); }

  /// The device is through: outputs go where they belong, the buffer is free.
  void deliver() noexcept {
    for (const Output& output : outputs_) __builtin_memcpy(output.to, output.from, output.size);
    reset();
  }
  /// Outputs that will not come are not waited for.
  void forget_outputs() noexcept { outputs_.clear(); }
  void reset() noexcept {
    outputs_.clear();
    used_ = 0;
  }

  AclError release_buffer() noexcept {
    if (buffer_ == nullptr) return code_ok;
    const AclError code = free(buffer_);
    buffer_ = nullptr;
    capacity_ = 0;
    reset();
    return code;
  }
  AclError release_all() noexcept {
    AclError first = release_buffer();
    while (!pinned_.empty()) {
      const AclError code = unpin(reinterpret_cast<void*>(pinned_.back().begin));  // NOLINT: what pin() returned
      if (first == code_ok) first = code;
    }
    return first;
  }

 private:
  struct Block {
    std::uintptr_t begin;
    std::uint64_t size;
    friend bool operator<(const Block& a, const Block& b) noexcept { return a.begin < b.begin; }
  };
  struct Output {
    void* to;
    const std::byte* from;
    std::uint64_t size;
  };

  [[nodiscard]] void* allocate(std::uint64_t bytes) {
    void* memory = nullptr;
    device_.must("aclrtSetDevice", device_.enter());
    device_.must("aclrtMallocHost", device_.calls().malloc_host(&memory, bytes));
    return memory;
  }
  AclError free(void* memory) noexcept {
    const AclError code = device_.enter();
    const AclError freed = device_.calls().free_host(memory);
    return code == code_ok ? freed : code;
  }

  Device& device_;
  std::vector<Block> pinned_;  ///< ascending
  std::byte* buffer_ = nullptr;
  std::uint64_t capacity_ = 0;
  std::uint64_t used_ = 0;
  std::vector<Output> outputs_;
  std::size_t most_outputs_ = 0;
};

}  // namespace rondo::platform::onboard
