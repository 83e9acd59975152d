// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/owned_array.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/sim/clock.hpp>
#include <rondo/platform/sim/traffic.hpp>
#include <rondo/platform/sim/worker_team.hpp>
#include <rondo/types.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rondo::platform::sim {

/// The simulated device's own thread, which runs rounds in the order in which they were committed, while the calling
/// thread puts the next ones together. Copies in are made by the calling thread at once, since a slot's memory is free
/// until its round is committed; copies out by deliver(). On a bus that takes its time (TakesTime) a round's launch
/// waits until its inputs would have arrived, and the round is done when its outputs would have; each direction has one
/// copy engine.
///
/// Thread safety: one calling thread at a time. Cost on the hot path: no allocation, no lock; a store that the other
/// thread sees, and a system call if that sleeps; without a bus that takes time, no clock.
template <class Sim>
class DeviceQueue {
  using Traffic = std::remove_cvref_t<decltype(std::declval<const Sim&>().traffic())>;
  static constexpr bool is_timed = TakesTime<Traffic>;

 public:
  /// @throws Error out_of_resources
  DeviceQueue(Sim& platform, std::size_t slots, std::size_t outputs)
      : platform_{platform},
        slots_(slots),
        outputs_(slots * outputs),
        most_outputs_{outputs},
        team_(
            1,
            [](void* self, std::size_t, std::uint32_t epoch) { static_cast<DeviceQueue*>(self)->run_until(epoch); },
            this) {}
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  [[gnu::always_inline]] Status copy_in(std::uint32_t slot, DevicePtr<std::byte> to, const void* from,
                                        Bytes size) noexcept {
    if constexpr (is_timed) {
      note_copy_in(slots_[slot], size);
    } else {
      platform_.traffic_.copied_in(size);
    }
    std::memcpy(reinterpret_cast<void*>(to.address()), from, size.value);  // NOLINT: simulated device memory
    return {};
  }
  template <class Program>
  [[gnu::always_inline]] Status launch(std::uint32_t slot, Program& program) noexcept {
    slots_[slot].program = &program;
    slots_[slot].run = [](Sim& platform, void* p) noexcept {
      const Status status = platform.launch(*static_cast<Program*>(p));
      return status.ok() ? platform.wait() : status;
    };
    return {};
  }
  [[gnu::always_inline]] Status copy_out(std::uint32_t slot, void* to, DevicePtr<const std::byte> from,
                                         Bytes size) noexcept {
    Slot& s = slots_[slot];
    outputs_[slot * most_outputs_ + s.outputs++] = {to, reinterpret_cast<const void*>(from.address()), size};
    return {};
  }
  [[gnu::always_inline]] Status commit(std::uint32_t slot) noexcept {
    Slot& s = slots_[slot];
    if (s.run == nullptr) [[unlikely]]
      return copy_now(slot);
    if constexpr (is_timed) {
      s.outputs_ns = 0;
      for (std::uint32_t i = 0; i < s.outputs; ++i) {
        s.outputs_ns += platform_.traffic_.out_ns(outputs_[slot * most_outputs_ + i].size);
      }
    }
    s.epoch = ++committed_;
    team_.start(committed_);
    return {};
  }

  [[nodiscard]] bool is_done(std::uint32_t slot) const noexcept {
    const Slot& s = slots_[slot];
    if (is_before(done_.load(std::memory_order_acquire), s.epoch)) return false;
    return !is_timed || now_ns() >= s.outputs_at;
  }
  void await(std::uint32_t slot) const noexcept {
    const Slot& s = slots_[slot];
    Backoff backoff;
    while (is_before(done_.load(std::memory_order_acquire), s.epoch)) backoff.wait();
    if constexpr (is_timed) wait_until_ns(s.outputs_at);
  }
  Status deliver(std::uint32_t slot) noexcept {
    Slot& s = slots_[slot];
    s.run = nullptr;
    if (has_failed_.load(std::memory_order_acquire) && !is_before(s.epoch, failed_)) [[unlikely]] {
      s.outputs = 0;
      return s.epoch == failed_ ? failure_ : Status{Errc::poisoned}.poisoning();
    }
    copy_outputs(slot);
    return {};
  }
  void cancel(std::uint32_t slot) noexcept {
    slots_[slot].run = nullptr;
    slots_[slot].outputs = 0;
  }

