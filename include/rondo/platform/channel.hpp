// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// The channels that receive the calls of a round. All have the same members and cost nothing beyond the calls that
/// they forward.
namespace rondo::platform {

/// A channel whose calls take effect at once: the platform itself.
template <class P>
struct Direct {
  P& platform;
  /// Whether a launch can carry the refresh of its args.
  static constexpr bool carries_refresh = true;
  /// Whether the device can compute the args of the round.
  static constexpr bool computes_args = HasDeviceRefresh<P>;
  /// Whether finish() means that the round is over.
  static constexpr bool is_synchronous = true;

  [[gnu::always_inline]] Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size,
                                        [[maybe_unused]] bool snapshot) const noexcept {
    if constexpr (HasSnapshotCopy<P>) {
      if (snapshot) return platform.copy_in_snapshot(to, from, size);
    }
    return platform.copy_in(to, from, size);
  }
  Status copy_on_device(const DeviceCopy& copy) const noexcept { return platform.copy_on_device(copy); }
  Status refresh_args(const args::RefreshOp& op) const noexcept { return platform.refresh_args(op); }
  template <class Runner>
  [[gnu::always_inline]] Status launch(Runner& runner) const noexcept {
    return runner.launch();
  }
  [[gnu::always_inline]] Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) const noexcept {
    return platform.copy_out(to, from, size);
  }
  template <class Runner>
  [[gnu::always_inline]] Status finish(Runner& runner) const noexcept {
    return runner.outcome(platform.wait());
  }
};

/// Holds the queue of a platform, if it has one and it is needed.
template <class P, bool is_wanted>
struct QueueHolder {
  QueueHolder(P&, std::size_t, std::size_t, Bytes) noexcept {}
  Status close() noexcept { return {}; }
};
/// With a queue.
template <class P>
struct QueueHolder<P, true> {
  QueueHolder(P& platform, std::size_t slots, std::size_t outputs, Bytes bytes)
      : queue(platform.open_queue(slots, outputs, bytes)) {}
  Status close() noexcept { return queue.close(); }
  detail::QueueOf<P> queue;
};

/// A channel whose calls prepare a round in a slot of a queue; finish() sends it.
template <class Queue>
struct QueueSlot {
  Queue& queue;
  std::uint32_t slot;
  static constexpr bool carries_refresh = false;
  static constexpr bool computes_args = QueueRefreshes<Queue>;
  static constexpr bool is_synchronous = false;

  /// States that the round uses device memory of the caller, which other rounds may also use.
  [[gnu::always_inline]] void run_alone() const noexcept {
    if constexpr (QueueOverlaps<Queue>) queue.run_alone(slot);
  }

  [[gnu::always_inline]] Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size, bool) const noexcept {
    return queue.copy_in(slot, to, from, size);
  }
  Status refresh_args(const args::RefreshOp& op) const noexcept { return queue.refresh_args(slot, op); }
  template <class Runner>
  [[gnu::always_inline]] Status launch(Runner& runner) const noexcept {
    static_assert(QueueLaunches<Queue, std::remove_reference_t<decltype(runner.program())>>,
                  "rondo: the platform's queue cannot launch what load() returns; write `Status launch(std::uint32_t "
                  "slot, Program&) noexcept;` in the queue");
    return queue.launch(slot, runner.program());
  }
  [[gnu::always_inline]] Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) const noexcept {
    return queue.copy_out(slot, to, from, size);
  }
  Status copy_on_device(const DeviceCopy& copy) const noexcept { return queue.copy_on_device(slot, copy); }
  template <class Runner>
  [[gnu::always_inline]] Status finish(Runner&) const noexcept {
    return queue.commit(slot);
  }
};

/// A channel that puts a round on a stream of the caller's; finish() does not wait. `before_replays`: for the refresh
/// alone, before a round is recorded.
template <class P, bool before_replays = false>
struct OnCallersStream {
  P& platform;
  static constexpr bool carries_refresh = false;
  static constexpr bool computes_args = false;
  static constexpr bool is_synchronous = false;

  /// Does nothing, since the order on the stream keeps rounds apart.
  static void run_alone() noexcept {}
  Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size, bool snapshot) const noexcept {
    auto& stream = platform.callers_stream();
    return before_replays ? stream.copy_before_replays(to, from, size) : stream.copy_in(to, from, size, snapshot);
  }
  template <class Runner>
  Status launch(Runner& runner) const noexcept {
    return platform.callers_stream().launch(runner.program());
  }
  Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) const noexcept {
    return platform.callers_stream().copy_out(to, from, size);
  }
  Status copy_on_device(const DeviceCopy& copy) const noexcept {
    return platform.callers_stream().copy_on_device(copy);
  }
  template <class Runner>
  Status finish(Runner&) const noexcept {
    return platform.callers_stream().end();
  }
};

}  // namespace rondo::platform
