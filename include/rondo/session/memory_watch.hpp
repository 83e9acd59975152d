// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/registry.hpp>
#include <rondo/tensor/strided_layout.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::detail {

/// Records in the registry where the arena of a session is, and checks memory with strides. Without `Checks`, it does
/// nothing. Files of one program may differ in RONDO_CHECK_MEMORY, so it has its member in either case, and sessions
/// have the same layout.
template <bool Checks>
class ArenaWatch {
 public:
  ArenaWatch() noexcept {
    if constexpr (Checks) memory::Registry::instance().watch();
  }
  ArenaWatch(const ArenaWatch&) = delete;
  ArenaWatch& operator=(const ArenaWatch&) = delete;
  ~ArenaWatch() { forget(); }

  /// The arena is at `base` from now on. Returns whether there was memory to record it.
  template <class P>
  [[nodiscard]] bool enter(const P& platform, DevicePtr<std::byte> base, Bytes size, bool is_allocated) noexcept {
    if constexpr (Checks) {
      memory::Registry& registry = memory::Registry::instance();
      if (!registry.enter_arena(platform.memory_space(), this, base.address(), size, is_allocated)) {
        return false;
      }
      arena_ = base.address();
    }
    return true;
  }
  /// Whether the arena may move to memory: it is not that of another session.
  template <class P>
  [[nodiscard]] bool may_enter(const P& platform, DevicePtr<std::byte> base, Bytes size) const noexcept {
    if constexpr (Checks) {
      return memory::Registry::instance().may_be_arena(platform.memory_space(), this, base.address(), size);
    }
    return true;
  }
  void forget() noexcept {
    if constexpr (Checks) memory::Registry::instance().forget_arenas(this);
  }
  /// Whether a round may use memory with strides, whose first element is at `device` or else at `host`.
  template <class P>
  [[nodiscard]] memory::Staleness check(const P& platform, const void* host, DevicePtr<std::byte> device,
                                        const StridedLayout& layout) const noexcept {
    if constexpr (Checks) {
      const std::uint64_t first = device ? device.address() : reinterpret_cast<std::uintptr_t>(host);
      const std::uint64_t begin = first - layout.bytes_before();
      const std::uint64_t bytes = layout.bytes_before() + layout.bytes_after();
      memory::Registry& registry = memory::Registry::instance();
      return device ? registry.check_bound(platform.memory_space(), arena_, begin, bytes)
                    : registry.check(memory::Space::host, begin, bytes);
    }
    return memory::Staleness::none;
  }

 private:
  [[maybe_unused]] std::uint64_t arena_ = 0;  ///< its address
};

}  // namespace rondo::detail
