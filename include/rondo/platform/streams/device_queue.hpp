// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/args/refresh_op.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/streams/api.hpp>
#include <rondo/platform/streams/round_events.hpp>
#include <rondo/platform/streams/staged_run.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rondo::platform::streams {

/// Rounds in flight, each on the stream of its own slot: inputs, tasks and outputs are all on that stream. The next
/// round's tasks wait for an event that is recorded after the tasks of each round. The device continues after a failed
/// task, and only the stream on which the task ran reports the failure; so the queue waits for that stream, and no
/// other round has tasks on it. Every slot has pinned staging, so the inputs have been read when copy_in returns.
/// Tensors that lie close together on the device are copied together. A caller's stream may be captured meanwhile,
/// since nothing here uses it.
///
/// Lifetime: the device outlives it; close() or the destructor releases its resources. Thread safety: one thread at a
/// time. Errors: the constructor throws. If a call is refused, its round fails and nothing of it is in flight; if the
/// device fails, does not finish in time, or refuses to copy an output when it is delivered, the round fails, and all
/// later ones fail as poisoned. Cost on the hot path: no allocation; for a round two copies, the launch, three calls
/// about events, and one call that waits.
///
/// `Parts` names the platform's Device, RefreshKernel and Program; `RoundEvents` is RoundEvents or NoRoundEvents.
template <arch::Arch A, class Parts, class RoundEvents>
class DeviceQueue {
  using Device = typename Parts::Device;
  using RefreshKernel = typename Parts::RefreshKernel;
  using Program = typename Parts::Program;
  using Api = typename Device::Api;

 public:
  /// `bytes`: the most that a slot's rounds copy in each direction; `most`: the most that all slots pin for that;
  /// `round_ns` and `pinned`: where to write how long the last delivered round took on the device, and how many bytes
  /// are pinned. @throws Error out_of_memory, out_of_resources
  DeviceQueue(Device& device, RefreshKernel& refresh, std::size_t slots, std::size_t outputs, Bytes bytes, Bytes most,
              double& round_ns, std::uint64_t& pinned)
      : device_{device},
        refresh_{refresh},
        round_ns_{round_ns},
        pinned_{pinned},
        most_room_{most.value / (2 * slots) / 64 * 64},
        slots_(slots),
        outputs_(slots * outputs),
        max_outputs_{outputs} {
    try {
      device_.must(Api::enter, device_.enter_to_release());
      for (Slot& slot : slots_) {
        create(slot.stream);
        for (Event* const event : {&slot.computed, &slot.done}) {
          device_.must(Api::create_event, calls().create_event(event, Api::plain_event));
        }
        slot.events.open(device_);
      }
      reserve(bytes);
    } catch (...) {
      (void)close();
      throw;
    }
  }
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;
  ~DeviceQueue() { (void)close(); }

  /// Rounds copy at most `bytes` in each direction from now on; less than before changes nothing. No round is in
  /// flight. @throws Error out_of_memory; all is as before then
  void reserve(Bytes bytes) {
    const std::uint64_t wanted = align_up(bytes.value, 64);
    const std::uint64_t room = wanted < most_room_ ? wanted : most_room_;
    if (room <= room_) return;
    device_.must(Api::enter, device_.enter_to_release());
    for (Slot& slot : slots_) {
      if (slot.staged >= 2 * room) continue;
      void* memory = nullptr;
      device_.must(Api::malloc_host, calls().malloc_host(&memory, 2 * room));
      const Code freed = free_staging(slot);
      slot.staging = static_cast<std::byte*>(memory);
      slot.staged = 2 * room;
      pinned_ += slot.staged;
      device_.must(Api::free_host, freed);
    }
    room_ = room;
  }

