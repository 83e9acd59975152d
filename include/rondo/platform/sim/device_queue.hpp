// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/refresh_op.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/sim/overlap_switch.hpp>
#include <rondo/platform/sim/signal.hpp>
#include <rondo/platform/sim/traffic.hpp>
#include <rondo/platform/sim/waiting.hpp>
#include <rondo/platform/start_thread.hpp>
#include <rondo/types.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo::platform::sim {

/// Runs a whole round of a program on the calling thread; overloaded for other kinds of programs.
template <class Sim, class Program>
[[gnu::always_inline]] inline Status run_round(Sim& platform, Program& program) noexcept {
  const Status status = platform.launch(program);
  return status.ok() ? platform.wait() : status;
}

/// The simulated device's own thread, which runs rounds in the order in which they were committed, while the calling
/// thread prepares the next ones. The calling thread copies inputs at once, since no round uses a slot's memory until
/// its own is committed; deliver() copies outputs. On a bus that takes time (TakesTime), a round is launched when its
/// inputs would have arrived, and is done when its outputs would have.
///
/// Each slot has one cache line that the calling thread writes and one that the thread that runs it writes, so that
/// neither disturbs the other while they work on different slots. A calling thread that would wait for long runs ready
/// rounds itself, since on a busy host the device's thread may not get a core for a while.
///
/// Thread safety: one calling thread at a time. Cost on the hot path: no allocation, no lock; two cache lines move
/// between cores, and a system call wakes the other thread if it sleeps; no clock, unless the bus takes time.
template <class Sim>
class DeviceQueue {
  using Traffic = std::remove_cvref_t<decltype(std::declval<const Sim&>().traffic())>;
  static constexpr bool is_timed = TakesTime<Traffic>;
  static constexpr bool can_overlap = HasOverlappingRounds<Sim>;
  static constexpr std::size_t cache_line = 64;

 public:
  /// @throws Error out_of_resources
  DeviceQueue(Sim& platform, std::size_t slots, std::size_t outputs)
      : platform_{platform},
        slots_(slots),
        outputs_(slots * outputs),
        results_(slots),
        slot_count_{slots},
        outputs_per_slot_{outputs} {
    thread_ = start_thread([this]() noexcept { work(); }, "the simulated device's thread",
                           "; have fewer sessions open, or one round in flight");
  }
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;
  ~DeviceQueue() { (void)close(); }

  static void reserve(Bytes) noexcept {}  // nothing is staged
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
  /// Refreshes the args of a slot. No round uses its memory, so this need not wait for the rounds under way.
  Status refresh_args(std::uint32_t, const args::RefreshOp& op) noexcept { return platform_.refresh_args(op); }
  template <class Program>
  [[gnu::always_inline]] Status launch(std::uint32_t slot, Program& program) noexcept {
    if constexpr (can_overlap) overlap_.note(slot, program);
    slots_[slot].program = &program;  // model: queue.fill
    slots_[slot].run = [](Sim& platform, void* p) noexcept { return run_round(platform, *static_cast<Program*>(p)); };
    return {};
  }
  [[gnu::always_inline]] Status copy_out(std::uint32_t slot, void* to, DevicePtr<const std::byte> from,
                                         Bytes size) noexcept {
    Slot& s = slots_[slot];
    const auto* const at = reinterpret_cast<const void*>(from.address());  // NOLINT: simulated device memory
    outputs_[slot * outputs_per_slot_ + s.outputs++] = {to, at, size};
    return {};
  }
  /// A copy waits for all rounds before it; one that follows the launch first runs the round, so that commit() has
  /// nothing left to do. A round that failed leaves the memory as it is.
  Status copy_on_device(std::uint32_t slot, const DeviceCopy& copy) noexcept {
    const bool runs_round = slots_[slot].run != nullptr;
    if (runs_round) (void)commit(slot);
    for (std::uint32_t each = 0; each < slot_count_; ++each) await(each);
    if (runs_round) slots_[slot].run = nullptr;
    if (outcome(slot).ok()) (void)platform_.copy_on_device(copy);  // deliver() reports whether the rounds have failed
    return {};
  }
  [[gnu::always_inline]] Status commit(std::uint32_t slot) noexcept {
    Slot& s = slots_[slot];
    if (s.run == nullptr) [[unlikely]]
      return {};  // copy_on_device() has run the round
    if constexpr (can_overlap) {
      if (overlap_.is_on() || (overlap_.is_due() && start_overlap())) {
        overlap_.launch(slot);  // model: switch.launch
        return {};
      }
    }
    if constexpr (is_timed) {
      s.outputs_ns = 0;
      for (std::uint32_t i = 0; i < s.outputs; ++i) {
        s.outputs_ns += platform_.traffic_.out_ns(outputs_[slot * outputs_per_slot_ + i].size);
      }
    }
    post(slot);
    return {};
  }