 private:
  struct Output {
    void* to = nullptr;
    const void* from = nullptr;
    Bytes size;
  };
  /// All but outputs_at is the calling thread's, until it is committed and again when it is done.
  struct alignas(64) Slot {
    Status (*run)(Sim& platform, void* program) noexcept = nullptr;
    void* program = nullptr;
    std::uint32_t epoch = 0;
    std::uint32_t outputs = 0;
    std::uint64_t inputs_at = 0;   ///< when all inputs have arrived
    std::uint64_t outputs_ns = 0;  ///< what its copies out take
    std::uint64_t outputs_at = 0;  ///< when they will have arrived
  };

  [[nodiscard]] static bool is_before(std::uint32_t a, std::uint32_t b) noexcept {
    return static_cast<std::int32_t>(a - b) < 0;
  }
  void note_copy_in(Slot& slot, Bytes size) noexcept {
    const std::uint64_t now = now_ns();
    in_free_at_ = (in_free_at_ < now ? now : in_free_at_) + platform_.traffic_.in_ns(size);
    slot.inputs_at = in_free_at_;
  }
  void copy_outputs(std::uint32_t slot) noexcept {
    const Output* const outputs = outputs_.data() + slot * most_outputs_;
    for (std::uint32_t i = 0; i < slots_[slot].outputs; ++i) {
      if constexpr (!is_timed) platform_.traffic_.copied_out(outputs[i].size);
      std::memcpy(outputs[i].to, outputs[i].from, outputs[i].size.value);
    }
    slots_[slot].outputs = 0;
  }
  /// Copies without a launch; nothing is under way that they could meet.
  [[gnu::noinline, gnu::cold]] Status copy_now(std::uint32_t slot) noexcept {
    if constexpr (is_timed) {
      wait_until_ns(slots_[slot].inputs_at);
      for (std::uint32_t i = 0; i < slots_[slot].outputs; ++i) {
        platform_.traffic_.copied_out(outputs_[slot * most_outputs_ + i].size);
      }
    }
    copy_outputs(slot);
    return {};
  }

  /// On the device's thread: all rounds up to `epoch`.
  void run_until(std::uint32_t epoch) noexcept {
    for (std::uint32_t next = done_.load(std::memory_order_relaxed) + 1; !is_before(epoch, next); ++next) {
      Slot& slot = slots_[turn_];
      turn_ = turn_ + 1 == slots_.size() ? 0 : turn_ + 1;
      run(slot, next);
      done_.store(next, std::memory_order_release);
    }
  }
  void run(Slot& slot, std::uint32_t epoch) noexcept {
    if constexpr (is_timed) wait_until_ns(slot.inputs_at);
    if (!has_failed_.load(std::memory_order_relaxed)) [[likely]] {
      if (const Status status = slot.run(platform_, slot.program); !status) [[unlikely]] {
        failure_ = status;
        failed_ = epoch;
        has_failed_.store(true, std::memory_order_release);
      }
    }
    if constexpr (is_timed) {
      const std::uint64_t now = now_ns();
      out_free_at_ = (out_free_at_ < now ? now : out_free_at_) + slot.outputs_ns;
      slot.outputs_at = out_free_at_;
    }
  }

  Sim& platform_;
  detail::OwnedArray<Slot> slots_;
  detail::OwnedArray<Output> outputs_;  ///< by slot
  std::size_t most_outputs_;
  std::uint32_t committed_ = 0;
  std::uint64_t in_free_at_ = 0;
  // The device's thread's.
  alignas(64) std::size_t turn_ = 0;
  std::uint64_t out_free_at_ = 0;
  // What it tells: rounds done, and the first that failed with all behind it.
  alignas(64) std::atomic<std::uint32_t> done_{0};
  std::atomic<bool> has_failed_{false};
  std::uint32_t failed_ = 0;
  Status failure_;
  WorkerTeam team_;  ///< last: its thread ends before what it uses
};

}  // namespace rondo::platform::sim
