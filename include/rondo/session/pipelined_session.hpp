// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/freeze.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/session/in_flight.hpp>
#include <rondo/session/session.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace rondo {

/// A session whose rounds overlap: while the device computes one, the next one's inputs are on their way to it and the
/// last one's outputs on their way back.
///
///     auto session = rondo::open_pipelined<rondo::A2A3Sim, 3>(graph);
///     for (auto& batch : batches) (void)session.submit_round(bind(x, batch.x), bind(y, batch.y));
///     Status status = session.wait_all();
///
/// Each of the `Depth` slots has memory of its own for what rounds bind, and a program over it; everything else is
/// shared, since the device runs one round at a time, in order. So residents see rounds in the order in which they were
/// submitted. Where the platform overlaps rounds (HasOverlappingRounds), each slot has a workspace of its own as well,
/// and a task starts as soon as its inputs and the residents that it uses are ready, while earlier rounds still run;
/// results are the same. Inputs have been taken when submit_round returns; outputs are in host memory once the round
/// was delivered, which happens on the calling thread, in order, inside the calls that submit, poll and wait. A round
/// that reads host memory which one in flight will write waits until that is delivered. Everything else that a session
/// offers waits for the rounds in flight first. Where an output is a view of a resident or of zeroed workspace, which
/// all slots share, a round waits until the one before it is delivered.
///
/// Lifetime: immovable; the bound outputs outlive their round. Thread safety: one thread at a time, but request_stop().
/// Errors: a binding that is wrong refuses the round, whose RoundTicket tells, and changes nothing. A round that fails
/// on the device fails its own ticket and poisons the session: later ones fail as `poisoned`. Cost: as a round of
/// RoundSession, and some tens of nanoseconds to hand it over and to take it in; no allocation.
template <Platform P, std::size_t Depth = 2, class Policies = DefaultPolicies, class Graph = FrozenGraph>
class PipelinedSession : public detail::Session<PipelinedSession<P, Depth, Policies, Graph>, P, Policies, Graph,
                                                detail::slots_of<P, Depth>>,
                         public detail::InFlight<PipelinedSession<P, Depth, Policies, Graph>, P, Policies, Depth> {
  static constexpr std::size_t slots = detail::slots_of<P, Depth>;
  using Base = detail::Session<PipelinedSession, P, Policies, Graph, slots>;
  using Flights = detail::InFlight<PipelinedSession, P, Policies, Depth>;
  friend Base;
  using Root = detail::SessionBase<PipelinedSession, P, Policies>;
  friend Root;
  friend Flights;

 public:
  using typename Base::Options;

  /// As RoundSession's. Prefer open_pipelined(). @throws Error likewise; out_of_resources
  explicit PipelinedSession(Graph graph, const Options& options = {})
      : Base(std::move(graph), options),
        Flights(this->platform_, count_outputs(this->interface()),
                Bytes{this->memory_.stride + this->instances_[0].refresher().device_bytes().value}) {
    if (delivers_shared(this->interface())) this->limit_ = 1;
    if (this->overlaps()) Flights::overlap_rounds();
  }
  ~PipelinedSession() { this->close_and_report(); }

  /// One round, run at once after those in flight, and waited for. Bindings as in submit_round.
  template <class... Bound>
  Status run_round(Bound&&... bound) noexcept {
    if (const Status status = this->come_to_rest(); !status) return status;
    return this->run_on(
        this->direct(), this->next_slot(), [this](Status status) { return settle(status); }, bound...);
  }

  using Flights::rounds;

 private:
  template <class, class, Stage>
  friend class Round;

  [[nodiscard]] static std::size_t count_outputs(const graph::GraphView& view) noexcept {
    std::size_t n = 0;
    for (const graph::TensorRecord& tensor : view.tensors) n += copies_out(tensor.direction) ? 1 : 0;
    return n;
  }
  [[nodiscard]] static bool delivers_shared(const graph::GraphView& view) noexcept {
    for (const graph::TensorRecord& tensor : view.tensors) {
      if (tensor.delivered && (tensor.direction == Direction::resident || tensor.zeroed != Zeroed::never)) return true;
    }
    return false;
  }

  // The side of the rounds in flight.
  static constexpr bool has_shapes = false;
  [[nodiscard]] Status refusal_to_submit() const noexcept { return this->refusal(); }
  using Flights::ranges_of_bound;
  template <class R>
  [[nodiscard, gnu::always_inline]] static auto ranges_of_bound(const Prebound<R, slots>& bound) noexcept {
    return detail::ranges_of(Base::resolved(bound).copies);
  }
  void note_submitted(std::uint32_t slot) noexcept { last_ = slot; }
  void fail(Status status, std::uint32_t slot) noexcept {
    if (slot < slots) this->refusing_slot_ = slot;
    (void)this->note_failure(status);
  }

  // The side of the session.
  void finish_all() noexcept { (void)this->wait_all(); }
  Status settle(Status status) noexcept {
    detail::tell_end<Policies>(this->observe_, RoundIndex{this->round_number()}, status, this->platform_);
    if (!status.ok() && !status.poisoned()) return this->note_failure(status);
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
