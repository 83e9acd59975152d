// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/graph/freeze.hpp>
#include <rondo/platform/channel.hpp>
#include <rondo/session/round.hpp>
#include <rondo/session/session.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace rondo {

/// A graph, opened on a platform, that runs round after round, one at a time. Owns everything that outlives a round.
///
///     auto session = rondo::open<rondo::A2A3Sim>(graph);
///     for (;;) if (Status status = session.run_round(bind(x, hx), bind(y, hy)); !status) return report(status);
///
/// Lifetime: immovable, its buffers have stable addresses; open() returns it by guaranteed elision. Destroying it in
/// the middle of a round waits for the device. Thread safety: one thread at a time, except for request_stop();
/// different sessions are independent. Errors: set-up throws Error. Rounds return Status: after a failure the session
/// is either usable or poisoned, and a poisoned session refuses every later call except close(). Cost on the hot path:
/// no allocation, no lock, no system call, no clock; per round the copies of bound memory, the launch, and a few
/// instructions per binding (fewest in the order in which the graph declared the tensors).
template <Platform P, class Policies = DefaultPolicies, class Graph = FrozenGraph>
class RoundSession
    : public detail::SteppedRounds<detail::Session<RoundSession<P, Policies, Graph>, P, Policies, Graph, 1>,
                                   RoundSession<P, Policies, Graph>> {
  using Session = detail::Session<RoundSession, P, Policies, Graph, 1>;
  using Base = detail::SteppedRounds<Session, RoundSession>;
  using Binding = detail::Binding;
  friend Base;
  friend Session;
  friend class detail::SessionBase<RoundSession, P, Policies>;

 public:
  using typename Base::Options;

  /// Opens the device, places all tensors in one arena, writes the args table, and loads the kernels. Prefer open().
  /// @throws Error limit_exceeded, unsupported, overflow, out_of_memory; and as the platform does
  explicit RoundSession(Graph graph, const Options& options = {}) : Base(std::move(graph), options) {}
  ~RoundSession() { this->close_and_report(); }

  /// Runs one round: checks the bindings, copies inputs in, runs the graph, copies outputs out, and waits. Bind every
  /// input, output and inout of the graph exactly once: by pairs, by the result of prebind(), or by DynamicBindings.
  /// Errors that refuse the round, so that nothing is copied or run: wrong_tensor (also for a prebinding of another
  /// session), wrong_size, null_memory, unbound_tensor, bound_twice, misaligned, overlapping, fixed_address,
  /// alias_broken, stale_memory, mixed_modes, busy, closed, poisoned; uninitialized_read if a resident tensor needs its
  /// first upload. Errors that poison the session: kernel_failed, device_failed, timed_out, stopped,
  /// orchestration_failed, deadlock. After check_failed, the round has run and the session is usable.
  ///
  /// For a pair of device memory, the tensor's address changes for this round, nothing is copied, and the args table is
  /// refreshed according to Policies::Update; see TaskGraph::fix_addresses() for an exception. For a round that binds
  /// only host memory this feature costs nothing.
  template <class... Bound>
  [[gnu::always_inline]] Status run_round(Bound&&... bound) noexcept {
    if constexpr ((detail::is_strided<std::remove_cvref_t<Bound>> || ...)) {
      return this->run_strided(bound...);
    } else {
      return this->run_on(
          this->direct(), 0, [this](Status status) __attribute__((always_inline)) { return settle(status); }, bound...);
    }
  }

  /// Runs `rounds` rounds with one prebinding, and keeps the platform's threads awake between them. Before each round
  /// calls `before_round(RoundIndex)` on the calling thread, to refill inputs and read outputs. Stops at the first
  /// round that fails, and returns its status.
  template <class R, class Hook>
  Status run_rounds(std::uint64_t rounds, const Prebound<R, 1>& binding, Hook&& before_round) noexcept {
    static_assert(std::is_nothrow_invocable_v<Hook&, RoundIndex>,
                  "rondo: the callable that run_rounds() calls before each round takes a RoundIndex and is noexcept");
    if constexpr (HasStayingAwake<P>) this->platform_.keep_awake(true);
    Status status;
    for (std::uint64_t i = 0; i < rounds && status.ok(); ++i) {
      before_round(RoundIndex{rounds_});
      status = run_round(binding);
    }
    if constexpr (HasStayingAwake<P>) this->platform_.keep_awake(false);
    return status;
  }

  // --- rounds on a stream of the caller's, on platforms that declare Capability::callers_stream

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
    check_enqueued<B...>();
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
    check_enqueued<B...>();
    Binding bindings[] = {Binding{pairs}..., {}};
    return refresh(std::span(bindings, sizeof...(B)));
  }

  /// Waits until the rounds that enqueue_round() put on the stream are over, without waiting for the stream: asks the
  /// event that comes after the last of them. Errors: timed_out, which poisons; closed, poisoned.
  Status wait_for_enqueued() noexcept
    requires HasCallersStream<P>
  {
    if (const Status status = this->unusable(); !status) return status;
    const Status status = this->platform_.callers_stream().wait();
    return status.ok() ? status : this->note_failure(status);
  }
  /// The event after the round that was enqueued or recorded last, for other streams to wait for; null before the
  /// first. It lives as long as the session is open.
  [[nodiscard]] void* end_event() noexcept
    requires HasCallersStream<P>
  {
    return this->platform_.callers_stream().event();
  }

  /// The number of rounds that succeeded.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_; }

 private:
  [[nodiscard]] const std::uint64_t& round_number() const noexcept { return rounds_; }
  static constexpr std::size_t next_slot() noexcept { return 0; }
  static constexpr std::size_t last_slot() noexcept { return 0; }
  Status finish_all() noexcept {
    if constexpr (HasCallersStream<P>) {
      if (const Status status = this->platform_.callers_stream().wait(); !status) return this->note_failure(status);
    }
    return {};
  }
  static Status close_queue() noexcept { return {}; }
  [[gnu::always_inline]] Status settle(Status status) noexcept {
    if (!status) [[unlikely]]
      return settle_failure(status);
    detail::notify_round_end<Policies>(this->observe_, RoundIndex{rounds_}, status, this->platform_);
    ++rounds_;
    return {};
  }
  [[gnu::cold, gnu::noinline]] Status settle_failure(Status status) noexcept {
    detail::notify_round_end<Policies>(this->observe_, RoundIndex{rounds_}, status, this->platform_);
    return this->note_failure(status);
  }

  template <BoundPair... B>
  static consteval void check_enqueued() {
    static_assert(HasCallersStream<P>,
                  "rondo: the platform has no streams of callers; choose one that declares Capability::callers_stream");
    static_assert((AsyncPair<B> && ...),
                  "rondo: an enqueued round would still use this memory when the call returns; bind pinned memory, "
                  "snapshot(...), or device memory");
    if constexpr (sizeof...(B) != 0) Base::template check_pairs<B...>();
  }

  Status enqueue(std::span<Binding> bindings) noexcept
    requires HasCallersStream<P>
  {
    if (this->state_ != Base::State::open) return this->refusal();
    auto& stream = this->platform_.callers_stream();
    auto& instance = this->instances_[0];
    if (const Status status = stream.begin(); !status) return status.poisoned() ? this->note_failure(status) : status;
    this->enter(Phase::bind);
    const bool is_recording = stream.is_recording();
    for (const Binding& b : bindings) {
      if (is_recording && b.snapshot && this->owns(b.key) && copies_in(this->record(b.key).direction)) {
        return Status::of_tensor(Errc::unsupported, index(b.key.tensor()));
      }
    }
    if (const Status status = instance.prepare(bindings, false); !status) return status;
    Status status = is_recording ? note_recorded(bindings) : Status{};
    if (status.ok() && is_recording && instance.is_refresh_due()) {
      status = instance.refresh(platform::OnCallersStream<P, true>{this->platform_});
    }
    const auto observer = this->round_observer();
    const platform::OnCallersStream<P> channel{this->platform_};
    if (status.ok()) {
      status = instance.on(channel, observer).run(instance.work_of(bindings));
      if (!status.ok()) stream.abandon();
      this->observe_.round_ends(observer.round(), status);
    } else if constexpr (Policies::Values::any) {
      this->shared_.values.take_back();
    }
    instance.unblock();
    if (is_recording && status.ok()) this->rounds_when_lost_ = rounds_ + 1;  // it has not run
    return note(status, rounds_ + 1);
  }
  Status refresh(std::span<Binding> bindings) noexcept
    requires HasCallersStream<P>
  {
    if (this->state_ != Base::State::open) return this->refusal();
    auto& stream = this->platform_.callers_stream();
    auto& instance = this->instances_[0];
    if (const Status status = stream.begin(); !status) return status.poisoned() ? this->note_failure(status) : status;
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
      status = instance.refresh(platform::OnCallersStream<P>{this->platform_});
      if (status.ok()) status = stream.end();
      if (!status.ok()) stream.abandon();
    }
    instance.unblock();
    return note(status, rounds_);
  }

  /// Notes the memory that a recorded round copies; the bindings are prepared.
  Status note_recorded(std::span<const Binding> bindings) noexcept
    requires HasCallersStream<P>
  {
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
      rounds_ = rounds;
      return status;
    }
    if (status.poisoned()) return this->note_failure(status);
    this->rounds_when_lost_ = rounds_;
    return status;
  }

  std::uint64_t rounds_ = 0;
};

}  // namespace rondo