  Status copy_in(std::uint32_t slot, DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    Slot& s = slots_[slot];
    if (!has_launched_) [[unlikely]]
      await_set_up(s);
    std::byte* const staged = s.in.gather(s.staging, room_, to.address(), size.value, [&] {
      if (s.in.end != s.in.begin) then(s, Api::enter, [&] { return device_.enter_to_release(); });
      flush(s, s.in, host_to_device);
    });
    if (staged == nullptr) [[unlikely]]
      return copy_at_once(s, pointer(to.address()), from, size);
    __builtin_memcpy(staged, from, size.value);
    return noted(s.code);
  }
  /// Refreshes the args of a slot. The slot is idle, so no other round uses them, on any stream.
  Status refresh_args(std::uint32_t slot, const args::RefreshOp& op) noexcept {
    Slot& s = slots_[slot];
    enter(s);
    if (!has_launched_) [[unlikely]]
      await_set_up(s);
    flush(s, s.in, host_to_device);
    then(s, Api::launch_refresh, [&] { return refresh_.launch(op, nullptr, s.stream); });
    return noted(s.code);
  }
  Status launch(std::uint32_t slot, Program& program) noexcept {
    Slot& s = slots_[slot];
    call_ = Api::enter;
    s.code = device_.enter_to_release();
    s.program = &program;
    if (!has_launched_) [[unlikely]]
      await_set_up(s);
    has_launched_ = true;
    flush(s, s.in, host_to_device);
    await_computed(s);
    then(s, Api::launch,
         [&] { return s.events.around(device_, call_, s.stream, [&] { return program.launch(call_, s.stream); }); });
    note_computed(s);
    if (s.code != code_ok) [[unlikely]]
      return fail(s);
    computed_ = s.computed;
    return {};
  }
  Status copy_out(std::uint32_t slot, void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    Slot& s = slots_[slot];
    std::byte* const staged =
        s.out.gather(s.staging + room_, room_, from.address(), size.value, [&] { flush(s, s.out, device_to_host); });
    s.has_unstaged = s.has_unstaged || staged == nullptr;
    outputs_[slot * max_outputs_ + s.outputs++] = {to, staged, size.value, from.address()};
    return noted(s.code);
  }
  /// Reads what earlier rounds have written, and is over before later rounds launch, as if it were a task.
  Status copy_on_device(std::uint32_t slot, const DeviceCopy& copy) noexcept {
    Slot& s = slots_[slot];
    enter(s);
    if (!has_launched_) await_set_up(s);
    const bool is_after_launch = s.program != nullptr;
    if (!is_after_launch) await_computed(s);
    if (s.code == code_ok) s.code = streams::copy_on_device<Api>(calls(), copy, s.stream, call_);
    if (is_after_launch) note_computed(s);
    return noted(s.code);
  }
  Status commit(std::uint32_t slot) noexcept {
    Slot& s = slots_[slot];
    flush(s, s.out, device_to_host);
    then(s, Api::record_event, [&] { return calls().record_event(s.done, s.stream); });
    return noted(s.code);
  }

  [[nodiscard]] bool is_done(std::uint32_t slot) noexcept {
    Slot& s = slots_[slot];
    int status = 0;
    if (!broken_.ok()) return true;
    const Code code = device_.enter_to_release();
    if (code != code_ok || calls().query_event(s.done, &status) != code_ok) return true;  // await() fails
    return status == Api::event_complete;
  }
  void await(std::uint32_t slot) noexcept {
    Slot& s = slots_[slot];
    if (!broken_.ok()) return;
    call_ = Api::enter;
    s.code = device_.enter_to_release();
    then(s, Api::synchronize, [&] { return device_.synchronize(s.stream); });
  }
  Status deliver(std::uint32_t slot) noexcept {
    Slot& s = slots_[slot];
    Status status = broken_;
    if (status.ok() && s.has_unstaged) [[unlikely]]
      copy_unstaged(slot);
    if (status.ok() && s.code != code_ok) [[unlikely]]
      status = fail(s);
    if (status.ok()) {
      s.events.read(device_, round_ns_);
      copy_outputs(slot);
    } else if (broken_.ok()) {
      // After the failure is reported, the caller may free memory that rounds use, and nothing waits for later rounds.
      if (device_.enter_to_release() == code_ok) (void)settle(s.code);
      broken_ = Status{Errc::poisoned}.poisoning();
    }
    reset(s);
    return status;
  }
  /// Waits for the slot's own work only: waiting for another stream would consume the failure that it has to report.
  void cancel(std::uint32_t slot) noexcept {
    Slot& s = slots_[slot];
    Code code = device_.enter_to_release();
    if (code == code_ok) code = device_.synchronize(s.stream);
    if (Api::status_of(code).poisoned()) [[unlikely]] {
      (void)settle(code);
      lost_ = code;
      has_launched_ = false;
    }
    reset(s);
  }