  [[nodiscard]] bool is_done(std::uint32_t slot) noexcept {
    if (!has_ended(slot)) {
      wake_if_asleep();
      return false;
    }
    if constexpr (is_timed) return now_ns() >= results_[slot].outputs_at;
    return true;
  }
  void await(std::uint32_t slot) noexcept {
    if constexpr (can_overlap) {
      if (overlap_.has(slot)) return overlap_.await(slot);
    }
    if (!has_ended(slot)) {
      wake_if_asleep();
      for (Backoff backoff; !has_ended(slot);) {
        const unsigned spins = platform_.spins().within_rounds;
        // model: queue.help
        if (backoff.out_of_patience(spins) && run_ready([&] { return has_ended(slot); })) continue;
        backoff.wait(spins);
      }
    }
    if constexpr (is_timed) wait_until_ns(results_[slot].outputs_at);
  }
  Status deliver(std::uint32_t slot) noexcept {
    Slot& s = slots_[slot];
    s.run = nullptr;
    if (const Status status = outcome(slot); !status) [[unlikely]] {
      s.outputs = 0;
      return status;
    }
    copy_outputs(slot);
    return {};
  }
  void cancel(std::uint32_t slot) noexcept {
    if constexpr (can_overlap) overlap_.cancel(slot);
    slots_[slot].run = nullptr;  // model: queue.cancel
    slots_[slot].outputs = 0;
  }
  /// See HasOverlappingRounds.
  void overlap_rounds()
    requires can_overlap
  {
    overlap_.allow(slot_count_);
  }
  void run_alone(std::uint32_t slot) noexcept { overlap_.run_alone(slot); }
  Status close() noexcept {
    if (!thread_.joinable()) return {};
    stopping_.store(true, std::memory_order_seq_cst);  // model: queue.stop
    wake();
    thread_.join();  // model: queue.join
    return {};
  }

 private:
  struct Output {
    void* to = nullptr;
    const void* from = nullptr;
    Bytes size;
  };
  /// Written by the calling thread; the device's thread reads it while the round is under way.
  struct alignas(cache_line) Slot {
    std::atomic<std::uint32_t> epoch{0};  ///< the round committed last; stored after all other members
    std::uint32_t outputs = 0;
    Status (*run)(Sim& platform, void* program) noexcept = nullptr;
    void* program = nullptr;
    std::uint64_t inputs_at = 0;   ///< when all inputs have arrived
    std::uint64_t outputs_ns = 0;  ///< how long its copies out take
  };
  /// Written by the device's thread; the calling thread reads it once the round has ended.
  struct alignas(cache_line) Result {
    std::atomic<std::uint32_t> epoch{0};  ///< the round that ended last; stored after all other members
    Status status;
    std::uint64_t outputs_at = 0;  ///< when all outputs will have arrived
  };

  [[nodiscard]] bool has_ended(std::uint32_t slot) noexcept {
    if constexpr (can_overlap) {
      if (overlap_.has(slot)) return overlap_.has_ended(slot);
    }
    // model: queue.has_ended
    return results_[slot].epoch.load(std::memory_order_acquire) == slots_[slot].epoch.load(std::memory_order_relaxed);
  }
  [[nodiscard]] Status outcome(std::uint32_t slot) noexcept {
    if constexpr (can_overlap) {
      if (overlap_.has(slot)) return overlap_.status(slot);
    }
    return results_[slot].status;  // model: queue.outcome
  }
  /// The round to run next, and its slot.
  struct Position {
    std::uint32_t epoch = 1;
    std::uint32_t slot = 0;
  };
  [[nodiscard]] Position after(Position at) const noexcept {
    return {at.epoch + 1, at.slot + 1 == slot_count_ ? 0 : at.slot + 1};
  }
  /// Makes a round visible to the thread that runs rounds, and wakes the thread if it sleeps.
  void post(std::uint32_t slot) noexcept {
    slots_[slot].epoch.store(++committed_, std::memory_order_release);  // model: queue.post
    // A thread that is just falling asleep may miss the store. Then the next call that asks for the round wakes it. A
    // fence here would cost more than everything else.
    if (asleep_.load(std::memory_order_relaxed)) [[unlikely]]
      wake();  // model: queue.post_wake
  }

