// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/binding/ports.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/registry.hpp>
#include <rondo/tensor/strided_layout.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rondo::detail {

// Files of one program may differ in RONDO_CHECK_MEMORY. So these classes have the same members with and without
// `Checks`, and sessions the same layout.

/// Records in the registry where the arena of a session is, and checks memory with strides. Without `Checks`, it does
/// nothing.
template <bool Checks>
class ArenaWatch {
 public:
  template <class P>
  [[nodiscard]] static bool enter(const P&, DevicePtr<std::byte>, Bytes, bool) noexcept {
    return true;
  }
  static void forget() noexcept {}
  template <class P>
  [[nodiscard]] static memory::Staleness check(const P&, const void*, DevicePtr<std::byte>,
                                               const StridedLayout&) noexcept {
    return memory::Staleness::none;
  }

 private:
  [[maybe_unused]] std::uint64_t owner_ = 0;
};
template <>
class ArenaWatch<true> {
 public:
  ArenaWatch() noexcept : owner_{memory::Registry::instance().next_owner()} { memory::Registry::instance().watch(); }
  ArenaWatch(const ArenaWatch&) = delete;
  ArenaWatch& operator=(const ArenaWatch&) = delete;
  ~ArenaWatch() { forget(); }

  /// The arena is at `base` from now on. Returns whether there was memory to record it.
  template <class P>
  [[nodiscard]] bool enter(const P& platform, DevicePtr<std::byte> base, Bytes size, bool is_allocated) noexcept {
    return size.value == 0 || memory::Registry::instance().enter_arena(platform.memory_space(), owner_, base.address(),
                                                                       size, is_allocated);
  }
  void forget() noexcept { memory::Registry::instance().forget_arenas(owner_); }
  /// Whether a round may use memory with strides, whose first element is at `device` or else at `host`.
  template <class P>
  [[nodiscard]] memory::Staleness check(const P& platform, const void* host, DevicePtr<std::byte> device,
                                        const StridedLayout& layout) const noexcept {
    const std::uint64_t first = device ? device.address() : reinterpret_cast<std::uintptr_t>(host);
    if (first == 0) return memory::Staleness::none;  // it is refused for another reason
    return memory::Registry::instance().check(device ? platform.memory_space() : memory::Space::host,
                                              first - layout.bytes_before(),
                                              layout.bytes_before() + layout.bytes_after());
  }

 private:
  std::uint64_t owner_;
};

/// The memory of an instance's arena.
struct ArenaMemory {
  DevicePtr<std::byte> base;
  Bytes size;
};

/// Checks the memory that the rounds of an instance would use. Without `Checks`, it does nothing.
template <bool Checks>
class MemoryWatch {
 public:
  template <class P>
  static void open(const P&) noexcept {}
  template <class Instance>
  [[gnu::always_inline]] static Status check(Instance&, const ArenaMemory&, const graph::GraphView&,
                                             std::span<const Binding>, std::uint64_t) noexcept {
    return {};
  }

 private:
  [[maybe_unused]] memory::Space space_{};
};
template <>
class MemoryWatch<true> {
 public:
  template <class P>
  void open(const P& platform) noexcept {
    space_ = platform.memory_space();
  }
  /// Checks the arena, and the memory that the bindings, in the order of the ports, or held ports name. `bound_at`: see
  /// memory::Registry::check(). Errors: stale_memory, with its cause as the detail of the refusal.
  template <class Instance>
  Status check(Instance& instance, const ArenaMemory& arena, const graph::GraphView& graph,
               std::span<const Binding> bindings, std::uint64_t bound_at) const noexcept {
    using memory::Staleness;
    memory::Registry& registry = memory::Registry::instance();
    const auto refuse = [&](Staleness staleness, std::uint32_t tensor) {
      instance.set_refusal_detail(static_cast<std::uint64_t>(staleness));
      return Status::of_tensor(Errc::stale_memory, tensor);
    };
    for (std::size_t p = 0; p < instance.port_count(); ++p) {
      const bool is_held = instance.is_held(p);
      const bool is_carried = is_carried_in_args(instance.record(p).direction);
      if (is_held && is_carried) continue;
      const std::uint64_t device = is_held ? instance.address(p) : bindings[p].device;
      const std::uint64_t bytes = instance.record(p).bytes;
      const auto host = reinterpret_cast<std::uintptr_t>(bindings[p].data);
      const Staleness found = device != 0 ? registry.check_bound(space_, arena.base.address(), device, bytes, bound_at)
                                          : registry.check(memory::Space::host, host, bytes, bound_at);
      if (found != Staleness::none) return refuse(found, instance.tensor(p));
    }
    const Staleness found = registry.check(space_, arena.base.address(), arena.size.value);
    if (found == Staleness::none) return {};
    std::uint32_t t = 0;  // the first tensor in the arena
    while (t + 1 < graph.tensors.size() && is_carried_in_args(graph.tensors[t].direction)) ++t;
    return refuse(found, t);
  }

 private:
  memory::Space space_{};
};

}  // namespace rondo::detail
