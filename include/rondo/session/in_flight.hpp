// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/planners.hpp>
#include <rondo/platform/slot.hpp>
#include <rondo/session/host_ranges.hpp>
#include <rondo/session/inner_observers.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/planned_graph.hpp>
#include <rondo/session/round_awaiter.hpp>
#include <rondo/session/round_ticket.hpp>
#include <rondo/session/slot_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rondo {

/// A session whose rounds overlap: while the device computes one, the next one's inputs are on their way to it and the
/// last one's outputs on their way back.
///
///     struct Overlapping : rondo::DefaultPolicies { static constexpr std::size_t rounds_in_flight = 3; };
///     auto session = rondo::open<rondo::A2A3Sim, Overlapping>(graph);
///     for (auto& batch : batches) (void)session.submit_round(bind(x, batch.x), bind(y, batch.y));
///     Status status = session.wait_all();
///
/// Each of the `rounds_in_flight` slots has memory of its own for what rounds bind, and a program over it; everything
/// else is shared, since the device runs one round at a time, in order. So residents see rounds in the order in which
/// they were submitted. Inputs have been taken when submit_round returns; outputs are in host memory once the round was
/// delivered, which happens on the calling thread, in order, inside the calls that submit, poll and wait. A round that
/// reads host memory which one in flight will write waits until that is delivered.
///
/// On a platform without a queue (see HasQueue) each round is over when it was submitted.
///
/// Lifetime: immovable; the bound outputs outlive their round. Thread safety: one thread at a time, but request_stop().
/// Errors: a binding that is wrong refuses the round, whose RoundTicket tells, and changes nothing. A round that fails
/// on the device fails its own ticket and poisons the session: those behind it fail as `poisoned`. Cost: as a round of
/// RoundSession, and some tens of nanoseconds to hand it over and to take it in; no allocation.
template <Platform P, class Policies, class Graph>
requires(Policies::rounds_in_flight > 1) class RoundSession<P, Policies, Graph> {
  static_assert(
      !requires { requires Policies::Runtime::is_orchestrated; },
      "rondo: a graph that an orchestration builds anew each round has one round at a time; choose "
      "runtime::HostBuildGraph, or rounds_in_flight = 1");
  static_assert(std::is_same_v<P, CheckedPlatform<P, Policies>>, "rondo: open() sees to Policies::Check; call it");
  static_assert(Policies::rounds_in_flight <= 64, "rondo: at most 64 rounds can be in flight");
  static constexpr std::uint32_t depth = HasQueue<P> ? std::uint32_t{Policies::rounds_in_flight} : 1;

  struct SlotPolicies : Policies {
    using Plan = memory::PortsLast<typename Policies::Plan>;
    using Observe = detail::SlotObserver<typename Policies::Observe>;
    using Check = NoCheck;  // the platform is the checked one already
    static constexpr std::size_t rounds_in_flight = 1;

   private:
    static void log();  // out of reach: the session logs, not each slot
  };
  using Layout = memory::Layout<Graph, typename P::Arch, typename SlotPolicies::Plan, detail::concurrency<P, Graph>>;
  using SlotGraph = std::conditional_t<Graph::is_static, Graph, detail::PlannedGraph<Graph, Layout>>;
  using View = platform::Slot<P>;
  using Slot = RoundSession<View, SlotPolicies, SlotGraph>;
  /// A prebinding for each slot.
  template <class Bindings>
  struct SlotBindings {
    static constexpr bool binds_slots = true;
    Bindings of_slot[depth];
    [[nodiscard]] Status status() const noexcept { return of_slot[0].status(); }
    explicit operator bool() const noexcept { return status().ok(); }
  };

 public:
  /// What it runs on.
  using Platform = P;
  /// How that is opened.
  using Options = typename P::Options;

  /// As RoundSession's. Prefer open(). @throws Error likewise; out_of_resources
  explicit RoundSession(Graph graph, const Options& options = {})
      : RoundSession(std::move(graph), options, std::make_integer_sequence<std::uint32_t, depth>{}) {}
  RoundSession(const RoundSession&) = delete;
  RoundSession& operator=(const RoundSession&) = delete;
  ~RoundSession() {
    if (const Status status = close(); !status && status.code() != Errc::poisoned) {
      Policies::report_unclosed(status, explain(status).c_str());
    }
  }

  // --- rounds
  // ---------------------------------------------------------------------------------------------------------

  /// Sends one round on its way: checks the bindings, takes the inputs, hands it over. While all slots are taken it
  /// waits for the oldest round. The last argument may be a callable that takes the round's Status: it is called when
  /// the round has been delivered, once, in order, by whichever call delivers it; it may submit further rounds. It
  /// holds 48 bytes at most and does not throw. For a refused round it is not called.
  template <class... Args>
  RoundTicket submit_round(Args&&... args) noexcept {
    return submit_args(true, std::forward<Args>(args)...);
  }
  /// The same, but refuses the round as `busy` where submit_round would wait.
  template <class... Args>
  RoundTicket try_submit_round(Args&&... args) noexcept {
    return submit_args(false, std::forward<Args>(args)...);
  }
  /// For coroutines: `Status status = co_await session.round(bind(x, hx), bind(y, hy));` submits the round, when its
  /// turn has come, and resumes the coroutine when it was delivered, inside the call that delivers it.
  template <BoundPair... B>
  [[nodiscard]] auto round(const B&... pairs) noexcept {
    return detail::RoundAwaiter<RoundSession, B...>(*this, pairs...);
  }

  /// One round, waited for, behind those in flight.
  template <class... Args>
  Status run_round(const Args&... args) noexcept {
    return wait(submit_round(args...));
  }

  /// Checks bindings once, for rounds that bind the same host memory again and again: what it returns is bound instead
  /// of the pairs.
  template <BoundPair... B>
  [[nodiscard]] auto prebind(const B&... pairs) noexcept {
    return [&]<std::uint32_t... I>(std::integer_sequence<std::uint32_t, I...>) {
      return SlotBindings<decltype(slots_[0].prebind(pairs...))>{{slots_[I].prebind(pairs...)...}};
    }
    (std::make_integer_sequence<std::uint32_t, depth>{});
  }

  /// Waits until the round was delivered. Errors: what the ticket was refused with; the round's own failure; poisoned,
  /// if one before it failed; invalid_argument for another session's ticket.
  Status wait(RoundTicket ticket) noexcept {
    if (!ticket) return ticket.submitted();
    const std::uint64_t round = ticket.number() - first_ticket_;
    if (round >= submitted_) return Status{Errc::invalid_argument};
    while (delivered_ <= round) deliver_oldest();
    return outcome(round);
  }
  /// Waits until all rounds were delivered, those too that completions submit. @returns the first failure of any round
  Status wait_all() noexcept {
    while (in_flight() != 0) deliver_oldest();
    return cause_;
  }
  /// Delivers what is done, but for rounds that completions submit meanwhile, and waits for nothing. @returns how many
  /// rounds are still in flight
  std::size_t poll() noexcept {
    for (const std::uint64_t end = submitted_; delivered_ < end && queue_.is_done(oldest_);) deliver_oldest();
    return in_flight();
  }

  /// Ends the round that the device is at, or else the next, with `stopped`. From any thread.
  void request_stop() noexcept requires requires(P& p) { p.request_stop(); }
  { platform_.request_stop(); }

  // --- residents and constants: all of them wait for the rounds in flight
  // ---------------------------------------------------------------------------------------------------------

  /// As RoundSession::upload; waits for the rounds in flight.
  template <Element T, class Host>
  Status upload(Resident<T> tensor, const Host& host) noexcept {
    if (const Status status = drain(); !status) return status;
    const Status status = slots_[0].upload(tensor, host);
    for (std::uint32_t s = 1; status.ok() && s < depth; ++s) slots_[s].adopt(tensor.key.tensor());
    return noted(status);
  }
  /// As upload(), from the device to the host.
  template <Element T, class Host>
  Status download(Resident<T> tensor, Host&& host) noexcept {
    if (const Status status = drain(); !status) return status;
    return noted(slots_[0].download(tensor, std::forward<Host>(host)));
  }
  /// As RoundSession::set_scalar; waits for the rounds in flight.
  template <class Scalar>
  Status set_scalar(TaskId task, std::size_t n, Scalar value) noexcept {
    Status status = drain();
    for (Slot& slot : slots_) {
      if (status.ok()) status = slot.set_scalar(task, n, value);
    }
    return status;
  }
  /// As RoundSession::pair. @throws Error wrong_tensor, closed
  template <Element T, Direction D>
  requires(!is_bound_each_round(D)) [[nodiscard]] DevicePair<T, D> pair(TensorHandle<T, D> tensor) const {
    return slots_[0].pair(tensor);
  }

  // --- state
  // ----------------------------------------------------------------------------------------------------------

  /// Rounds delivered, failed ones not counted.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return delivered_ < failed_at_ ? delivered_ : failed_at_; }
  /// Rounds that were submitted and not delivered.
  [[nodiscard]] std::size_t in_flight() const noexcept { return static_cast<std::size_t>(submitted_ - delivered_); }
  /// Did a round fail in a way that leaves nothing to rely on? Then only close() works.
  [[nodiscard]] bool poisoned() const noexcept { return state_ == State::poisoned; }
  /// Of all slots together.
  [[nodiscard]] Bytes arena_bytes() const noexcept { return arena_.size(); }
  /// What it runs; as long as the session lives.
  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
  /// What it runs on, for what only the platform can tell.
  [[nodiscard]] P& platform() noexcept { return platform_; }
  /// What Policies::Observe names, default-constructed.
  [[nodiscard]] auto& observer() noexcept { return observe_; }
  /// Where the host sets scalars, for rounds that are submitted later; see launch/round_values.hpp.
  [[nodiscard]] auto& values() noexcept requires(Policies::Values::any) { return values_; }
  /// As RoundSession's, of one slot; but the bytes of tensors are of all. Include session/memory_report.hpp.
  [[nodiscard]] auto memory_report() const {
    auto report = slots_[0].memory_report();
    report.holdings[0].bytes = arena_.size();
    return report;
  }
  /// A sentence for a status of this session, naming the tensor or task.
  [[nodiscard]] Error::Text explain(Status status) const noexcept {
    Error::Text text = slots_[refused_].explain(status);
    if (status.code() == Errc::poisoned && !cause_.ok()) {
      text.append(". The failure: ");
      text.append(slots_[refused_].explain(cause_));
    }
    return text;
  }
  /// Waits for the rounds in flight, whose completions are called, and releases everything.
  Status close() noexcept {
    if (state_ == State::closed) return {};
    (void)wait_all();
    if constexpr (requires { &Policies::log; }) log_closing(*this);
    Status status;
    for (Slot& slot : slots_) {
      if (const Status closed = slot.close(); status.ok()) status = closed;
    }
    if (state_ == State::poisoned) status = {};  // told already, by the round that failed
    if (const Status closed = queue_.close(); status.ok()) status = closed;
    if (const Status released = arena_.release(); status.ok()) status = released;
    if constexpr (HasClose<P>) {
      if (const Status closed = platform_.close(); status.ok()) status = closed;
    }
    state_ = State::closed;
    return status;
  }

 private:
  enum class State : std::uint8_t { open, poisoned, closed };
  template <class, BoundPair...>
  friend class detail::RoundAwaiter;

  template <std::uint32_t... I>
  RoundSession(Graph graph, const Options& options, std::integer_sequence<std::uint32_t, I...>)
      : graph_{checked(std::move(graph))},
        layout_{graph_},
        platform_{options},
        memory_{graph_.view(), layout_.offsets(), layout_.arena_bytes()},
        values_{graph_.view().tensors, graph_.view().tag},
        arena_{platform_, memory_.whole(depth), Bytes{P::Arch::arena_alignment}},
        most_outputs_{count_outputs(graph_.view())},
        queue_{platform::open_queue(platform_, depth, most_outputs_ + 1, Bytes{memory_.stride})},
        writes_(depth * most_outputs_),
        slots_{Slot(slot_graph(), options_of(I))...} {
    if constexpr (!std::is_empty_v<typename Policies::Observe>) {
      for (Slot& slot : slots_) slot.observer().observer = &observe_;
    }
    if constexpr (requires { &Policies::log; }) log_opened(*this);
  }
  /// A round may still deliver what the next one already writes, so what is delivered is there for each slot.
  static Graph checked(Graph graph) {
    const graph::GraphView view = graph.view();
    for (const graph::TensorRecord& tensor : view.tensors) {
      if (!tensor.delivered || (tensor.direction != Direction::resident && tensor.zeroed == Zeroed::never)) continue;
      throw Error(Errc::unsupported, Error::Text("an output is a view of '", view.name(tensor.name), "', a ",
                                                 tensor.zeroed == Zeroed::never ? "resident" : "zeroed workspace",
                                                 ", of which rounds in flight have one for all; let a kernel copy it"));
    }
    return graph;
  }
  [[nodiscard]] typename View::Options options_of(std::uint32_t slot) noexcept {
    const auto lend = [](void* self, Bytes) { return static_cast<RoundSession*>(self)->arena_.base(); };
    return {{&platform_, this, lend, &values_}, &queue_, slot, memory_.displacement(slot)};
  }
  [[nodiscard]] SlotGraph slot_graph() const noexcept {
    if constexpr (Graph::is_static) {
      return graph_;
    } else {
      return {&graph_, &layout_};
    }
  }
  [[nodiscard]] static std::size_t count_outputs(const graph::GraphView& view) noexcept {
    std::size_t n = 0;
    for (const graph::TensorRecord& tensor : view.tensors) n += copies_out(tensor.direction) ? 1 : 0;
    return n;
  }

  /// Pairs, or a prebinding, and perhaps a callable behind them.
  template <class... Args>
  [[gnu::always_inline]] RoundTicket submit_args(bool waits, Args&&... args) noexcept {
    if constexpr ((is_bound<Args> && ...)) {
      return submit(waits, nullptr, args...);
    } else {
      return [&]<std::size_t... I>(std::index_sequence<I...>, auto&& all) {
        static_assert((is_bound<std::tuple_element_t<I, std::tuple<Args...>>> && ...),
                      "rondo: a round takes pairs, as bind(...) makes them, and at most one callable, the last");
        return submit(waits, std::get<sizeof...(I)>(std::move(all)), std::get<I>(all)...);
      }
      (std::make_index_sequence<sizeof...(Args) - 1>{}, std::forward_as_tuple(std::forward<Args>(args)...));
    }
  }
  template <class T>
  static constexpr bool is_bound = BoundPair<std::remove_cvref_t<T>> || requires {
    std::remove_cvref_t<T>::binds_slots;
  };

  template <class OnDone, BoundPair... B>
  [[gnu::always_inline]] RoundTicket submit(bool waits, OnDone&& on_done, const B&... pairs) noexcept {
    return submit_ranges(waits, std::forward<OnDone>(on_done), detail::ranges_of(pairs...),
                         [&](Slot& slot, std::uint32_t) noexcept { return slot.run_round(pairs...); });
  }
  template <class OnDone, class Bindings>
  [[gnu::always_inline]] RoundTicket submit(bool waits, OnDone&& on_done,
                                            const SlotBindings<Bindings>& bindings) noexcept {
    return submit_ranges(waits, std::forward<OnDone>(on_done), detail::ranges_of(bindings.of_slot[0].copies()),
                         [&](Slot& slot, std::uint32_t s) noexcept { return slot.run_round(bindings.of_slot[s]); });
  }
  template <class OnDone, class Ranges, class Run>
  [[gnu::always_inline]] RoundTicket submit_ranges(bool waits, OnDone&& on_done, const Ranges& ranges,
                                                   Run run) noexcept {
    if (state_ != State::open || !is_free() || writer_of(ranges) != never) {
      if (const Status status = make_room(waits, ranges); !status) return refuse(status);
    }
    const std::uint32_t slot = turn_;
    if constexpr (!std::is_empty_v<typename Policies::Observe>) slots_[slot].observer().round = submitted_;
    if (const Status status = run(slots_[slot], slot); !status) [[unlikely]] {
      queue_.cancel(slot);
      refused_ = slot;
      return refuse(noted(status));
    }
    if constexpr (!std::is_same_v<std::remove_cvref_t<OnDone>, std::nullptr_t>) {
      rounds_[slot].on_done.set(std::forward<OnDone>(on_done));
    }
    detail::HostRange hull;
    for (std::size_t i = 0; i < Ranges::out_count; ++i) {
      hull.include(ranges.out[i]);
      if constexpr (Ranges::out_count > 1) writes_[slot * most_outputs_ + i] = ranges.out[i];
    }
    rounds_[slot].hull = hull;
    rounds_[slot].writes = Ranges::out_count;
    turn_ = next(slot);
    return {first_ticket_ + submitted_++, Status{}};
  }
  [[gnu::cold, gnu::noinline]] RoundTicket refuse(Status status) noexcept { return {0, status}; }

  [[nodiscard]] bool is_free() const noexcept { return in_flight() < depth; }
  [[nodiscard]] static std::uint32_t next(std::uint32_t slot) noexcept { return slot + 1 == depth ? 0 : slot + 1; }

  /// The youngest round in flight that will write host memory which this one reads: its number, or `never`.
  template <class Ranges>
  [[nodiscard, gnu::always_inline]] std::uint64_t writer_of(const Ranges& ranges) const noexcept {
    std::uint64_t found = never;
    if constexpr (Ranges::in_count != 0) {
      std::uint32_t slot = oldest_;
      for (std::uint64_t round = delivered_; round != submitted_; ++round, slot = next(slot)) {
        for (std::size_t i = 0; i < Ranges::in_count; ++i) {
          if (ranges.in[i].overlaps(rounds_[slot].hull) && writes(slot, ranges.in[i])) [[unlikely]]
            found = round;
        }
      }
    }
    return found;
  }
  /// Does the round in a slot write to that memory? Its hull does.
  [[nodiscard, gnu::cold]] bool writes(std::uint32_t slot, const detail::HostRange& range) const noexcept {
    if (rounds_[slot].writes == 1) return true;
    for (std::size_t i = 0; i < rounds_[slot].writes; ++i) {
      if (range.overlaps(writes_[slot * most_outputs_ + i])) return true;
    }
    return false;
  }
  /// Until the round can be submitted. A completion may take the place that it made.
  template <class Ranges>
  [[gnu::noinline]] Status make_room(bool waits, const Ranges& ranges) noexcept {
    if (!waits) (void)poll();
    for (;;) {
      if (state_ != State::open) return refusal();
      const std::uint64_t writer = writer_of(ranges);
      if (writer == never && is_free()) return {};
      if (!waits) return Status{Errc::busy};
      do deliver_oldest();
      while (writer != never && delivered_ <= writer);
    }
  }
  [[nodiscard]] Status refusal() const noexcept {
    return state_ == State::closed ? Status{Errc::closed} : Status{Errc::poisoned}.poisoning();
  }

  /// Waits for the oldest round in flight, and takes it in.
  void deliver_oldest() noexcept {
    const std::uint32_t slot = oldest_;
    if constexpr (requires { observe_.delivers(RoundIndex{delivered_}); }) observe_.delivers(RoundIndex{delivered_});
    queue_.await(slot);
    if constexpr (requires { observe_.enters(Phase::copy_out); }) observe_.enters(Phase::copy_out);
    Status status = queue_.deliver(slot);
    if (!status) [[unlikely]]
      status = status.poisoning();  // rounds behind it may have come to rely on it
    const std::uint64_t round = delivered_++;
    oldest_ = next(slot);
    if (!status) [[unlikely]]
      note_failure(round, status);
    observe_.round_ends(RoundIndex{round}, status);
    rounds_[slot].on_done.call(status);
    while (first_waiting_ != nullptr && first_waiting_->is_ready(*first_waiting_)) start_waiting();
  }
  [[gnu::cold]] void note_failure(std::uint64_t round, Status status) noexcept {
    if (state_ != State::open) return;
    state_ = State::poisoned;
    failed_at_ = round;
    cause_ = status;
    if constexpr (requires { &Policies::log; }) log_poisoned(*this, status);
  }
  /// A step outside of any round in flight has failed.
  Status noted(Status status) noexcept {
    if (status.poisoned()) note_failure(submitted_, status);
    return status;
  }
  [[nodiscard]] Status outcome(std::uint64_t round) const noexcept {
    if (round < failed_at_) return {};
    return round == failed_at_ ? cause_ : Status{Errc::poisoned}.poisoning();
  }
  /// All rounds delivered; is the session still to be used?
  Status drain() noexcept {
    (void)wait_all();
    return state_ == State::open ? Status{} : refusal();
  }

  // The awaiters' side.
  template <BoundPair... B>
  [[nodiscard]] bool can_submit(const B&... pairs) const noexcept {
    return state_ != State::open || (is_free() && writer_of(detail::ranges_of(pairs...)) == never);
  }
  /// Puts a round behind those that wait, unless its turn is now.
  [[nodiscard]] bool must_wait(detail::WaitingRound& round) noexcept {
    if (first_waiting_ == nullptr && round.is_ready(round)) return false;
    (first_waiting_ == nullptr ? first_waiting_ : last_waiting_->next) = &round;
    last_waiting_ = &round;
    return true;
  }
  void start_waiting() noexcept {
    detail::WaitingRound& round = *first_waiting_;
    first_waiting_ = round.next;
    round.next = nullptr;
    round.start(round);
  }
  void withdraw(detail::WaitingRound& round) noexcept {
    detail::WaitingRound** link = &first_waiting_;
    detail::WaitingRound* before = nullptr;
    for (; *link != &round; link = &(*link)->next) before = *link;
    *link = round.next;
    if (last_waiting_ == &round) last_waiting_ = before;
  }
  /// Nobody waits for that round any more.
  void forget(std::uint64_t ticket) noexcept {
    rounds_[(oldest_ + (ticket - first_ticket_ - delivered_)) % depth].on_done.clear();
  }

  static constexpr std::uint64_t never = ~std::uint64_t{0};

  // The order matters: what comes later uses what comes before and dies first.
  [[no_unique_address]] Graph graph_;
  [[no_unique_address]] Layout layout_;
  P platform_;
  detail::SlotMemory<typename P::Arch> memory_;
  [[no_unique_address]] typename Policies::Values::Store values_;  ///< for all slots together
  memory::Arena<P, memory::Holds::tensors> arena_;
  std::size_t most_outputs_;
  typename View::Queue queue_;
  struct InFlight {
    detail::OnDone on_done;
    detail::HostRange hull;  ///< of the host memory that the round will write
    std::size_t writes = 0;  ///< in so many places
  };
  InFlight rounds_[depth];
  detail::OwnedArray<detail::HostRange> writes_;  ///< by slot: that memory
  Slot slots_[depth];
  [[no_unique_address]] typename Policies::Observe observe_;

  State state_ = State::open;
  std::uint32_t turn_ = 0;     ///< the slot of the next round
  std::uint32_t oldest_ = 0;   ///< the slot of the oldest in flight
  std::uint32_t refused_ = 0;  ///< the slot that last refused a round
  std::uint64_t submitted_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t failed_at_ = never;  ///< the first round that failed
  Status cause_;                     ///< how
  std::uint64_t first_ticket_ = detail::next_session_number() * 0x9E37'79B9'7F4A'7C15U;  ///< far from other sessions'
  detail::WaitingRound* first_waiting_ = nullptr;
  detail::WaitingRound* last_waiting_ = nullptr;
};

}  // namespace rondo
