// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/streams/round_plan.hpp>
#include <rondo/platform/streams/staging.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::platform::streams {

/// Copies between host and device, in order on the session's stream. Small tensors that lie one after the other travel
/// as one: a call of the runtime's costs microseconds, whatever its size.
///
/// Such a run is gathered in staging, with the gaps that the tensors have on the device, and handed over by flush().
/// What stands between a tensor's last byte and the next multiple of 64 after its block (see arch::block_bytes) is
/// nobody's, by the chip's rule for sub-allocations; a run writes it. A round that moves what the last one moved
/// follows its plan (see RoundPlan), which knows the places.
///
/// Lifetime: the device outlives it. Thread safety: none. Errors: a refused call leaves nothing in flight.
/// Cost on the hot path: no allocation; some 10 instructions and a memcpy for a tensor that is on the plan, 30 for one
/// that is not.
template <arch::Arch A, class Device>
class Transfers {
  using Api = typename Device::Api;
  using Staging = streams::Staging<Device>;

 public:
  /// What a run holds at most: beyond it, handing over while the next tensor is gathered is worth a call.
  static constexpr std::uint64_t longest_run = std::uint64_t{1} << 18;

  explicit Transfers(Device& device) : device_{device}, staging_{device} {}

  [[nodiscard]] Staging& staging() noexcept { return staging_; }
  [[nodiscard]] std::uint64_t staging_bytes() const noexcept { return staging_.capacity(); }
  /// Host memory that the device reaches by itself, and its return. @throws Error out_of_memory
  [[nodiscard]] void* pin(Bytes size) {
    forget_plan();
    return staging_.pin(size);
  }
  void unpin(void* memory) noexcept {
    (void)wait();
    (void)staging_.unpin(memory);
  }

