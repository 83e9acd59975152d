// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/freeze.hpp>
#include <rondo/session/enqueued_rounds.hpp>
#include <rondo/session/round.hpp>
#include <rondo/session/session.hpp>

#include <cstddef>
#include <cstdint>
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
    : public detail::EnqueuedRounds<detail::SteppedRounds<
          detail::Session<RoundSession<P, Policies, Graph>, P, Policies, Graph, 1>, RoundSession<P, Policies, Graph>>> {
  using Session = detail::Session<RoundSession, P, Policies, Graph, 1>;
  using Stepped = detail::SteppedRounds<Session, RoundSession>;
  using Base = detail::EnqueuedRounds<Stepped>;
  friend Base;
  friend Stepped;
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
  void set_rounds(std::uint64_t rounds) noexcept { rounds_ = rounds; }
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

  std::uint64_t rounds_ = 0;
};

}  // namespace rondo
