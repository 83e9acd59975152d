// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/concepts.hpp>
#include <rondo/platform/immediate_queue.hpp>
#include <rondo/platform/shared.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace rondo::platform {

/// One slot of a platform's queue, as a platform: what a round asks of it is put together in the slot, and waiting
/// sends it on its way instead. Slots share the arena but for what rounds bind, of which each has a copy.
///
/// Lifetime: platform, queue and arena's owner outlive the slot. Thread safety: as the queue. Cost: the queue's calls.
template <Platform P>
class Slot : public Shared<P> {
 public:
  using Queue = decltype(open_queue(std::declval<P&>(), std::size_t{}, std::size_t{}, Bytes{}));

  /// What the view is of: the device, its queue, and which slot.
  struct Options {
    typename Shared<P>::Options shared;
    Queue* queue = nullptr;
    std::uint32_t number = 0;
    Bytes port_displacement;  ///< of what rounds bind, from where the plan of the arena has it
  };

  explicit Slot(const Options& options) noexcept
      : Shared<P>{options.shared},
        queue_{options.queue},
        number_{options.number},
        port_displacement_{options.port_displacement} {}

  [[nodiscard]] Bytes port_displacement() const noexcept { return port_displacement_; }

  [[gnu::always_inline]] Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    return queue_->copy_in(number_, to, from, size);
  }
  Status copy_in_snapshot(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    return queue_->copy_in(number_, to, from, size);
  }
  [[gnu::always_inline]] Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    return queue_->copy_out(number_, to, from, size);
  }
  template <class Program>
  [[gnu::always_inline]] Status launch(Program& program) noexcept {
    return queue_->launch(number_, program);
  }
  Status wait() noexcept { return queue_->commit(number_); }

 private:
  Queue* queue_;
  std::uint32_t number_;
  Bytes port_displacement_;
};

}  // namespace rondo::platform