  [[gnu::always_inline]] Status copy_in(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept {
    RoundPlan::Step* const step = plan_.next_in();
    if (to.address() != step->device || size != step->size) [[unlikely]]
      return copy_in_anew(to, from, size);
    plan_.in_done(step);
    __builtin_memcpy(step->staged, from, size);
    return {};
  }
  [[gnu::always_inline]] Status copy_out(void* to, DevicePtr<const std::byte> from, std::uint64_t size) noexcept {
    RoundPlan::Step* const step = plan_.next_out();
    if (from.address() != step->device || size != step->size) [[unlikely]]
      return copy_out_anew(to, from, size);
    plan_.out_done(step);
    step->host = to;
    return {};
  }

  /// Has anything but args been brought to the device yet?
  [[nodiscard]] bool has_copied_in() const noexcept { return has_copied_in_; }

  /// Takes the bytes before it returns. The runtime does so itself for what is small, as the args table is.
  Status copy_in_snapshot(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept {
    if (!takes_snapshots_ || size > device_.snapshot_room()) return noted(copy_in_staged(to, from, size));
    // Nothing that was gathered needs to go before it: that is of other memory.
    if (const Code code = begin_beside(); code != code_ok) [[unlikely]]
      return refused(code);
    call_ = Api::copy_async;
    const Code code = device_.copy_snapshot(pointer(to), from, size);
    if (code == code_ok) [[likely]]
      return {};
    if (Api::errc_of(code) != Errc::unsupported) return refused(code);
    takes_snapshots_ = false;
    return noted(copy_in_staged(to, from, size));
  }

  /// Launches a kernel of Rondo's own: `launch(stream)` returns a code. Nothing that was gathered needs to go before
  /// it: that is of other memory.
  template <class Launch>
  Status launch_beside(Launch launch) noexcept {
    if (const Code code = begin_beside(); code != code_ok) [[unlikely]]
      return refused(code);
    call_ = Api::launch_refresh;
    return noted(launch(device_.stream()));
  }

  /// Waits for all of it; outputs are where they belong then. Nothing to wait for costs no call.
  Status wait() noexcept { return noted(finish()); }

  /// To be called before a launch: hands over what was gathered, makes the device the calling thread's, and notes that
  /// there is something to wait for.
  [[nodiscard, gnu::always_inline]] Code begin_launch() noexcept {
    if (device_.stream() == nullptr) [[unlikely]]
      return Api::code_not_open;
    device_.work_begins();
    if (const Code code = enter(); code != code_ok) [[unlikely]]
      return code;
    if (!plan_.is_through_inputs()) [[unlikely]]
      return begin_launch_anew();
    plan_.launched();
    return copy_runs(plan_.in().runs, plan_.in().runs_end, host_to_device);
  }

  /// Makes the staging hold `bytes`, for rounds of so many inputs and outputs; `remembered`: outputs that may be waited
  /// for at once. The device is idle.
  [[nodiscard]] Code resize(std::uint64_t bytes, std::size_t remembered, std::size_t inputs,
                            std::size_t outputs) noexcept {
    try {
      plan_.make_room(inputs, outputs);
    } catch (...) {
      return Api::code_out_of_host_memory;
    }
    plan_.begin_recording();
    return staging_.resize(bytes, remembered);
  }
  /// The staging goes, or is about to be used otherwise: rounds are no longer like the last one.
  void forget_plan() noexcept {
    if (plan_.is_under_way()) (void)wait();
    plan_.forget();
  }

  /// A call failed, `call` or the last of ours: what was asked of the device before is waited for, outputs are not
  /// delivered.
  [[gnu::cold, gnu::noinline]] Status refused(Code code, const char* call = nullptr) noexcept {
    leave_plan_as_it_is();
    plan_.spoil();
    if (out_.at != 0) staging_.use_until(bytes(out_.at));  // it may be on its way, to nobody
    in_ = {};                                              // what was gathered goes nowhere
    out_ = {};
    staging_.forget_outputs();
    const Status status = device_.failed(call == nullptr ? call_ : call, code);
    if (!device_.is_busy()) staging_.reset();
    return status;
  }

 private:
  /// Pinned memory of at least this much travels directly; less is cheaper in a run.
  static constexpr std::uint64_t least_direct = 4096;
  static constexpr std::uint64_t first_staging = 65536;
  static constexpr std::uint64_t least_step = 64;  ///< what a tensor takes of a run at least

  /// Zero everywhere: there is no run, and no device address continues it. Addresses are numbers here, since what would
  /// come next is computed before it is known whether there is a run.
  struct Run {
    std::uintptr_t at = 0;       ///< in staging: where the next tensor of the run would be
    std::uint64_t distance = 0;  ///< from there to its place on the device
    std::uintptr_t limit = 0;
    std::uint64_t last = 0;  ///< bytes of the last tensor
    std::uintptr_t begin = 0;

    [[nodiscard]] std::uint64_t device_of(std::uintptr_t staged) const noexcept { return staged + distance; }
  };
  [[nodiscard]] static std::byte* bytes(std::uintptr_t staged) noexcept {
    return reinterpret_cast<std::byte*>(staged);  // NOLINT: from a pointer into staging
  }

  [[nodiscard]] static constexpr std::uint64_t step_of(std::uint64_t size) noexcept {
    return align_up(arch::block_bytes<A>(size), A::tensor_alignment);
  }
  template <class T>
  [[nodiscard]] static T* pointer(DevicePtr<T> p) noexcept {
    return reinterpret_cast<T*>(p.address());  // NOLINT: an address for the runtime; the host never follows it
  }

  [[nodiscard]] Status noted(Code code) noexcept {
    if (code == code_ok) [[likely]]
      return {};
    return refused(code);
  }

  // --- from here on in the runtime's codes; `call_` is the call that a code other than 0 came from
  // --------------------------

  [[nodiscard]] Code copy(void* to, const void* from, std::uint64_t size, CopyKind kind) noexcept {
    const Code code = device_.calls().copy_async(to, size, from, size, kind, device_.stream());
    if (code != code_ok) [[unlikely]]
      call_ = Api::copy_async;
    return code;
  }
  [[nodiscard, gnu::always_inline]] Code finish() noexcept {
    return plan_.is_through_outputs() ? finish_plan() : finish_anew();
  }
  /// All of the round was on the plan.
  [[nodiscard]] Code finish_plan() noexcept {
    if (const Code code = enter(); code != code_ok) [[unlikely]]
      return code;
    const RoundPlan::Leg& out = plan_.out();
    if (const Code code = copy_runs(out.runs, out.runs_end, device_to_host); code != code_ok) [[unlikely]]
      return code;
    const Code code = device_.wait();
    if (code != code_ok || device_.is_busy()) [[unlikely]]
      return leave_unfinished(code);
    for (const RoundPlan::Step* s = out.first; s != out.end; ++s) __builtin_memcpy(s->host, s->staged, s->size);
    plan_.rearm();
    return code_ok;
  }
  [[gnu::cold, gnu::noinline]] Code leave_unfinished(Code code) noexcept {
    call_ = Api::synchronize;
    leave_plan_as_it_is();
    if (out_.at != 0) (void)close(out_);
    return code;
  }
  [[nodiscard, gnu::noinline]] Code finish_anew() noexcept;

  /// Puts what was done on the plan into the form in which it is done without one: all runs but the last are on their
  /// way, that one may go on.
  [[nodiscard]] Code leave_plan() noexcept;
  /// The same, but that nothing more is handed over.
  [[gnu::cold, gnu::noinline]] void leave_plan_as_it_is() noexcept;
  [[nodiscard]] static const RoundPlan::Step* last_run(const RoundPlan::Step* first,
                                                       const RoundPlan::Step* end) noexcept {
    do {
      --end;
    } while (end != first && !end->begins_run);
    return end;
  }
  [[nodiscard, gnu::always_inline]] Code copy_runs(const RoundPlan::Run* run, const RoundPlan::Run* end,
                                                   CopyKind kind) noexcept {
    for (; run != end; ++run) {
      std::byte* const device = pointer(DevicePtr<std::byte>{run->device});
      const Code code = kind == host_to_device ? copy(device, run->staged, run->bytes, kind)
                                               : copy(run->staged, device, run->bytes, kind);
      if (code != code_ok) [[unlikely]]
        return code;
    }
    return code_ok;
  }

  // Inputs are handed over by the launch after them, outputs by the wait; anything else happens rarely.
  [[nodiscard, gnu::always_inline]] Code flush_in() noexcept {
    const DevicePtr<std::byte> device{in_.device_of(in_.begin)};
    return copy(pointer(device), bytes(in_.begin), close(in_), host_to_device);
  }
  [[nodiscard, gnu::always_inline]] Code flush_out() noexcept {
    const DevicePtr<const std::byte> device{out_.device_of(out_.begin)};
    return copy(bytes(out_.begin), pointer(device), close(out_), device_to_host);
  }
  [[gnu::noinline]] Code flush_rarely() noexcept { return in_.at != 0 ? flush_in() : flush_out(); }
  /// Before anything but a launch is asked of the device; hands over what was gathered.
  [[nodiscard]] Code begin() noexcept {
    if (const Code code = begin_beside(); code != code_ok) [[unlikely]]
      return code;
    if (const Code code = leave_plan(); code != code_ok) [[unlikely]]
      return code;
    return in_.at == 0 && out_.at == 0 ? code_ok : flush_rarely();
  }
  /// The same for what need not stand in line with what was gathered.
  [[nodiscard]] Code begin_beside() noexcept {
    if (const Code code = device_.create_stream(call_); code != code_ok) [[unlikely]]
      return code;
    device_.work_begins();
    return enter();
  }
  [[nodiscard, gnu::noinline]] Code begin_launch_anew() noexcept {
    if (const Code code = leave_plan(); code != code_ok) [[unlikely]]
      return code;
    plan_.record_launch();
    return in_.at == 0 && out_.at == 0 ? code_ok : flush_rarely();
  }
  /// @returns the bytes from its first tensor's first to its last tensor's last
  [[nodiscard, gnu::always_inline]] std::uint64_t close(Run& run) noexcept {
    const std::uintptr_t end = run.at - step_of(run.last) + run.last;
    staging_.use_until(bytes(run.at));
    run.at = 0;
    run.distance = 0;
    return end - run.begin;
  }
  [[nodiscard]] std::uint64_t room_in() const noexcept {
    return staging_.room() < longest_run ? staging_.room() : longest_run;
  }
  [[nodiscard]] std::uint64_t room_out() const noexcept {
    const std::uint64_t most = least_step * staging_.outputs_left();
    return room_in() < most ? room_in() : most;
  }
  /// The run that these steps of the plan are.
  [[nodiscard]] static Run run_of(const RoundPlan::Step* first, const RoundPlan::Step* end,
                                  std::uint64_t room) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(first->staged);
    const auto last = reinterpret_cast<std::uintptr_t>(end[-1].staged);
    return {last + step_of(end[-1].size), first->device - begin, begin + room, end[-1].size, begin};
  }
  /// Continues a run with a tensor, if it is the next of it; otherwise null.
  [[nodiscard, gnu::always_inline]] std::byte* go_on(Run& run, std::uint64_t device, std::uint64_t size) noexcept {
    const std::uintptr_t at = run.at;
    const std::uintptr_t next = at + step_of(size);
    if (at == 0 || device != run.device_of(at) || next > run.limit) return nullptr;
    run.at = next;
    run.last = size;
    return bytes(at);
  }
  /// Begins a run with a tensor, in what staging has left; null: the tensor does not fit into one.
  [[nodiscard, gnu::always_inline]] std::byte* open(Run& run, std::uint64_t device, std::uint64_t size) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(staging_.next());
    const std::uint64_t room = &run == &out_ ? room_out() : room_in();
    const std::uint64_t step = step_of(size);
    if (step > room) return nullptr;
    run = {begin + step, device - begin, begin + room, size, begin};
    return bytes(begin);
  }
  [[nodiscard, gnu::always_inline]] Code enter() noexcept {
    const Code code = device_.enter();
    if (code != code_ok) [[unlikely]]
      call_ = Api::enter;
    return code;
  }

