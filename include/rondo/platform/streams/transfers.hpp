// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/capability.hpp>
#include <rondo/platform/streams/round_plan.hpp>
#include <rondo/platform/streams/staging.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::platform::streams {

/// Copies between host and device, in order on the session's stream. Adjacent small tensors are copied together, since
/// a call of the runtime costs microseconds, however few bytes it copies.
///
/// Such a run is gathered in staging, with the same gaps between tensors as on the device, and handed over by flush().
/// By the chip's rule for sub-allocations, the bytes between a tensor's end and the next multiple of 64 after its block
/// (see arch::block_bytes) belong to no tensor; a run overwrites them. A round with the same transfers as the last one
/// follows the plan of that round (see RoundPlan), which holds the places in staging.
///
/// Lifetime: the device outlives it. Thread safety: none. Errors: a refused call leaves nothing in flight. Cost on the
/// hot path: no allocation; some 10 instructions and a memcpy for a tensor that is in the plan, 30 for one that is not.
template <arch::Arch A, class Device>
class Transfers {
  using Api = typename Device::Api;
  using Staging = streams::Staging<Device>;

 public:
  /// The longest run: beyond it, an extra call that copies while the next tensor is gathered is worth its cost.
  static constexpr std::uint64_t longest_run = std::uint64_t{1} << 18;

  explicit Transfers(Device& device) : device_{device}, staging_{device} {}

  [[nodiscard]] Staging& staging() noexcept { return staging_; }
  /// See HasHoldings. `queue`: the staging of rounds in flight; `loops`: the pinned memory of the conditions of loops.
  template <class Sink>
  void holdings(Sink& sink, std::uint64_t queue, Bytes loops) const {
    sink("staging of rounds in flight", Bytes{queue}, MemoryKind::pinned_host);
    sink("conditions of loops", loops, MemoryKind::pinned_host);
    sink("staging", Bytes{staging_.capacity()}, MemoryKind::pinned_host);
    sink("pinned by the program", Bytes{staging_.pinned_bytes()}, MemoryKind::pinned_host);
  }
  /// Allocates host memory that the device accesses directly; Staging::unpin() frees it. @throws Error out_of_memory
  [[nodiscard]] void* pin(Bytes size) {
    forget_plan();
    return staging_.pin(size);
  }

