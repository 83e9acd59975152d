// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/registry.hpp>
#include <rondo/platform/streams/api.hpp>
#include <rondo/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::platform::streams {

/// The staging that the rounds of a graph need: bytes, and numbers of copies.
struct StagingNeeds {
  std::uint64_t bytes = 0;
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::size_t remembered = 0;  ///< outputs that may be waited for at once
};
/// Returns the staging that the rounds of a graph need, within `limit`. One copy holds at most `longest_run` bytes.
template <arch::Arch A>
[[nodiscard]] StagingNeeds staging_needs(const graph::GraphView& view, std::uint64_t longest_run, Bytes limit) {
  constexpr std::uint64_t least = 65536;
  StagingNeeds needs;
  for (const graph::TensorRecord& tensor : view.tensors) {
    const std::uint64_t size = align_up(arch::block_bytes<A>(tensor.bytes), A::tensor_alignment);
    if (copies_in(tensor.direction)) needs.bytes += size, ++needs.inputs;
    if (copies_out(tensor.direction)) needs.bytes += size, ++needs.outputs;
  }
  // Runs are cut so that this many entries suffice even if all outputs have 64 bytes.
  needs.remembered = 16 + needs.outputs + std::min(needs.bytes, longest_run) / 64;
  needs.bytes = std::max(needs.bytes, least);
  if (needs.bytes >= limit.value) needs.bytes = align_up(limit.value + 64, 64);
  return needs;
}

/// Pinned host memory of a session: blocks that the user allocated, which the device accesses directly, and a buffer
/// through which ordinary memory is copied.
///
/// The buffer is used from front to back, and is free again when the device has finished with all of it; outputs stay
/// in it until then. Lifetime: the device outlives it. Thread safety: none. Cost on the hot path: no allocation.
template <class Device>
class Staging {
  using Api = typename Device::Api;

 public:
  explicit Staging(Device& device) : device_{device} {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // --- the user's blocks ---------------------------------------------------------------------------------------------

  /// Allocates pinned memory. @throws Error out_of_memory; errors of the runtime
  [[nodiscard]] void* pin(Bytes size) {
    pinned_.reserve(pinned_.size() + 1);
    void* const memory = allocate(size.value == 0 ? 1 : size.value);
    const Block block{reinterpret_cast<std::uintptr_t>(memory), size.value};
    try {
      memory::Registry::instance().note_allocated(memory::Space::host, block.begin, size);
    } catch (...) {
      (void)free(memory);
      throw;
    }
    pinned_.insert(std::upper_bound(pinned_.begin(), pinned_.end(), block), block);
    has_pinned_ = true;
    return memory;
  }
  Code unpin(const void* memory) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    auto found = pinned_.begin();
    while (found != pinned_.end() && found->begin != at) ++found;
    if (found == pinned_.end()) return Api::code_bad_parameter;
    const Block block = *found;
    pinned_.erase(found);
    has_pinned_ = !pinned_.empty();
    rondo::memory::Registry& registry = rondo::memory::Registry::instance();
    if (!registry.is_watching()) return free(const_cast<void*>(memory));  // NOLINT: what allocate() returned
    // Kept for a while, so that nothing else takes the addresses and a round that binds them is refused.
    const Block oldest = std::exchange(kept_[unpinned_++ % max_kept], block);
    if (oldest.begin != 0) registry.forget_released(rondo::memory::Space::host, oldest.begin);
    registry.note_released(rondo::memory::Space::host, at, this);
    return oldest.begin == 0 ? code_ok : free(reinterpret_cast<void*>(oldest.begin));  // NOLINT: what pin() returned
  }
  [[nodiscard]] bool has_pinned() const noexcept { return has_pinned_; }
  /// The bytes of all blocks, including those that unpin() has kept.
  [[nodiscard]] std::uint64_t pinned_bytes() const noexcept {
    std::uint64_t sum = 0;
    for (const Block& block : pinned_) sum += block.size;
    for (const Block& block : kept_) sum += block.size;
    return sum;
  }
  [[nodiscard]] bool is_pinned(const void* memory, std::uint64_t size) const noexcept {
    if (!has_pinned_) [[likely]]
      return false;
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    auto next = std::upper_bound(pinned_.begin(), pinned_.end(), Block{at, 0});
    if (next == pinned_.begin()) return false;
    --next;
    return at - next->begin <= next->size && size <= next->size - (at - next->begin);
  }

  // --- the buffer ----------------------------------------------------------------------------------------------------

