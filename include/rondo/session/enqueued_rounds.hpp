// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/channel.hpp>
#include <rondo/tensor/pair.hpp>

#include <cstddef>
#include <span>

namespace rondo::detail {

/// Rounds on a stream of the caller's: the part of a RoundSession that needs HasCallersStream. `Base` is a Session of
/// one slot.
template <class Base>
class EnqueuedRounds : public Base {
 public:
  using Base::Base;

  /// Puts a round on the stream that the options name and returns without waiting. Pairs are of device memory, of
  /// pinned memory, which must not be accessed until the round is over, or snapshots; each input, output and inout is
  /// bound once. Rounds that wait, such as run_round(), may follow at any time. If a step cannot be put on the stream,
  /// the call fails and the session stays usable. If a task fails on the device, the thread that waits for the stream
  /// learns of it, but the session does not; close it then.
  ///
  /// While the owner captures the stream, the round becomes part of the owner's graph: each replay runs its tasks with
  /// the addresses that the session bound last, and copies from and to the same pinned memory. The session and the
  /// bound memory must live until the last replay is over.
  ///
  /// Errors: as run_round(); also unsupported if the options name no stream, if the runtime reports that the capture is
  /// lost, and, naming the tensor, for a snapshot in a capture; fixed_address if the capture has a round of this
  /// session with another binding.
  template <BoundPair... B>
  Status enqueue_round(const B&... pairs) noexcept {
    check<B...>();
    Binding bindings[] = {Binding{pairs}..., {}};
    return enqueue(std::span(bindings, sizeof...(B)));
  }

  /// Binds other device memory, other host inputs or other scalars for the next replay of a recorded round. Call it
  /// before the replay, on the same thread and for the same stream. Copies only what changed in the args table. Bind
  /// the same host memory as in the recorded round; what is bound to a held input does not matter. Errors: as
  /// enqueue_round(); also fixed_address, naming the tensor, if no recorded round copies the memory that this call
  /// would copy for it, or if this call binds device memory in place where the recorded round copies; invalid_argument
  /// if nothing was recorded; busy while the stream is being captured.
  template <BoundPair... B>
  Status refresh_for_replay(const B&... pairs) noexcept {
    check<B...>();
    Binding bindings[] = {Binding{pairs}..., {}};
    return refresh(std::span(bindings, sizeof...(B)));
  }

  /// Waits until the rounds that enqueue_round() put on the stream are over, without waiting for the stream: asks the
  /// event that comes after the last of them. Errors: timed_out, which poisons; closed, poisoned.
  Status wait_for_enqueued() noexcept {
    check<>();
    if (const Status status = this->unusable(); !status) return status;
    const Status status = this->platform_.callers_stream().wait();
    return status.ok() ? status : this->note_failure(status);
  }
  /// The event after the round that was enqueued or recorded last, for other streams to wait for; null before the
  /// first. It lives as long as the session is open.
  [[nodiscard]] void* end_event() noexcept {
    check<>();
    return this->platform_.callers_stream().event();
  }

 private:
  template <BoundPair... B>
  static consteval void check() {
    static_assert(HasCallersStream<typename Base::Platform>,
                  "rondo: the platform has no streams of callers; choose one that declares Capability::callers_stream");
    static_assert((AsyncPair<B> && ...),
                  "rondo: an enqueued round would still use this memory when the call returns; bind pinned memory, "
                  "snapshot(...), or device memory");
    if constexpr (sizeof...(B) != 0) Base::template check_pairs<B...>();
  }

  Status enqueue(std::span<Binding> bindings) noexcept {
    if (this->state_ != Base::State::open) return this->refusal();
    auto& stream = this->platform_.callers_stream();
    auto& instance = this->instances_[0];
    if (const Status status = stream.begin(); !status) return status;
    const bool is_recording = stream.is_recording();
    for (const Binding& b : bindings) {
      if (is_recording && b.snapshot && this->owns(b.key) && copies_in(this->record(b.key).direction)) {
        return Status::of_tensor(Errc::unsupported, index(b.key.tensor()));
      }
    }
    if (const Status status = instance.prepare(bindings, false); !status) return status;
    Status status = is_recording ? note_recorded(bindings) : Status{};
    if (status.ok() && is_recording && instance.is_refresh_due()) {
      status = instance.refresh(platform::OnCallersStream<typename Base::Platform, true>{this->platform_});
    }
    const auto observer = this->round_observer();
    const platform::OnCallersStream<typename Base::Platform> channel{this->platform_};
    if (status.ok()) {
      status = instance.on(channel, observer).run(instance.work_of(bindings));
      if (!status.ok()) stream.abandon();
      this->observe_.round_ends(observer.round(), status);
    }
    instance.unblock();
    return note(status, this->derived().rounds() + 1);
  }
  Status refresh(std::span<Binding> bindings) noexcept {
    if (this->state_ != Base::State::open) return this->refusal();
    auto& stream = this->platform_.callers_stream();
    auto& instance = this->instances_[0];
    if (const Status status = stream.begin(); !status) return status;
    if (stream.is_recording()) return Status{Errc::busy};
    if (!stream.has_recorded()) return Status{Errc::invalid_argument};
    for (const Binding& b : bindings) {
      const std::size_t p = instance.port_of(b.key);
      if (p == instance.port_count() || is_carried_in_args(instance.record(p).direction) || instance.is_held(p))
        continue;
      if (!stream.is_recorded(instance.tensor(p), instance.copied_memory(p, b))) {
        return Status::of_tensor(Errc::fixed_address, index(b.key.tensor()));
      }
    }
    if (const Status status = instance.prepare(bindings, false); !status) return status;
    Status status;
    if (instance.is_refresh_due()) {
      status = instance.refresh(platform::OnCallersStream<typename Base::Platform>{this->platform_});
      if (status.ok()) status = stream.end();
      if (!status.ok()) stream.abandon();
    }
    instance.unblock();
    return note(status, this->derived().rounds());
  }

  /// Notes the memory that a recorded round copies; the bindings are prepared.
  Status note_recorded(std::span<const Binding> bindings) noexcept {
    auto& instance = this->instances_[0];
    Status status;
    for (std::size_t p = 0; p < bindings.size() && status.ok(); ++p) {
      const void* const copied = instance.is_held(p) ? nullptr : instance.copied_memory(p, bindings[p]);
      status = this->platform_.callers_stream().note_recorded(instance.tensor(p), copied);
    }
    return status;
  }
  /// Counts a round, or handles its failure without waiting for the device.
  Status note(Status status, std::uint64_t rounds) noexcept {
    if (status.ok()) {
      this->derived().set_rounds(rounds);
      return status;
    }
    if (status.poisoned()) return this->note_failure(status);
    this->rounds_when_lost_ = this->derived().rounds();
    return status;
  }
};

}  // namespace rondo::detail