  [[gnu::always_inline]] Status copy_in(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept {
    RoundPlan::Step* const step = plan_.next_in();
    if (to.address() != step->device || size != step->size) [[unlikely]]
      return copy_in_unplanned(to, from, size);
    plan_.in_done(step);
    __builtin_memcpy(step->staged, from, size);
    return {};
  }
  [[gnu::always_inline]] Status copy_out(void* to, DevicePtr<const std::byte> from, std::uint64_t size) noexcept {
    RoundPlan::Step* const step = plan_.next_out();
    if (from.address() != step->device || size != step->size) [[unlikely]]
      return copy_out_unplanned(to, from, size);
    plan_.out_done(step);
    step->host = to;
    return {};
  }

  /// Reads the host's bytes before it returns. For small copies, such as the args table, the runtime guarantees this.
  Status copy_in_snapshot(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept {
    if (!takes_snapshots_ || size > device_.snapshot_room()) return noted(copy_in_staged(to, from, size));
    // The gathered copies need not go first: they are for other memory.
    if (const Code code = begin_unordered(); code != code_ok) [[unlikely]]
      return refused(code);
    call_ = Api::copy_async;
    const Code code = device_.copy_snapshot(pointer(to), from, size);
    if (code == code_ok) [[likely]]
      return {};
    if (Api::errc_of(code) != Errc::unsupported) return refused(code);
    takes_snapshots_ = false;
    return noted(copy_in_staged(to, from, size));
  }

  /// Launches one of Rondo's own kernels: `launch(stream)` returns a code. The gathered copies need not go first: they
  /// are for other memory.
  template <class Launch>
  Status launch_refresh(Launch launch) noexcept {
    if (const Code code = begin_unordered(); code != code_ok) [[unlikely]]
      return refused(code);
    call_ = Api::launch_refresh;
    return noted(launch(device_.stream()));
  }

  /// Copies within device memory. The gathered copies need not go first: there are none between rounds.
  Status copy_on_device(const DeviceCopy& copy) noexcept {
    if (const Code code = begin_unordered(); code != code_ok) [[unlikely]]
      return refused(code);
    return noted(streams::copy_on_device<Api>(device_.calls(), copy, device_.stream(), call_));
  }

  /// Waits for all work; outputs are then at their destinations. Costs no call if there is nothing to wait for.
  Status wait() noexcept { return noted(finish()); }

  /// Prepares a launch: hands over the gathered copies, makes the device current in the calling thread, and
  /// notes that there is something to wait for.
  [[nodiscard, gnu::always_inline]] Code begin_launch() noexcept {
    if (device_.stream() == nullptr) [[unlikely]]
      return Api::code_not_open;
    if (const Code code = enter(); code != code_ok) [[unlikely]]
      return code;
    device_.work_begins();
    if (!plan_.is_through_inputs()) [[unlikely]]
      return begin_launch_unplanned();
    plan_.launched();
    return copy_runs(plan_.in().runs, plan_.in().runs_end, host_to_device);
  }

  /// Resizes the staging to `bytes`, for rounds of this many inputs and outputs; `remembered`: the most outputs that
  /// are waited for at once. Precondition: the device is idle.
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
  /// Discards the plan: the staging is about to be freed or used differently.
  void forget_plan() noexcept {
    if (plan_.is_under_way()) (void)wait();
    plan_.forget();
  }

  /// After a failed call, `call` or else the last one made here: waits for the earlier work on the device, and delivers
  /// no outputs.
  [[gnu::cold, gnu::noinline]] Status refused(Code code, const char* call = nullptr) noexcept {
    leave_plan_as_it_is();
    plan_.invalidate();
    if (out_.at != 0) staging_.use_until(bytes(out_.at));  // a copy into it may be under way; it will not be delivered
    in_ = {};                                              // discards the gathered copies
    out_ = {};
    staging_.forget_outputs();
    const Status status = device_.failed(call == nullptr ? call_ : call, code);
    if (!device_.is_busy()) staging_.reset();
    return status;
  }

 private:
  /// Pinned memory of at least this size is copied directly; less is cheaper in a run. Checkpoints rely on it; see
  /// SessionState::copy().
  static constexpr std::uint64_t least_direct = 4096;
  static constexpr std::uint64_t first_staging = 65536;
  static constexpr std::uint64_t least_step = 64;  ///< the least space that a tensor takes in a run

  /// A run under way. All zeros means that there is none, and no device address continues it. Addresses are integers
  /// here, since the address that would follow is computed before it is known whether there is a run.
  struct Run {
    std::uintptr_t at = 0;       ///< the place in staging for the run's next tensor
    std::uint64_t distance = 0;  ///< the difference between that place and its device address
    std::uintptr_t limit = 0;
    std::uint64_t last = 0;  ///< the size of the last tensor in bytes
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

  // --- The functions below return codes of the runtime; `call_` is the call that returned a code other than 0.

  [[nodiscard]] Code copy(void* to, const void* from, std::uint64_t size, CopyKind kind) noexcept {
    const Code code = device_.calls().copy_async(to, size, from, size, kind, device_.stream());
    if (code != code_ok) [[unlikely]]
      call_ = Api::copy_async;
    return code;
  }
  [[nodiscard, gnu::always_inline]] Code finish() noexcept {
    return plan_.is_through_outputs() ? finish_plan() : finish_unplanned();
  }
  /// Finishes a round whose transfers were all in the plan.
  [[nodiscard]] Code finish_plan() noexcept {
    if (const Code code = enter(); code != code_ok) [[unlikely]]
      return code;
    const RoundPlan::Copies& out = plan_.out();
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
  [[nodiscard, gnu::noinline]] Code finish_unplanned() noexcept;

  /// Changes from the plan to single steps: all runs except the last are handed over, and the last stays open.
  [[nodiscard]] Code leave_plan() noexcept;
  /// Does the same without handing anything over.
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

  // A launch hands over the gathered inputs, and a wait the outputs; everything else is rare.
  [[nodiscard, gnu::always_inline]] Code flush_in() noexcept {
    const DevicePtr<std::byte> device{in_.device_of(in_.begin)};
    return copy(pointer(device), bytes(in_.begin), close(in_), host_to_device);
  }
  [[nodiscard, gnu::always_inline]] Code flush_out() noexcept {
    const DevicePtr<const std::byte> device{out_.device_of(out_.begin)};
    return copy(bytes(out_.begin), pointer(device), close(out_), device_to_host);
  }
  [[gnu::noinline]] Code flush_gathered() noexcept { return in_.at != 0 ? flush_in() : flush_out(); }
  /// Called before any request to the device except a launch; first sends the gathered copies.
  [[nodiscard]] Code begin() noexcept {
    if (const Code code = begin_unordered(); code != code_ok) [[unlikely]]
      return code;
    if (const Code code = leave_plan(); code != code_ok) [[unlikely]]
      return code;
    return in_.at == 0 && out_.at == 0 ? code_ok : flush_gathered();
  }
  /// Does what begin() does, for requests that may overtake the gathered copies, which it does not send.
  [[nodiscard]] Code begin_unordered() noexcept {
    if (const Code code = device_.create_stream(call_); code != code_ok) [[unlikely]]
      return code;
    if (const Code code = enter(); code != code_ok) [[unlikely]]
      return code;
    device_.work_begins();
    return code_ok;
  }
  [[nodiscard, gnu::noinline]] Code begin_launch_unplanned() noexcept {
    if (const Code code = leave_plan(); code != code_ok) [[unlikely]]
      return code;
    plan_.record_launch();
    return in_.at == 0 && out_.at == 0 ? code_ok : flush_gathered();
  }
  /// @returns the bytes from the start of its first tensor to the end of its last
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
  /// The run that these steps of the plan form.
  [[nodiscard]] static Run run_of(const RoundPlan::Step* first, const RoundPlan::Step* end,
                                  std::uint64_t room) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(first->staged);
    const auto last = reinterpret_cast<std::uintptr_t>(end[-1].staged);
    return {last + step_of(end[-1].size), first->device - begin, begin + room, end[-1].size, begin};
  }
  /// Appends a tensor to a run if it follows the run on the device; otherwise returns null.
  [[nodiscard, gnu::always_inline]] std::byte* extend_run(Run& run, std::uint64_t device, std::uint64_t size) noexcept {
    const std::uintptr_t at = run.at;
    const std::uintptr_t next = at + step_of(size);
    if (at == 0 || device != run.device_of(at) || next > run.limit) return nullptr;
    run.at = next;
    run.last = size;
    return bytes(at);
  }
  /// Begins a run with a tensor in the free part of staging; null if the tensor does not fit.
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

  [[gnu::noinline]] Status copy_in_unplanned(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept;
  [[gnu::noinline]] Status copy_out_unplanned(void* to, DevicePtr<const std::byte> from, std::uint64_t size) noexcept;
  [[gnu::noinline]] Code copy_direct(void* to, const void* from, std::uint64_t size, CopyKind kind) noexcept {
    const Code code = begin();
    return code == code_ok ? copy(to, from, size, kind) : code;
  }
  [[gnu::noinline]] Code copy_in_staged(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept {
    if (const Code code = begin(); code != code_ok) return code;
    plan_.invalidate();
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

  /// Copies more than the staging has room for: waits until it is free, then copies part by part.
  [[gnu::cold, gnu::noinline]] Code copy_in_in_parts(DevicePtr<std::byte> to, const std::byte* from,
                                                     std::uint64_t size) noexcept;
  [[gnu::cold, gnu::noinline]] Code copy_out_in_parts(std::byte* to, DevicePtr<const std::byte> from,
                                                      std::uint64_t size) noexcept;
  [[gnu::cold]] void leave_plan_for_now() noexcept;
  [[nodiscard]] Code make_room() noexcept {
    if (const Code code = finish(); code != code_ok) return code;
    if (staging_.capacity() != 0) return code_ok;
    call_ = Api::malloc_host;
    return staging_.resize(first_staging, 16);  // before any program is loaded
  }

  Run in_;
  Run out_;  ///< at most one of the two runs is open
  Device& device_;
  Staging staging_;
  RoundPlan plan_;
  const char* call_ = "";
  bool takes_snapshots_ = true;
};

}  // namespace rondo::platform::streams

#include <rondo/platform/streams/transfers_impl.hpp>  // IWYU pragma: export
