// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/binding/host_ranges.hpp>
#include <rondo/binding/prebound.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/channel.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/session/round_awaiter.hpp>
#include <rondo/session/round_ticket.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo::detail {

/// The number of slots of a session with `Depth` rounds in flight.
template <class P, std::size_t Depth>
inline constexpr std::size_t slots_of = HasQueue<P> && Depth > 1 ? Depth : 1;

/// Rounds in flight: submits them, delivers them in order on the calling thread, and reports their outcomes. The common
/// part of PipelinedSession and ShapedSession.
///
/// `Derived` has `may_submit()`, whether it accepts rounds; `refusal()`, the reason if not; `fail(Status, slot)`,
/// called on a failure; `shared_`, see SharedState; `is_submitted_anew()`, whether to repeat a submission: setting up
/// its shape has delivered other rounds, and their completions may have changed bindings or taken the slot;
/// `note_submitted(slot)`; `ranges_of_bound(bound...)`, the host memory of a round; `run_on(channel, slot, settle,
/// bound...)`, which runs a round; `P& platform()`; `Observer& observer()`.
///
/// On a platform without a queue (see HasQueue), or with one slot, submitting a round also completes it.
template <class Derived, Platform P, class Policies, std::size_t Depth>
class InFlight {
  static_assert(Depth >= 1 && Depth <= 64, "rondo: at least 1 and at most 64 rounds can be in flight");

 public:
  /// Whether rounds run while the caller prepares the next ones.
  static constexpr bool is_queued = HasQueue<P> && Depth > 1;
  /// The maximum number of rounds in flight.
  static constexpr std::uint32_t depth = slots_of<P, Depth>;

  /// Submits a round: checks the bindings, copies the inputs, and passes the round to the device. If all slots are in
  /// use, waits for the oldest round. The bindings are pairs, a prebinding or DynamicBindings. The last argument may be
  /// a callable that takes the round's Status. It is called once, after the round has been delivered, in order, by the
  /// call that delivers it; it may submit further rounds. It must not exceed 48 bytes and must not throw. It is not
  /// called for a refused round.
  template <class... Args>
  RoundTicket submit_round(Args&&... args) noexcept {
    return submit_args(true, std::forward<Args>(args)...);
  }
  /// The same, but refuses the round with `busy` if submit_round would wait for another one. A shape that is new is set
  /// up all the same.
  template <class... Args>
  RoundTicket try_submit_round(Args&&... args) noexcept {
    return submit_args(false, std::forward<Args>(args)...);
  }
  /// For coroutines: `Status status = co_await session.round(bind(x, hx), bind(y, hy));` submits the round in turn, and
  /// resumes the coroutine after its delivery, inside the call that delivers it.
  template <BoundPair... B>
  [[nodiscard]] auto round(const B&... pairs) noexcept {
    return RoundAwaiter<Derived, B...>(derived(), pairs...);
  }