  /// Resizes the buffer to `bytes`, and the list of expected outputs to `outputs`. Precondition: the device is idle.
  [[nodiscard]] Code resize(std::uint64_t bytes, std::size_t outputs) noexcept {
    if (outputs > outputs_.size()) {
      try {
        outputs_ = std::vector<Output>(outputs);
      } catch (...) {
        return Api::code_out_of_host_memory;
      }
    }
    max_outputs_ = outputs_.data() + outputs_.size();
    reset();
    if (bytes <= capacity_) return code_ok;
    void* memory = nullptr;
    Code code = device_.enter();
    if (code == code_ok) code = device_.calls().malloc_host(&memory, bytes);
    if (code != code_ok) return code;  // the buffer stays as it is
    code = release_buffer();
    buffer_ = static_cast<std::byte*>(memory);
    capacity_ = bytes;
    reset();
    return code;
  }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }

  /// Returns `size` bytes aligned to 64, or null if the caller must wait for the device first.
  [[nodiscard]] std::byte* take(std::uint64_t size) noexcept {
    if (size > room()) [[unlikely]]
      return nullptr;
    std::byte* const begin = next_;
    use_until(begin + size);
    return begin;
  }
  /// The start of the free part of the buffer.
  [[nodiscard]] std::byte* next() const noexcept { return next_; }
  [[nodiscard]] std::uint64_t room() const noexcept { return capacity_ - static_cast<std::uint64_t>(next_ - buffer_); }
  /// Marks everything before `end` as used.
  void use_until(std::byte* end) noexcept {
    const std::uint64_t used = align_up(static_cast<std::uint64_t>(end - buffer_), 64);
    next_ = buffer_ + (used < capacity_ ? used : capacity_);
  }
  [[nodiscard]] std::uint64_t outputs_left() const noexcept {
    return static_cast<std::uint64_t>(max_outputs_ - last_output_);
  }
  /// Notes that `size` bytes at `from` in the buffer are to be copied to `to` after the device has finished.
  void expect(void* to, const std::byte* from, std::uint64_t size) noexcept { *last_output_++ = {to, from, size}; }

  /// Copies the expected outputs to their destinations and frees the buffer. Precondition: the device has finished.
  void deliver() noexcept {
    for (const Output* o = outputs_.data(); o != last_output_; ++o) __builtin_memcpy(o->to, o->from, o->size);
    reset();
  }
  void forget_outputs() noexcept { last_output_ = outputs_.data(); }
  void reset() noexcept {
    forget_outputs();
    next_ = buffer_;
  }

  Code release_buffer() noexcept {
    if (buffer_ == nullptr) return code_ok;
    const Code code = free(buffer_);
    buffer_ = nullptr;
    capacity_ = 0;
    reset();
    return code;
  }
  Code release_all() noexcept {
    Code first = code_ok;
    while (!pinned_.empty()) {
      keep_first(first, unpin(reinterpret_cast<void*>(pinned_.back().begin)));  // NOLINT: what pin() returned
    }
    const Code code = release_unused();
    return first == code_ok ? code : first;
  }
  /// Frees the buffer, and the blocks that unpin() has kept.
  Code release_unused() noexcept {
    Code first = release_buffer();
    rondo::memory::Registry::instance().forget_released_by(this);
    for (Block& kept : kept_) {
      if (kept.begin == 0) continue;
      keep_first(first, free(reinterpret_cast<void*>(std::exchange(kept, {}).begin)));  // NOLINT: what pin() returned
    }
    return first;
  }

 private:
  static constexpr std::size_t max_kept = 16;
  struct Block {
    std::uintptr_t begin = 0;
    std::uint64_t size = 0;
    friend bool operator<(const Block& a, const Block& b) noexcept { return a.begin < b.begin; }
  };
  struct Output {
    void* to = nullptr;
    const std::byte* from = nullptr;
    std::uint64_t size = 0;
  };

  [[nodiscard]] void* allocate(std::uint64_t bytes) {
    void* memory = nullptr;
    device_.must(Api::enter, device_.enter());
    device_.must(Api::malloc_host, device_.calls().malloc_host(&memory, bytes));
    return memory;
  }
  Code free(void* memory) noexcept {
    const Code code = device_.enter_to_release();
    const Code freed = device_.calls().free_host(memory);
    return code == code_ok ? freed : code;
  }

  Device& device_;
  std::vector<Block> pinned_;  ///< in ascending order of addresses
  Block kept_[max_kept] = {};  ///< unpinned and not yet freed, only while some session checks memory
  std::size_t unpinned_ = 0;
  bool has_pinned_ = false;  ///< whether there are such blocks: costs one load for each copy
  std::byte* buffer_ = nullptr;
  std::uint64_t capacity_ = 0;
  std::byte* next_ = nullptr;
  std::vector<Output> outputs_;
  Output* last_output_ = nullptr;  ///< one after the last expected output
  Output* max_outputs_ = nullptr;
};

}  // namespace rondo::platform::streams