  /// Waits, then releases streams, events and staging. Errors: the first call that the runtime refused, except failures
  /// that were already reported for a failed or cancelled round.
  Status close() noexcept {
    if (slots_.empty()) return {};
    Code first = device_.enter_to_release();
    if (const Code code = settle(code_ok); broken_.ok() && lost_ == code_ok) keep_first(first, code);
    const auto destroy = [&](Stream& stream) {
      if (stream != nullptr) keep_first(first, calls().destroy_stream(stream));
      stream = nullptr;
    };
    // A slot's stream may wait for another slot's event, so all streams are destroyed before the events.
    for (Slot& slot : slots_) destroy(slot.stream);
    for (Slot& slot : slots_) {
      for (Event* const event : {&slot.computed, &slot.done}) {
        if (*event != nullptr) keep_first(first, calls().destroy_event(*event));
        *event = nullptr;
      }
      keep_first(first, slot.events.close(device_));
      keep_first(first, free_staging(slot));
    }
    slots_ = std::vector<Slot>();
    return first == code_ok ? Status{} : Status{Api::errc_of(first)};
  }

 private:
  struct Output {
    void* to = nullptr;
    const std::byte* from = nullptr;  ///< null: staging has no room for it
    std::uint64_t size = 0;
    std::uint64_t device = 0;
  };
  struct Slot {
    Stream stream = nullptr;
    Event computed = nullptr;      ///< its tasks are done
    Event done = nullptr;          ///< its outputs have arrived
    std::byte* staging = nullptr;  ///< inputs, followed by an area of the same size for outputs
    std::uint64_t staged = 0;      ///< bytes of it
    StagedRun<A> in;
    StagedRun<A> out;
    std::size_t outputs = 0;
    bool has_unstaged = false;   ///< whether staging has no room for some outputs
    Program* program = nullptr;  ///< the program that was launched
    Code code = code_ok;         ///< the first code other than ok
    [[no_unique_address]] RoundEvents events;
  };

  [[nodiscard]] const auto& calls() const noexcept { return device_.calls(); }
  [[nodiscard]] static void* pointer(std::uint64_t address) noexcept {
    return reinterpret_cast<void*>(address);  // NOLINT: an address for the runtime
  }

  /// Runs the next step of a slot, unless an earlier one failed.
  template <class Step>
  [[gnu::always_inline]] void then(Slot& s, const char* call, Step step) noexcept {
    if (s.code != code_ok) [[unlikely]]
      return;
    call_ = call;
    s.code = step();
  }

  void enter(Slot& s) noexcept {
    then(s, Api::enter, [&] { return device_.enter_to_release(); });
  }
  void copy(Slot& s, void* to, const void* from, std::uint64_t size, CopyKind kind) noexcept {
    then(s, Api::copy_async, [&] { return calls().copy_async(to, size, from, size, kind, s.stream); });
  }
  /// Makes what follows in the slot wait for the tasks of the rounds before.
  void await_computed(Slot& s) noexcept {
    if (computed_ != nullptr) then(s, Api::wait_event, [&] { return calls().wait_event(s.stream, computed_); });
  }
  void note_computed(Slot& s) noexcept {
    then(s, Api::record_event, [&] { return calls().record_event(s.computed, s.stream); });
  }

