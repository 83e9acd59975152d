// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/freeze.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/session/in_flight.hpp>
#include <rondo/session/round.hpp>
#include <rondo/session/session.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace rondo {

/// A session whose rounds overlap: while the device computes one round, the inputs of the next are copied to it and the
/// outputs of the previous one are copied back.
///
///     auto session = rondo::open_pipelined<rondo::A2A3Sim, 3>(graph);
///     for (auto& batch : batches) (void)session.submit_round(bind(x, batch.x), bind(y, batch.y));
///     Status status = session.wait_all();
///
/// Each of the `Depth` slots has its own memory for bindings, and a program that uses it. All else is shared, since the
/// device runs one round at a time, in order. Rounds therefore access residents in the order of submission. If the
/// platform overlaps rounds (HasOverlappingRounds), each slot also has its own workspace, and a task starts as soon as
/// its inputs and residents are ready, while earlier rounds still run; the results are the same. Inputs have been
/// copied when submit_round returns. Outputs are in host memory once the round has been delivered, which happens on the
/// calling thread, in order, in the calls that submit, poll and wait. A round that reads host memory which a round in
/// flight will write waits until that one has been delivered. All other operations of the session first wait for the
/// rounds in flight. If an output is a view of a resident or of zeroed workspace, which all slots share, or of
/// device memory that the round binds, the next round waits until it has been delivered.
///
/// Lifetime: immovable; bound outputs must outlive their round. Thread safety: one thread at a time, except for
/// request_stop(). Errors: a wrong binding refuses the round and changes nothing; the RoundTicket has the status. A
/// round that fails on the device fails its own ticket and poisons the session: later ones fail as `poisoned`. Cost:
/// that of a round of RoundSession, and 150 to 260 ns to submit and deliver it (bench/pipeline); no allocation.
template <Platform P, std::size_t Depth = 2, class Policies = DefaultPolicies, class Graph = FrozenGraph>
class PipelinedSession
    : public detail::SteppedRounds<
          detail::Session<PipelinedSession<P, Depth, Policies, Graph>, P, Policies, Graph, detail::slots_of<P, Depth>>,
          PipelinedSession<P, Depth, Policies, Graph>>,
      public detail::InFlight<PipelinedSession<P, Depth, Policies, Graph>, P, Policies, Depth> {
  static constexpr std::size_t slots = detail::slots_of<P, Depth>;
  using Session = detail::Session<PipelinedSession, P, Policies, Graph, slots>;
  using Base = detail::SteppedRounds<Session, PipelinedSession>;
  using Flights = detail::InFlight<PipelinedSession, P, Policies, Depth>;
  friend Base;
  friend Session;
  friend class detail::SessionBase<PipelinedSession, P, Policies>;
  friend Flights;

 public:
  using typename Base::Options;

  /// Like the constructor of RoundSession. Prefer open_pipelined(). @throws Error as that one; out_of_resources
  explicit PipelinedSession(Graph graph, const Options& options = {})
      : Base(std::move(graph), options),
        Flights(this->platform_, count_outputs(this->interface().tensors),
                Bytes{this->memory_.stride + this->instances_[0].refresher().device_bytes().value}) {
    const bool is_alone = std::ranges::any_of(this->interface().tensors, &graph::TensorRecord::is_delivered_alone);
    Flights::limit_to(is_alone ? 1 : slots);
    if (this->overlaps()) Flights::overlap_rounds();
  }
  ~PipelinedSession() { this->close_and_report(); }

  /// Runs one round after those in flight, and waits for it. Bindings as in submit_round.
  template <class... Bound>
  Status run_round(Bound&&... bound) noexcept {
    (void)this->wait_all();
    if constexpr ((detail::is_strided<std::remove_cvref_t<Bound>> || ...)) {
      return this->run_strided(bound...);
    } else {
      return this->run_on(
          this->direct(), this->next_slot(), [this](Status status) { return settle(status); }, bound...);
    }
  }

  using Flights::rounds;

 private:
  [[nodiscard]] static std::size_t count_outputs(std::span<const graph::TensorRecord> tensors) noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(tensors, copies_out, &graph::TensorRecord::direction));
  }

  // For InFlight.
  static constexpr bool is_submitted_anew() noexcept { return false; }
  using Base::refusal;
  using Flights::ranges_of_bound;
  template <class R>
  [[nodiscard, gnu::always_inline]] static auto ranges_of_bound(const Prebound<R, slots>& bound) noexcept {
    return detail::ranges_of(Base::resolved(bound));
  }
  void note_submitted(std::uint32_t slot) noexcept { last_ = slot; }
  void fail(Status status, std::uint32_t) noexcept { (void)this->note_failure(status); }
  /// A round that the device refused may have copied its inputs to where those of the last round were.
  void note_refused() noexcept { this->rounds_when_lost_ = rounds(); }

  // For Session.
  Status settle(Status status) noexcept {
    detail::notify_round_end<Policies>(this->observe_, RoundIndex{this->round_number()}, status, this->platform_);
    if (!status.ok()) [[unlikely]] {
      if (status = this->note_failure(status); !status.poisoned()) return status;
    }
    last_ = this->next_slot();
    this->count_direct(status);
    return status;
  }
  using Base::note_failure;
  using Flights::close_queue;
  [[nodiscard]] std::uint32_t last_slot() const noexcept { return last_; }

  std::uint32_t last_ = 0;  ///< the slot of the last round
};

}  // namespace rondo
