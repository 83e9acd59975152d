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

/// Records in the registry where the arena of a session is, and checks memory with strides. Without `Checks`, it does
/// nothing. Files of one program may differ in RONDO_CHECK_MEMORY, so it has its member in either case, and sessions
/// have the same layout.
template <bool Checks>
class ArenaWatch {
 public:
  ArenaWatch() noexcept {
    if constexpr (Checks) {
      owner_ = memory::Registry::instance().next_owner();
      memory::Registry::instance().watch();
    }
  }
  ArenaWatch(const ArenaWatch&) = delete;
  ArenaWatch& operator=(const ArenaWatch&) = delete;
  ~ArenaWatch() { forget(); }

  /// The arena is at `base` from now on. Returns whether there was memory to record it.
  template <class P>
  [[nodiscard]] bool enter(const P& platform, DevicePtr<std::byte> base, Bytes size, bool is_allocated) noexcept {
    if constexpr (Checks) {
      return size.value == 0 || memory::Registry::instance().enter_arena(platform.memory_space(), owner_,
                                                                         base.address(), size, is_allocated);
    }
    return true;
  }
  void forget() noexcept {
    if constexpr (Checks) memory::Registry::instance().forget_arenas(owner_);
  }
  /// Whether a round may use memory with strides, whose first element is at `device` or else at `host`.
  template <class P>
  [[nodiscard]] memory::Staleness check(const P& platform, const void* host, DevicePtr<std::byte> device,
                                        const StridedLayout& layout) const noexcept {
    if constexpr (Checks) {
      const std::uint64_t first = device ? device.address() : reinterpret_cast<std::uintptr_t>(host);
      if (first == 0) return memory::Staleness::none;  // it is refused for another reason
      return memory::Registry::instance().check(device ? platform.memory_space() : memory::Space::host,
                                                first - layout.bytes_before(),
                                                layout.bytes_before() + layout.bytes_after());
    }
    return memory::Staleness::none;
  }

 private:
  [[maybe_unused]] std::uint64_t owner_ = 0;
};

/// Checks the memory that a round of an instance would use: the arena, and what the bindings, in the order of the
/// ports, or held ports name. `space`: of the device; `bound_at`: see memory::Registry::check(). Errors: stale_memory,
/// with its cause as the detail of the refusal.
template <class Instance>
Status check_memory_of_round(Instance& instance, memory::Space space, DeviceSpan<std::byte> arena,
                             const graph::GraphView& graph, std::span<const Binding> bindings,
                             std::uint64_t bound_at) noexcept {
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
    const Staleness found = device != 0 ? registry.check_bound(space, arena.data().address(), device, bytes, bound_at)
                                        : registry.check(memory::Space::host, host, bytes, bound_at);
    if (found != Staleness::none) return refuse(found, instance.tensor(p));
  }
  const Staleness found = registry.check(space, arena.data().address(), arena.size());
  if (found == Staleness::none) return {};
  std::uint32_t t = 0;  // the first tensor in the arena
  while (t + 1 < graph.tensors.size() && is_carried_in_args(graph.tensors[t].direction)) ++t;
  return refuse(found, t);
}

}  // namespace rondo::detail