  void flush(Slot& s, StagedRun<A>& run, CopyKind kind) noexcept {
    if (run.end == run.begin) return;
    const auto size = static_cast<std::uint64_t>(run.end - run.begin);
    void* const device = pointer(run.device);
    kind == host_to_device ? copy(s, device, run.begin, size, kind) : copy(s, run.begin, device, size, kind);
    run.next = run.begin + align_up(size, 64);
    run.begin = run.end = nullptr;
  }
  /// Waits for the work of opening the session on the device's own stream, such as clearing memory, which must precede
  /// any copy of the queue. After a round that was cancelled because the device failed, every round fails.
  [[gnu::noinline, gnu::cold]] void await_set_up(Slot& s) noexcept {
    device_.note_contents();
    if (s.code == code_ok) s.code = lost_;
    then(s, Api::synchronize, [&] { return device_.wait(); });
  }
  /// Copies an input that does not fit into staging, such as the args table, to an idle slot.
  [[gnu::noinline]] Status copy_at_once(Slot& s, void* to, const void* from, Bytes size) noexcept {
    enter(s);
    then(s, Api::copy, [&] { return device_.copy_now(to, from, size.value, host_to_device, s.stream); });
    return noted(s.code);
  }
  /// Copies the outputs for which staging has no room, of a round that is over. Precedes the delivery of the others,
  /// since the device may refuse such a copy.
  [[gnu::noinline]] void copy_unstaged(std::uint32_t slot) noexcept {
    Slot& s = slots_[slot];
    const Output* const outputs = outputs_.data() + slot * max_outputs_;
    enter(s);
    for (std::size_t i = 0; i < s.outputs; ++i) {
      const Output& o = outputs[i];
      if (o.from != nullptr) continue;
      then(s, Api::copy, [&] { return device_.copy_now(o.to, pointer(o.device), o.size, device_to_host, s.stream); });
    }
  }
  void copy_outputs(std::uint32_t slot) noexcept {
    const Output* const outputs = outputs_.data() + slot * max_outputs_;
    for (std::size_t i = 0; i < slots_[slot].outputs; ++i) {
      if (outputs[i].from == nullptr) [[unlikely]]
        continue;
      __builtin_memcpy(outputs[i].to, outputs[i].from, outputs[i].size);
    }
  }
  static void reset(Slot& s) noexcept {
    s.in = {};
    s.out = {};
    s.outputs = 0;
    s.has_unstaged = false;
    s.program = nullptr;
    s.code = code_ok;
  }

  [[nodiscard, gnu::always_inline]] Status noted(Code code) noexcept {
    if (code == code_ok) [[likely]]
      return {};
    device_.note(call_, code);
    return Api::status_of(code);
  }
  /// @returns the status of a slot's failure, with the task's name if the device's message contains it
  [[gnu::cold, gnu::noinline]] Status fail(const Slot& s) noexcept {
    device_.note(call_, s.code);
    const Status status = Api::status_of(s.code);
    return s.program == nullptr ? status : s.program->blame(status);
  }

  [[nodiscard]] Code free_staging(Slot& slot) noexcept {
    pinned_ -= std::exchange(slot.staged, 0);
    return slot.staging == nullptr ? code_ok : calls().free_host(std::exchange(slot.staging, nullptr));
  }
  void create(Stream& stream) {
    device_.must(Api::create_stream, calls().create_stream(&stream, 0, Api::stream_flags));
  }
  /// Waits for the session's own streams, a second time if `so_far` reports a timeout. Work that is late twice is
  /// aborted, with everything that may wait for it. @returns the first failure
  [[gnu::cold]] Code settle(Code so_far) noexcept {
    const auto is_late = [](Code code) { return Api::may_go_on(code) && Api::errc_of(code) == Errc::timed_out; };
    Code first = code_ok;
    const auto wait_for = [&](Stream stream) {
      if (stream == nullptr || is_late(so_far)) return;
      const Code code = device_.synchronize(stream);
      keep_first(first, code);
      if (is_late(code)) so_far = code;
    };
    if (device_.stream() != device_.callers_stream()) wait_for(device_.stream());
    for (const Slot& slot : slots_) wait_for(slot.stream);
    bool is_hung = false;
    for (Slot& slot : slots_) {
      if (!is_late(so_far) || slot.stream == nullptr) continue;
      if (!is_hung) is_hung = is_late(device_.synchronize_again(slot.stream));
      if (is_hung) device_.end_by_force(slot.stream);
    }
    return first;
  }

  Device& device_;
  RefreshKernel& refresh_;
  double& round_ns_;
  std::uint64_t& pinned_;    ///< bytes of staging of all slots
  std::uint64_t most_room_;  ///< the most that `room_` may be; what a round copies beyond it is not staged
  std::uint64_t room_ = 0;   ///< the bytes that a slot's staging has in each direction
  std::vector<Slot> slots_;
  std::vector<Output> outputs_;  ///< by slot
  std::size_t max_outputs_;
  Event computed_ = nullptr;  ///< the event of the round that was launched last
  const char* call_ = "";     ///< the last call of the runtime
  bool has_launched_ = false;
  Code lost_ = code_ok;  ///< the device's failure in a round that was cancelled
  Status broken_;        ///< the status of rounds after a failed one
};

}  // namespace rondo::platform::streams