  [[gnu::noinline]] Status copy_in_anew(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept;
  [[gnu::noinline]] Status copy_out_anew(void* to, DevicePtr<const std::byte> from, std::uint64_t size) noexcept;
  [[gnu::noinline]] Code copy_direct(void* to, const void* from, std::uint64_t size, CopyKind kind) noexcept {
    const Code code = begin();
    return code == code_ok ? copy(to, from, size, kind) : code;
  }
  [[gnu::noinline]] Code copy_in_staged(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept {
    if (const Code code = begin(); code != code_ok) return code;
    plan_.spoil();
    std::byte* const staged = staging_.take(size);
    if (staged == nullptr) return copy_in_in_parts(to, static_cast<const std::byte*>(from), size);
    __builtin_memcpy(staged, from, size);
    return copy(pointer(to), staged, size, host_to_device);
  }
  [[gnu::noinline]] Code copy_out_staged(void* to, DevicePtr<const std::byte> from, std::uint64_t size) noexcept {
    if (const Code code = begin(); code != code_ok) return code;
    std::byte* const staged = staging_.outputs_left() != 0 ? staging_.take(size) : nullptr;
    if (staged == nullptr) return copy_out_in_parts(static_cast<std::byte*>(to), from, size);
    staging_.expect(to, staged, size);
    return copy(staged, pointer(from), size, device_to_host);
  }

  /// More than the staging has room for: wait until it is free, then part by part.
  [[gnu::cold, gnu::noinline]] Code copy_in_in_parts(DevicePtr<std::byte> to, const std::byte* from,
                                                     std::uint64_t size) noexcept;
  [[gnu::cold, gnu::noinline]] Code copy_out_in_parts(std::byte* to, DevicePtr<const std::byte> from,
                                                      std::uint64_t size) noexcept;
  [[nodiscard]] Code make_room() noexcept {
    if (const Code code = finish(); code != code_ok) return code;
    if (staging_.capacity() != 0) return code_ok;
    call_ = Api::malloc_host;
    return staging_.resize(first_staging, 16);  // before any program is loaded
  }

  Run in_;
  Run out_;  ///< at most one of the two is open
  Device& device_;
  Staging staging_;
  RoundPlan plan_;
  const char* call_ = "";
  bool takes_snapshots_ = true;
  bool has_copied_in_ = false;
};

}  // namespace rondo::platform::streams

#include <rondo/platform/streams/transfers_impl.hpp>  // IWYU pragma: export
