// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/concurrency.hpp>
#include <rondo/platform/concept.hpp>

#include <concepts>
#include <type_traits>

namespace rondo {

/// Names each part that P lacks to be a Platform with the capabilities that it declares. Use:
/// `static_assert(rondo::check_platform<MyPlatform>());`
template <class P>
consteval bool check_platform() {
  static_assert(HasArch<P>, "rondo: the platform names no chip; write `using Arch = rondo::arch::A2A3;` (or A5)");
  static_assert(HasName<P>, "rondo: the platform has no name; write `static constexpr const char* name = \"...\";`");
  static_assert(
      HasOptions<P>,
      "rondo: the platform cannot be opened; write `struct Options {...};` and `explicit P(const Options&);`");
  static_assert(HasMemory<P>,
                "rondo: the platform has no device memory; write `DevicePtr<std::byte> allocate(Bytes size, Bytes "
                "alignment);` and `Status release(DevicePtr<std::byte>) noexcept;`");
  static_assert(HasCopy<P>,
                "rondo: the platform cannot copy; write `Status copy_in(DevicePtr<std::byte>, const void*, Bytes) "
                "noexcept;` and `Status copy_out(void*, DevicePtr<const std::byte>, Bytes) noexcept;`");
  static_assert(HasWait<P>, "rondo: the platform cannot be waited for; write `Status wait() noexcept;`");
  if constexpr (requires { P::capabilities; }) {
    static_assert(std::same_as<std::remove_cvref_t<decltype(P::capabilities)>, Capabilities>,
                  "rondo: the platform's capabilities are of another type; write `static constexpr "
                  "rondo::Capabilities capabilities{rondo::Capability::...};`");
  }
  if constexpr (requires { P::concurrency; }) {
    static_assert(std::same_as<std::remove_cvref_t<decltype(P::concurrency)>, memory::Concurrency>,
                  "rondo: the platform's concurrency is of another type; write `static constexpr "
                  "rondo::memory::Concurrency concurrency = rondo::memory::Concurrency::parallel;`");
  }
  static_assert(!detail::declares<P, Capability::close> || HasClose<P>,
                "rondo: the platform declares Capability::close; write `Status close() noexcept;`");
  static_assert(
      !detail::declares<P, Capability::queue> || HasQueue<P>,
      "rondo: the platform declares Capability::queue; write `Queue open_queue(std::size_t slots, std::size_t "
      "outputs, Bytes bytes);`, whose Queue has `void reserve(Bytes);` and the nine calls that HasQueue lists, each "
      "noexcept");
  if constexpr (detail::declares<P, Capability::overlapping_rounds>) {
    static_assert(HasQueue<P>,
                  "rondo: the platform declares Capability::overlapping_rounds; declare Capability::queue, too");
    static_assert(HasOverlappingRounds<P> && QueueOverlaps<detail::QueueOf<P>>,
                  "rondo: the platform declares Capability::overlapping_rounds; write `bool overlaps_rounds() const "
                  "noexcept;`, and in its queue `void overlap_rounds();` and `void run_alone(std::uint32_t slot) "
                  "noexcept;`");
  }
  static_assert(!detail::declares<P, Capability::snapshot_copy> || HasSnapshotCopy<P>,
                "rondo: the platform declares Capability::snapshot_copy; write `Status "
                "copy_in_snapshot(DevicePtr<std::byte>, const void*, Bytes) noexcept;`");
  static_assert(!detail::declares<P, Capability::device_copy> || HasDeviceCopy<P>,
                "rondo: the platform declares Capability::device_copy; write `Status copy_on_device(const "
                "rondo::DeviceCopy&) noexcept;`");
  if constexpr (HasDeviceCopy<P> && HasQueue<P>) {
    static_assert(QueueCopiesOnDevice<detail::QueueOf<P>>,
                  "rondo: the platform declares Capability::device_copy and Capability::queue; write, in its queue, "
                  "`Status copy_on_device(std::uint32_t slot, const rondo::DeviceCopy&) noexcept;`");
  }
  static_assert(!detail::declares<P, Capability::pinned_memory> || HasPinnedMemory<P>,
                "rondo: the platform declares Capability::pinned_memory; write `void* allocate_pinned(Bytes);` and "
                "`void release_pinned(void*) noexcept;`");
  static_assert(!detail::declares<P, Capability::zero_fill> || HasZeroFill<P>,
                "rondo: the platform declares Capability::zero_fill; write `Status fill_zeros(DevicePtr<std::byte>, "
                "Bytes) noexcept;`");
  static_assert(!detail::declares<P, Capability::device_refresh> || HasDeviceRefresh<P>,
                "rondo: the platform declares Capability::device_refresh; write `Status refresh_args(const "
                "args::RefreshOp&) noexcept;`, `bool can_refresh_args() const noexcept;` and `const "
                "args::RefreshCosts* refresh_costs() const noexcept;`");
  if constexpr (HasDeviceRefresh<P> && HasQueue<P>) {
    static_assert(QueueRefreshes<detail::QueueOf<P>>,
                  "rondo: the platform declares Capability::device_refresh and Capability::queue; write, in its queue, "
                  "`Status refresh_args(std::uint32_t slot, const args::RefreshOp&) noexcept;`");
  }
  static_assert(!detail::declares<P, Capability::launch_refresh> || HasLaunchRefresh<P>,
                "rondo: the platform declares Capability::launch_refresh; write `static constexpr std::uint32_t "
                "max_launch_bytes = ...;`, `Status refresh_in_launch(const args::RefreshOp&, const "
                "args::LaunchPayload&) noexcept;`, `bool can_refresh_args() const noexcept;` and `const "
                "args::RefreshCosts* refresh_costs() const noexcept;`");
  static_assert(!detail::declares<P, Capability::staying_awake> || HasStayingAwake<P>,
                "rondo: the platform declares Capability::staying_awake; write `void keep_awake(bool) noexcept;`");
  static_assert(!detail::declares<P, Capability::stopping> || HasStopping<P>,
                "rondo: the platform declares Capability::stopping; write `void request_stop() noexcept;`");
  static_assert(!detail::declares<P, Capability::failure_text> || HasFailureText<P>,
                "rondo: the platform declares Capability::failure_text; write `const Error::Text& failure_text() const "
                "noexcept;`");
  static_assert(!detail::declares<P, Capability::remarks> || HasRemarks<P>,
                "rondo: the platform declares Capability::remarks; write `template <class Sink> void "
                "remarks(rondo::Moment, Sink&& sink) const noexcept;`");
  static_assert(!detail::declares<P, Capability::round_time> || HasRoundTime<P>,
                "rondo: the platform declares Capability::round_time; write `double last_round_ns() const noexcept;`");
  static_assert(!HasLanes<P> || Deals<P>,
                "rondo: the platform's concurrency is in_lanes; write `static FrozenGraph deal(FrozenGraph, const "
                "Options&);`");
  static_assert(!detail::declares<P, Capability::holdings> || HasHoldings<P>,
                "rondo: the platform declares Capability::holdings; write `template <class Sink> void holdings(Sink&& "
                "sink) const;`");
  static_assert(!detail::declares<P, Capability::engine> || HasEngine<P>,
                "rondo: the platform declares Capability::engine; write `Engine& engine() noexcept;`");
  static_assert(!detail::declares<P, Capability::orchestration> || HasOrchestration<P>,
                "rondo: the platform declares Capability::orchestration; write `template <class Runtime, class Graph> "
                "using Orchestration = ...;`");
  static_assert(!detail::declares<P, Capability::queued_orchestration> || (HasQueue<P> && HasOrchestration<P>),
                "rondo: the platform declares Capability::queued_orchestration; declare Capability::queue and "
                "Capability::orchestration, too");
  static_assert(!detail::declares<P, Capability::callers_stream> || HasCallersStream<P>,
                "rondo: the platform declares Capability::callers_stream; write `Stream& callers_stream() noexcept;`, "
                "whose Stream has the calls that HasCallersStream lists, each noexcept");
  static_assert(!detail::declares<P, Capability::memory_registry> || HasMemoryRegistry<P>,
                "rondo: the platform declares Capability::memory_registry; write `rondo::memory::Space memory_space() "
                "const noexcept;`, and record each allocation and release in rondo::memory::Registry::instance()");
  static_assert(!detail::declares<P, Capability::memory_kinds> || HasMemoryKinds<P>,
                "rondo: the platform declares Capability::memory_kinds; write `static constexpr rondo::MemoryKinds "
                "memory_kinds{...};`, `DevicePtr<std::byte> allocate(rondo::MemoryKind, Bytes size, Bytes alignment);` "
                "and `void* host_address(DevicePtr<std::byte>) const noexcept;`");
  return Platform<P>;
}

}  // namespace rondo
