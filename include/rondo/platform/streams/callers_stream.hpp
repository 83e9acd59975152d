// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/streams/api.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

namespace rondo::platform::streams {

/// Whether a stream is being captured, with the values of the runtimes.
enum Capture : int { not_captured = 0, being_captured = 1, capture_lost = 2 };

/// While it lives, work goes to the session's own stream, as in set-up. The destructor directs work to the caller's
/// stream, if there is one, or, with `goes_back`, to the stream that was in use before.
template <class Device>
class OnOwnStream {
 public:
  explicit OnOwnStream(Device& device, bool goes_back = false) noexcept
      : device_{device}, is_callers_next_{!goes_back || device.stream() == device.callers_stream()} {
    device_.use_callers_stream(false);
  }
  OnOwnStream(const OnOwnStream&) = delete;
  OnOwnStream& operator=(const OnOwnStream&) = delete;
  ~OnOwnStream() { device_.use_callers_stream(is_callers_next_); }

 private:
  Device& device_;
  bool is_callers_next_;
};

/// Puts the steps of a round on a stream of the caller's and waits for nothing. While the owner captures the stream, a
/// round becomes part of the owner's graph. An event comes after each round: to wait for rounds, the session queries
/// that event, and never waits for the stream itself.
///
/// The device has `callers_stream()`, null where there is none, `capture_state(state)`, and `timeout_ms()`.
///
/// Lifetime: the device outlives it; close() destroys the events. Thread safety: none. Errors: if the runtime refuses a
/// step, the step fails, and the steps before it stay on the stream. A failure on the device is reported to the thread
/// that waits for the stream. Cost on the hot path: one call for each step, two for the event and for asking about a
/// capture; no allocation unless a round is recorded.
template <class Device>
class CallersStream {
  using Api = typename Device::Api;

 public:
  explicit CallersStream(Device& device) : device_{device} {}
  CallersStream(const CallersStream&) = delete;
  CallersStream& operator=(const CallersStream&) = delete;

  /// Makes the events if there is a stream of the caller's. @throws Error out_of_resources
  void open(const graph::GraphView& view) {
    for (const graph::LoopRecord& loop : view.loops) {
      if (!loop.has_work()) continue;
      refusal_ = Status::of_task(Errc::unsupported, view.tasks[loop.decision].added_as);
      break;
    }
    for (Event* const event : {&end_, &mark_}) {
      if (device_.callers_stream() == nullptr || *event != nullptr) continue;
      device_.must(Api::create_event, device_.calls().create_event(event, Api::plain_event));
    }
  }

  /// Called if the host decides about loops: begin() then refuses all rounds of a graph with loops, since the host
  /// would have to wait for the stream.
  void host_decides_loops() noexcept { host_decides_ = true; }

  /// The first call of a round: makes the device the calling thread's, and queries whether the stream is captured.
  /// Errors: unsupported without a caller's stream, if its capture was lost, or, with the loop's name, for a graph with
  /// loops about which the host decides or in a recorded round; errors of the runtime.
  [[nodiscard]] Status begin() noexcept {
    if (device_.callers_stream() == nullptr || end_ == nullptr) return Status{Errc::unsupported};
    if (host_decides_ && !refusal_.ok()) return refusal_;
    recorded_.resize(recorded_count_);  // without what a round noted that was not recorded after all
    int state = not_captured;
    const Code code = device_.capture_state(state);
    is_recording_ = state == being_captured;
    if (code != code_ok) return refused(Api::capture_info, code);
    if (is_recording_ && !refusal_.ok()) return refusal_;
    return Status{state == capture_lost ? Errc::unsupported : Errc::ok};
  }
  /// Whether begin() found that the stream is being captured.
  [[nodiscard]] bool is_recording() const noexcept { return is_recording_; }

