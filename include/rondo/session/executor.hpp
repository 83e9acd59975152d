// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/channel.hpp>
#include <rondo/session/observer.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>

/// The steps of a round. Executor::run runs the rounds of every kind of session, with every kind of binding.
namespace rondo::detail {

/// Whether a round refreshes the args table before the launch.
enum class Refreshes : std::uint8_t { never, always, if_due };

/// The work of a round with resolved bindings: its copies, and whether it refreshes the args table, which already has
/// the bases that moved and the host inputs. `copy_in(move, move_on_device)` calls `move(device, host, bytes,
/// snapshot)` for each copy to the device until one fails; `copy_out(move, move_on_device)` calls `move(host, device,
/// bytes)`. Both call `move_on_device(copy)` for each DeviceCopy.
template <Refreshes when, class In, class Out>
struct Work {
  static constexpr Refreshes refreshes = when;
  In copy_in;
  Out copy_out;
};
template <Refreshes when, class In, class Out>
[[nodiscard, gnu::always_inline]] inline Work<when, In, Out> make_work(In in, Out out) noexcept {
  return {in, out};
}

/// Runs rounds of one graph over one channel. The steps are always inlined, so that bindings stay in registers, and
/// only the kernels of a static graph remain in the generated code.
template <class Channel, class Instance, class Observer>
struct Executor {
  Channel channel;
  Instance& instance;
  RoundObserver<Observer> observer;

  /// Runs a whole round: copies in ▶ refresh ▶ launch ▶ copies out ▶ end. Returns the failure of the first step that
  /// fails; later steps are skipped.
  template <class W>
  [[gnu::always_inline]] Status run(const W& work) const noexcept {
    Status status = copy_in(work);
    if (status.ok()) status = launch<W::refreshes>();
    if (status.ok()) status = copy_out(work);
    if (status.ok()) status = finish();
    if constexpr (!Channel::is_synchronous) {
      if (!status) [[unlikely]]
        instance.note_withdrawn();
      observer.enters(Phase::outside);
    }
    return status;
  }

  // The single steps, for rounds that the caller takes step by step.
  template <class W>
  [[gnu::always_inline]] Status copy_in(const W& work) const noexcept {
    observer.begins();
    observer.enters(Phase::copy_in);
    return work.copy_in(
        [&](DevicePtr<std::byte> to, const void* from, Bytes size, bool snapshot) __attribute__((always_inline)) {
          observer.copies_in(size);
          return channel.copy_in(to, from, size, snapshot);
        },
        [&](const auto& copy) { return channel.copy_on_device(copy); });
  }
  template <Refreshes when>
  [[gnu::always_inline]] Status launch() const noexcept {
    if (when == Refreshes::always || (when == Refreshes::if_due && instance.is_refresh_due())) {
      observer.refresh_begins();
      const Status status = instance.refresh(channel);
      observer.refreshed(instance.refresher());
      if (!status) [[unlikely]]
        return status;
      if constexpr (!Channel::is_synchronous) {
        if (instance.uses_callers_memory()) channel.run_alone();
      }
    }
    observer.enters(Phase::launch);
    return channel.launch(instance.runner());
  }
  template <class W>
  [[gnu::always_inline]] Status copy_out(const W& work) const noexcept {
    observer.enters(Phase::copy_out);
    if constexpr (Channel::is_synchronous) {
      if (const Status status = instance.runner().settle(); !status) [[unlikely]]
        return status;
    }
    return work.copy_out(
        [&](void* to, DevicePtr<const std::byte> from, Bytes size) __attribute__((always_inline)) {
          observer.copies_out(size);
          return channel.copy_out(to, from, size);
        },
        [&](const auto& copy) { return channel.copy_on_device(copy); });
  }
  [[gnu::always_inline]] Status finish() const noexcept {
    observer.enters(Phase::wait);
    return channel.finish(instance.runner());
  }
};

}  // namespace rondo::detail