  /// Lets rounds overlap from now on, unless that gains nothing. The queue's thread ends once it has run the rounds
  /// that were committed before, which then lets the others start; this thread does not wait for it.
  [[gnu::noinline, gnu::cold]] bool start_overlap() noexcept {
    if (!overlap_.start(platform_.engine_)) return false;  // model: switch.start
    stopping_.store(true, std::memory_order_seq_cst);      // model: switch.stop
    wake();
    return true;
  }
  /// Called before any wait.
  void wake_if_asleep() noexcept {
    fence();                                                   // model: queue.ask_fence
    if (asleep_.load(std::memory_order_relaxed) != 0) wake();  // model: queue.ask
  }
  [[gnu::noinline]] void wake() noexcept {
    asleep_.store(0, std::memory_order_seq_cst);  // model: queue.unmark
    asleep_.notify_one();                         // model: queue.notify
  }
  void note_copy_in(Slot& slot, Bytes size) noexcept {
    const std::uint64_t now = now_ns();
    in_free_at_ = (in_free_at_ < now ? now : in_free_at_) + platform_.traffic_.in_ns(size);
    slot.inputs_at = in_free_at_;
  }
  void copy_outputs(std::uint32_t slot) noexcept {
    const Output* const outputs = outputs_.data() + slot * outputs_per_slot_;
    for (std::uint32_t i = 0; i < slots_[slot].outputs; ++i) {
      if constexpr (!is_timed) platform_.traffic_.copied_out(outputs[i].size);
      std::memcpy(outputs[i].to, outputs[i].from, outputs[i].size.value);
    }
    slots_[slot].outputs = 0;
  }
  /// Runs ready rounds until `is_enough()`, unless another thread does so. Returns whether it ran any.
  template <class IsEnough>
  bool run_ready(IsEnough is_enough) noexcept {
    if (is_running_.exchange(true, std::memory_order_acquire)) return false;  // model: queue.take_turn
    const Position begin = position_.load(std::memory_order_relaxed);         // model: queue.begin
    Position at = begin;
    while (!is_enough() && is_ready(at)) {  // model: queue.go_on
      Result& result = results_[at.slot];
      const Status status = run(slots_[at.slot], result);
      if (!status) [[unlikely]]
        broken_ = Status{Errc::poisoned}.poisoning();  // model: queue.break
      const std::uint32_t epoch = at.epoch;
      at = after(at);
      result.status = status;                                // model: queue.result
      result.epoch.store(epoch, std::memory_order_release);  // model: queue.ended
      position_.store(at, std::memory_order_release);        // model: queue.advance
    }
    is_running_.store(false, std::memory_order_release);  // model: queue.give_turn
    return at.epoch != begin.epoch;
  }
  [[nodiscard]] Status run(const Slot& slot, Result& result) noexcept {
    if constexpr (is_timed) wait_until_ns(slot.inputs_at);
    const Status status = broken_.ok() ? slot.run(platform_, slot.program) : broken_;
    if constexpr (is_timed) {
      const std::uint64_t now = now_ns();
      out_free_at_ = (out_free_at_ < now ? now : out_free_at_) + slot.outputs_ns;
      result.outputs_at = out_free_at_;
    }
    return status;
  }

  [[nodiscard]] bool is_ready(Position at) const noexcept {
    return slots_[at.slot].epoch.load(std::memory_order_acquire) == at.epoch;
  }
  [[nodiscard]] bool is_ready() const noexcept { return is_ready(position_.load(std::memory_order_acquire)); }

  // The loop of the device's thread.
  void work() noexcept {
    while (await_round()) {
      // If the calling thread runs the ready rounds, this thread stays out of its way.
      for (Backoff backoff; !run_ready([] { return false; }) && is_ready();) {
        backoff.wait(platform_.spins().within_rounds);
      }
    }
    if constexpr (can_overlap) overlap_.open();  // model: switch.open
  }
  /// Waits for a round: spins for as long as the platform allows, then sleeps. Returns false once the queue is stopping
  /// and all committed rounds have run.
  [[nodiscard]] bool await_round() noexcept {
    const unsigned spins = platform_.spins().between_rounds;
    for (unsigned i = 0; i < spins && !stopping_.load(std::memory_order_relaxed); ++i) {
      if (is_ready()) return true;  // model: queue.spin
      if (i > eager_spins) pause();
    }
    for (;;) {
      asleep_.store(1, std::memory_order_seq_cst);    // model: queue.mark
      fence();                                        // model: queue.mark_fence
      if (is_ready()) {                               // model: queue.last_look
        asleep_.store(0, std::memory_order_relaxed);  // model: queue.awake
        return true;
      }
      if (stopping_.load(std::memory_order_seq_cst)) return is_ready();  // model: queue.leave
      asleep_.wait(1, std::memory_order_seq_cst);                        // model: queue.sleep
    }
  }

  static constexpr unsigned eager_spins = 32;

  Sim& platform_;
  std::vector<Slot> slots_;
  std::vector<Output> outputs_;  ///< by slot
  std::vector<Result> results_;  ///< by slot
  [[no_unique_address]] OverlapSwitch<Sim> overlap_;
  std::size_t slot_count_;
  std::size_t outputs_per_slot_;
  std::uint32_t committed_ = 0;
  std::uint64_t in_free_at_ = 0;  ///< when the copy engine of inputs is free
  // Used by the thread that runs rounds.
  alignas(cache_line) std::atomic<bool> is_running_{false};
  std::atomic<Position> position_{Position{}};
  Status broken_;                  ///< the status of rounds after a failed one
  std::uint64_t out_free_at_ = 0;  ///< when the copy engine of outputs is free
  alignas(cache_line) Signal asleep_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace rondo::platform::sim