  /// Submits a copy from pinned memory, which must not change until the round is over; with `snapshot`, the bytes are
  /// read before this returns, except in a recorded round.
  [[nodiscard]] Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size, bool snapshot) noexcept {
    if (snapshot && !is_recording_) return copy_snapshot(to, from, size);
    return copy(pointer(to), from, size, host_to_device);
  }
  [[nodiscard]] Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    return copy(to, pointer(from), size, device_to_host);
  }
  [[nodiscard]] Status copy_on_device(const DeviceCopy& copy) noexcept {
    const char* call = "";
    const Code code = streams::copy_on_device<Api>(device_.calls(), copy, device_.callers_stream(), call);
    return code == code_ok ? Status{} : refused(call, code);
  }
  template <class Program>
  [[nodiscard]] Status launch(Program& program) noexcept {
    const char* call = "";
    const Code code = program.enqueue(call, device_.callers_stream(), is_recording_);
    const Status status = code == code_ok ? Status{} : program.blame(refused(call, code));
    if (status.code() == Errc::unsupported) host_decides_ = true;  // the device refuses loops, and will again
    return host_decides_ && !refusal_.ok() ? refusal_ : status;
  }
  /// The last call of a round: records its event.
  [[nodiscard]] Status end() noexcept {
    if (is_recording_) device_.note_recorded();
    has_recorded_ = has_recorded_ || is_recording_;
    is_pending_ = is_pending_ || !is_recording_;
    last_ = is_recording_ ? mark_ : end_;
    const Code code = device_.calls().record_event(last_, device_.callers_stream());
    if (code != code_ok) return refused(Api::record_event, code);
    is_marked_ = is_marked_ || !is_recording_;
    recorded_count_ = recorded_.size();
    return {};
  }
  /// Called if a step of a round failed: the steps before it are still on the stream, and wait() waits for them.
  void abandon() noexcept {
    if (is_recording_) return;
    is_pending_ = true;
    is_marked_ = device_.calls().record_event(end_, device_.callers_stream()) == code_ok;
  }
  /// The event after the last round that was put on the stream or recorded; null before the first.
  [[nodiscard]] Event event() const noexcept { return last_; }

  /// Copies data that the tasks of a round read, before that round is recorded. First waits for the rounds that were
  /// put on the stream earlier. Errors: fixed_address if the same capture has already recorded a round, which reads the
  /// data, too.
  [[nodiscard]] Status copy_before_replays(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    if (has_recorded_ && device_.was_recorded_here(mark_)) return Status{Errc::fixed_address};
    return copy_after_rounds(to, from, size);
  }

  /// Notes the memory from or to which a recorded round copies a tensor; null if it copies none.
  [[nodiscard]] Status note_recorded(std::uint32_t tensor, const void* memory) noexcept {
    if (is_recorded(tensor, memory)) return {};
    try {
      recorded_.push_back({tensor, memory});
    } catch (...) {
      return Status{Errc::out_of_memory};
    }
    return {};
  }
  [[nodiscard]] bool is_recorded(std::uint32_t tensor, const void* memory) const noexcept {
    for (const Recorded& r : recorded_) {
      if (r.tensor == tensor && r.memory == memory) return true;
    }
    return false;
  }
  [[nodiscard]] bool has_recorded() const noexcept { return has_recorded_; }

  /// Waits until the rounds that were put on the stream are over: queries their event, with sleeps of 50 µs in between,
  /// up to the time limit of the options. It does not wait for replays. Errors: also busy, if a round failed and its
  /// event cannot be recorded because the stream is being captured.
  [[nodiscard]] Status wait() noexcept {
    if (!is_pending_) return {};
    int state = not_captured;
    if (const Code code = device_.capture_state(state); code != code_ok) return wait_failed(Api::capture_info, code);
    if (!is_marked_) {
      if (state != not_captured) return Status{Errc::busy};
      const Code code = device_.calls().record_event(end_, device_.callers_stream());
      if (code != code_ok) return wait_failed(Api::record_event, code);
      is_marked_ = true;
    }
    const std::int64_t begin_ms = now_ms();
    for (int status = 0;;) {
      const Code code = device_.calls().query_event(end_, &status);
      if (code != code_ok) return wait_failed(Api::query_event, code);
      if (status == Api::event_complete) break;
      if (device_.timeout_ms() >= 0 && now_ms() - begin_ms >= device_.timeout_ms()) return late();
      const timespec pause{0, 50'000};
      (void)nanosleep(&pause, nullptr);
    }
    is_pending_ = false;
    return {};
  }
  /// Whether rounds on the caller's stream may still run.
  [[nodiscard]] bool is_pending() const noexcept { return is_pending_; }

  /// Whether the session can be closed. Errors: busy, if the owner captures the stream and the session has put
  /// something there for which it must wait, and cannot.
  [[nodiscard]] Status may_close() noexcept {
    if (device_.callers_stream() == nullptr || (!device_.is_busy() && (!is_pending_ || is_marked_))) return {};
    int state = not_captured;
    if (device_.capture_state(state) != code_ok || state == not_captured) return {};
    return refused("", Api::code_stream_is_captured);
  }

  /// Destroys the events. Precondition: the rounds are over. @returns the first failure
  Code close() noexcept {
    Code first = code_ok;
    for (Event* const event : {&end_, &mark_}) {
      if (*event == nullptr) continue;
      keep_first(first, device_.calls().destroy_event(*event));
      *event = nullptr;
    }
    last_ = nullptr;
    is_pending_ = has_recorded_ = false;
    return first;
  }

 private:
  struct Recorded {
    std::uint32_t tensor;
    const void* memory;
  };

  template <class T>
  [[nodiscard]] static T* pointer(DevicePtr<T> p) noexcept {
    return reinterpret_cast<T*>(p.address());  // NOLINT: an address for the runtime; the host never follows it
  }

  [[nodiscard]] Status copy(void* to, const void* from, Bytes size, CopyKind kind) noexcept {
    const Code code = device_.calls().copy_async(to, size.value, from, size.value, kind, device_.callers_stream());
    return code == code_ok ? Status{} : refused(Api::copy_async, code);
  }
  /// Makes as many copies as the device's memory for snapshots requires. If it is full, waits for earlier copies.
  [[nodiscard]] Status copy_snapshot(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    const auto* bytes = static_cast<const std::byte*>(from);
    while (size.value != 0) {
      const std::uint64_t room = device_.snapshot_room();
      if (room == 0) {
        if (const Status status = make_room(); !status) return status;
        continue;
      }
      const std::uint64_t part = size.value < room ? size.value : room;
      const Code code = device_.copy_snapshot(pointer(to), bytes, part);
      if (code != code_ok && Api::errc_of(code) == Errc::unsupported) return copy_after_rounds(to, bytes, size);
      if (code != code_ok) return refused(Api::copy_async, code);
      to = to.offset(Bytes{part});
      bytes += part;
      size.value -= part;
    }
    return {};
  }
  [[gnu::cold, gnu::noinline]] Status make_room() noexcept {
    const Code code = device_.calls().record_event(end_, device_.callers_stream());
    if (code != code_ok) return refused(Api::record_event, code);
    is_pending_ = true;
    const Status status = wait();
    if (status.ok()) device_.reuse_snapshots();
    return status;
  }
  /// Copies once the rounds are over; only they read this memory, so the copy need not be on the stream.
  [[nodiscard]] Status copy_after_rounds(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    if (const Status status = wait(); !status) return status;
    const Code code = device_.copy_now(pointer(to), from, size.value, host_to_device, nullptr);
    return code == code_ok ? Status{} : refused(Api::copy, code);
  }
  [[gnu::cold, gnu::noinline]] Status refused(const char* call, Code code) noexcept {
    device_.note(call, code);
    return Api::status_of(code);
  }
  /// After a failure of the device nothing is waited for any more.
  [[gnu::cold]] Status wait_failed(const char* call, Code code) noexcept {
    is_pending_ = Api::may_go_on(code);
    return refused(call, code);
  }
  [[gnu::cold, gnu::noinline]] Status late() noexcept {
    Stream stream = device_.callers_stream();
    if (++late_ == 2) device_.end_by_force(stream);
    if (late_ == 2) is_pending_ = false;
    return Status{Errc::timed_out}.poisoning();
  }

  Device& device_;
  Event end_ = nullptr;   ///< after each round that was put on the stream
  Event mark_ = nullptr;  ///< after each round that was recorded; in the capture as long as that lasts
  Event last_ = nullptr;
  std::vector<Recorded> recorded_;
  std::size_t recorded_count_ = 0;  ///< the number of those whose rounds were recorded
  bool is_recording_ = false;
  bool is_pending_ = false;
  bool is_marked_ = true;  ///< whether end_ comes after everything that rounds have put on the stream
  bool has_recorded_ = false;
  int late_ = 0;
  bool host_decides_ = false;  ///< about a loop
  Status refusal_;             ///< if the graph has loops, names the first
};

}  // namespace rondo::platform::streams