  /// Waits until the round has been delivered. Errors: the reason why the ticket was refused; the round's own failure;
  /// poisoned, if an earlier round failed; invalid_argument for another session's ticket.
  Status wait(RoundTicket ticket) noexcept {
    if (!ticket) return ticket.submitted();
    const std::uint64_t round = ticket.number() - first_ticket_;
    if (round >= submitted_) return derived().without_text(Status{Errc::invalid_argument});
    while (delivered() <= round) deliver_oldest();
    return outcome(round);
  }
  /// Waits until all rounds are delivered, also those that completions and coroutines submit. @returns the first
  /// failure of any round
  Status wait_all() noexcept {
    while (in_flight_ != 0) deliver_oldest();
    return first_failure_;
  }
  /// Delivers the rounds that are done, except those that completions submit meanwhile; does not wait. @returns the
  /// number of rounds still in flight
  std::size_t poll() noexcept {
    for (const std::uint64_t end = submitted_; delivered() < end && is_done(oldest_);) deliver_oldest();
    return in_flight();
  }
  /// The number of rounds delivered without a failure.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return std::min(delivered(), failed_at_); }
  /// The number of rounds submitted and not yet delivered.
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }

 protected:
  /// `outputs`: the maximum number of copies out per round; `bytes`: the maximum copied per round in each direction.
  InFlight(P& platform, std::size_t outputs, Bytes bytes)
      : max_outputs_{outputs}, queue_{platform, depth, outputs + 1, bytes}, writes_(depth * outputs) {}
  ~InFlight() = default;

  template <class, BoundPair...>
  friend class detail::RoundAwaiter;

  [[nodiscard]] Derived& derived() noexcept { return static_cast<Derived&>(*this); }
  [[nodiscard]] const Derived& derived() const noexcept { return static_cast<const Derived&>(*this); }
  [[nodiscard]] const std::uint64_t& round_number() const noexcept { return submitted_; }
  [[nodiscard]] std::uint32_t next_slot() const noexcept { return depth == 1 ? 0 : next_slot_; }
  [[nodiscard]] std::uint64_t delivered() const noexcept { return submitted_ - in_flight_; }
  [[nodiscard]] auto channel(std::uint32_t slot) noexcept {
    if constexpr (is_queued) {
      return platform::QueueSlot<QueueOf<P>>{queue_.queue, slot};
    } else {
      (void)slot;
      return platform::Direct<P>{derived().platform()};
    }
  }
  /// Counts a round that was run directly, without being submitted, while no round was in flight.
  [[gnu::always_inline]] void count_direct(Status status) noexcept {
    ++submitted_;  // not in the queue, which uses its slots in order, so the next slot stays the same
    if (!status.ok()) [[unlikely]]
      note_failure(submitted_ - 1, depth, status);
  }
  Status finish_all() noexcept {
    (void)wait_all();
    return {};  // their tickets have the failures
  }
  Status close_queue() noexcept { return queue_.close(); }
  /// Rounds will copy up to `bytes` in each direction. No round is in flight. @throws Error out_of_memory
  void reserve_in_queue([[maybe_unused]] Bytes bytes) {
    if constexpr (is_queued) queue_.queue.reserve(bytes);
  }

  // --- submitting

  /// The host memory that a round reads and writes.
  template <BoundPair... B>
  [[nodiscard, gnu::always_inline]] static auto ranges_of_bound(const B&... pairs) noexcept {
    return ranges_of(pairs...);
  }
  [[nodiscard]] const auto& ranges_of_bound(DynamicBindings<Derived>& bindings) noexcept { return bindings.ranges(); }
  template <class T>
  static constexpr bool is_bound =
      BoundPair<std::remove_cvref_t<T>> || requires { requires std::remove_cvref_t<T>::replaces_pairs; };
  /// Separates the callable from the bindings.
  template <class... Args>
  [[gnu::always_inline]] RoundTicket submit_args(bool waits, Args&&... args) noexcept {
    if constexpr ((is_bound<Args> && ...)) {
      return submit(waits, nullptr, args...);
    } else {
      return [&]<std::size_t... I>(std::index_sequence<I...>, auto&& all) {
        static_assert((is_bound<std::tuple_element_t<I, std::tuple<Args...>>> && ...),
                      "rondo: a round takes pairs, as bind(...) makes them, and at most one callable, the last");
        return submit(waits, std::get<sizeof...(I)>(std::forward<decltype(all)>(all)), std::get<I>(all)...);
      }(std::make_index_sequence<sizeof...(Args) - 1>{}, std::forward_as_tuple(std::forward<Args>(args)...));
    }
  }
  template <class OnDone, class... Bound>
  [[gnu::always_inline]] RoundTicket submit(bool waits, OnDone&& on_done, Bound&... bound) noexcept {
    const auto& ranges = derived().ranges_of_bound(bound...);
    if (!derived().may_submit() || !is_free() || reads_output(ranges)) {
      // A completion may change the bindings of DynamicBindings. Pairs do not change, and stay in registers.
      const auto recompute_ranges = [&] {
        if constexpr (std::is_lvalue_reference_v<decltype(derived().ranges_of_bound(bound...))>) {
          (void)derived().ranges_of_bound(bound...);
        }
      };
      if (const Status status = make_room(waits, ranges, recompute_ranges); !status) return refused(status);
    }
    const std::uint32_t slot = next_slot_;
    Status status = derived().run_on(
        channel(slot), slot,
        [this, slot](Status ended) __attribute__((always_inline)) {
          if (!ended) [[unlikely]]
            note_not_submitted(ended, slot);
          return ended;
        },
        bound...);
    if constexpr (is_queued) {
      if (!status) [[unlikely]] {
        if (derived().is_submitted_anew()) return resubmit(waits, std::forward<OnDone>(on_done), bound...);
        queue_.queue.cancel(slot);
        return refused(noted(status));
      }
    } else {
      if (!status && !status.poisoned()) [[unlikely]]
        return refused(status);
      rounds_[slot].outcome = status;
      RoundObserver<typename Policies::Observe>{derived().observer(), submitted_}.enters(Phase::outside);
    }
    if constexpr (!std::is_same_v<std::remove_cvref_t<OnDone>, std::nullptr_t>) {
      complete(slot, std::forward<OnDone>(on_done), bound...);
    }
    note_writes(slot, ranges);
    derived().note_submitted(slot);
    next_slot_ = next(slot);
    ++in_flight_;
    return {first_ticket_ + submitted_++, Status{}};
  }
  template <class OnDone, class... Bound>
  [[gnu::always_inline]] void complete(std::uint32_t slot, OnDone&& on_done, Bound&...) noexcept {
    rounds_[slot].on_done.set(std::forward<OnDone>(on_done));
  }
  template <class OnDone>
  void complete(std::uint32_t slot, OnDone&& on_done, DynamicBindings<Derived>& bindings) noexcept {
    if (!is_queued || bindings.is_settled()) [[likely]]
      return rounds_[slot].on_done.set(std::forward<OnDone>(on_done));
    rounds_[slot].on_done.clear();
    rounds_[slot].on_done.template set<detail::OnDone::capacity_around>(
        [list = bindings.strided(), then = std::forward<OnDone>(on_done)](Status status) mutable noexcept {
          if (status.ok()) list->scatter();
          (void)then(status);
        });
  }
  /// Makes the delivery of the round in a slot scatter host memory with strides.
  void scatter_when_delivered(std::size_t slot, std::shared_ptr<StridedList> list) noexcept {
    rounds_[slot].on_done.set([list = std::move(list)](Status status) noexcept {
      if (status.ok()) list->scatter();
    });
  }
  template <class OnDone, class... Bound>
  [[gnu::cold, gnu::noinline]] RoundTicket resubmit(bool waits, OnDone&& on_done, Bound&... bound) noexcept {
    return submit(waits, std::forward<OnDone>(on_done), bound...);
  }
  /// Handles a round that began and failed before it was submitted.
  [[gnu::cold, gnu::noinline]] void note_not_submitted(Status status, std::uint32_t slot) noexcept {
    if (!is_queued && status.poisoned()) return;  // it counts, and will be delivered
    derived().observer().round_ends(RoundIndex{submitted_}, status);
    is_queued ? derived().note_refused() : derived().fail(status, slot);
  }
  [[gnu::cold, gnu::noinline]] RoundTicket refused(Status status) noexcept {
    while (in_flight_ == 0 && waiting_.has_ready()) waiting_.start_first();  // no delivery will start them
    return {0, status};
  }

  /// Lowers the maximum number of rounds in flight to `most`; never raises it.
  void limit_to(std::uint32_t most) noexcept {
    auto& shared = derived().shared_;
    shared.most_in_flight = shared.limit_in_flight = std::min(shared.most_in_flight, most);
  }
  void overlap_rounds() {
    if constexpr (is_queued && HasOverlappingRounds<P>) queue_.queue.overlap_rounds();
  }
  [[nodiscard]] bool is_free() const noexcept { return in_flight() < derived().shared_.limit_in_flight; }
  [[nodiscard]] static std::uint32_t next(std::uint32_t slot) noexcept { return slot + 1 == depth ? 0 : slot + 1; }

  template <class Ranges>
  [[gnu::always_inline]] void note_writes(std::uint32_t slot, const Ranges& ranges) noexcept {
    HostRange hull;
    for (std::size_t i = 0; i < ranges.out_count; ++i) {
      hull.include(ranges.out[i]);
      if (ranges.out_count > 1) writes_[slot * max_outputs_ + i] = ranges.out[i];
    }
    rounds_[slot].hull = hull;
    rounds_[slot].writes = ranges.out_count;
  }
  /// Whether this round reads host memory that a round in flight will write.
  template <class Ranges>
  [[nodiscard, gnu::always_inline]] bool reads_output(const Ranges& ranges) const noexcept {
    if (ranges.in_count == 0) return false;
    std::uint32_t slot = oldest_;
    for (std::uint64_t round = delivered(); round != submitted_; ++round, slot = next(slot)) {
      for (std::size_t i = 0; i < ranges.in_count; ++i) {
        if (ranges.in[i].overlaps(rounds_[slot].hull) && writes(slot, ranges.in[i])) [[unlikely]]
          return true;
      }
    }
    return false;
  }
  /// Whether the round in a slot writes to `range`, given that the hull of its outputs overlaps it.
  [[nodiscard, gnu::cold]] bool writes(std::uint32_t slot, const HostRange& range) const noexcept {
    const HostRange* const first = &writes_[slot * max_outputs_];
    const auto overlaps = [&range](const HostRange& written) { return range.overlaps(written); };
    return rounds_[slot].writes == 1 || std::any_of(first, first + rounds_[slot].writes, overlaps);
  }
  /// Waits until the round can be submitted; a completion may take a slot that became free.
  template <class Ranges, class RecomputeRanges>
  [[gnu::noinline]] Status make_room(bool waits, const Ranges& ranges, RecomputeRanges recompute_ranges) noexcept {
    if (!waits) {
      (void)poll();
      recompute_ranges();
    }
    for (;;) {
      if (!derived().may_submit()) return derived().refusal();
      if (is_free() && !reads_output(ranges)) return {};
      if (!waits) return Status{Errc::busy};
      ++first_comers_;
      deliver_oldest();
      --first_comers_;
      recompute_ranges();
    }
  }
  /// Delivers all rounds in flight. `is_first`: those that coroutines await are not submitted meanwhile.
  void deliver_all(bool is_first) noexcept {
    first_comers_ += is_first;
    while (in_flight_ != 0) deliver_oldest();
    first_comers_ -= is_first;
  }

  // --- delivering

  [[nodiscard]] bool is_done([[maybe_unused]] std::uint32_t slot) noexcept {
    if constexpr (is_queued) return queue_.queue.is_done(slot);
    return true;
  }
  /// Waits for the oldest round in flight, and delivers it.
  void deliver_oldest() noexcept {
    auto& observer = derived().observer();
    const std::uint32_t slot = oldest_;
    const std::uint64_t round = delivered();
    const RoundObserver<std::remove_reference_t<decltype(observer)>> of_round{observer, round};
    of_round.delivers();
    Status status = rounds_[slot].outcome;
    if constexpr (is_queued) {
      queue_.queue.await(slot);
      of_round.enters(Phase::copy_out);
      status = queue_.queue.deliver(slot);
    }
    if (--in_flight_ == 0) derived().shared_.limit_in_flight = derived().shared_.most_in_flight;
    oldest_ = next(slot);
    if (!status) [[unlikely]]
      note_failure(round, slot, status = status.poisoning());  // later rounds may have used its results
    notify_round_end<Policies>(observer, RoundIndex{round}, status, derived().platform());
    rounds_[slot].on_done.call(status);
    if (waiting_.has_ready()) start_waiting();
  }
  /// Starts rounds that coroutines await, until one has delivered others: the next delivery then starts the rest.
  [[gnu::noinline]] void start_waiting() noexcept {
    const std::uint64_t before = delivered();
    while (waiting_.has_ready() && (delivered() == before || in_flight_ == 0)) waiting_.start_first();
  }
  [[gnu::cold]] void note_failure(std::uint64_t round, std::uint32_t slot, Status status) noexcept {
    if (round >= failed_at_) return;  // a failure to submit a later round may have been seen first
    failed_at_ = round;
    first_failure_ = status;
    derived().fail(status, slot);
  }
  /// Handles the failure of a step outside of any round in flight.
  Status noted(Status status) noexcept {
    if (status.poisoned()) note_failure(submitted_, depth, status);
    return status;
  }
  [[nodiscard]] Status outcome(std::uint64_t round) const noexcept {
    if (round < failed_at_) return {};
    return round == failed_at_ ? first_failure_ : Status{Errc::poisoned}.poisoning();
  }

  // --- rounds that coroutines wait for

  template <BoundPair... B>
  [[nodiscard]] bool can_submit(const B&... pairs) const noexcept {
    return !derived().may_submit() || (first_comers_ == 0 && is_free() && !reads_output(ranges_of(pairs...)));
  }
  /// Adds the round to the waiting rounds, unless it can be submitted now.
  [[nodiscard]] bool must_wait(WaitingRound& round) noexcept { return waiting_.add(round); }
  void withdraw(WaitingRound& round) noexcept { waiting_.remove(round); }
  /// Discards the completion of a round in flight.
  void forget(std::uint64_t ticket) noexcept {
    rounds_[(oldest_ + (ticket - first_ticket_ - delivered())) % depth].on_done.clear();
  }

 private:
  struct Flight {
    OnDone on_done;
    HostRange hull;          ///< of the host memory that the round will write
    std::size_t writes = 0;  ///< the number of ranges that it will write
    Status outcome;          ///< of a round without a queue
  };

  std::size_t max_outputs_;
  [[no_unique_address]] platform::QueueHolder<P, is_queued> queue_;
  Flight rounds_[depth];
  std::vector<HostRange> writes_;  ///< by slot: the ranges that its round will write
  std::uint32_t next_slot_ = 0;    ///< the slot of the next round
  std::uint32_t oldest_ = 0;       ///< the slot of the oldest round in flight
  std::uint64_t submitted_ = 0;
  std::uint32_t in_flight_ = 0;
  std::uint64_t failed_at_ = ~std::uint64_t{0};  ///< the first round that failed
  Status first_failure_;
  std::uint64_t first_ticket_ = next_session_number() * 0x9E37'79B9'7F4A'7C15U;  ///< far from those of other sessions
  WaitingRounds waiting_;
  std::uint32_t first_comers_ = 0;  ///< the number of rounds that wait, and are to be submitted before these
};

}  // namespace rondo::detail
