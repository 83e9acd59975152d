// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/binding/strided.hpp>
#include <rondo/error.hpp>
#include <rondo/session/executor.hpp>
#include <rondo/session/observer.hpp>
#include <rondo/tensor/pair.hpp>
#include <rondo/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace rondo {

/// The three states of a round, in order.
enum class Stage : std::uint8_t { bound, launched, finished };

namespace detail {

template <class Base, class Session>
class SteppedRounds;

/// The bindings of a round that are known only at run time, in the order of the ports.
struct ListOfRound {
  std::span<Binding> list;
  std::shared_ptr<StridedList>* strided = nullptr;  ///< the session's, if any memory has strides

  operator std::span<Binding>() const noexcept { return list; }        // NOLINT(google-explicit-constructor)
  operator std::span<const Binding>() const noexcept { return list; }  // NOLINT(google-explicit-constructor)
};

/// Links a round in progress to its session; either may be moved or destroyed first.
template <class Session>
class RoundLink {
 public:
  RoundLink(Session* session, Status so_far) noexcept : status{so_far}, session_{session} { attach(); }
  RoundLink(RoundLink&& other) noexcept : status{other.status}, session_{std::exchange(other.session_, nullptr)} {
    attach();
  }
  RoundLink& operator=(RoundLink&&) = delete;
  /// Waits for a round that is dropped half-way; its outputs are not copied.
  ~RoundLink() {
    if (session_ != nullptr) session_->abandon_round(status);
  }

  [[nodiscard]] Session* session() const noexcept { return session_; }
  /// Unlinks the two; called by the one that is destroyed first.
  void detach() noexcept { session_ = nullptr; }

  Status status;  ///< of the steps taken so far

 private:
  void attach() noexcept {
    if (session_ != nullptr) session_->open_round_ = this;
  }
  Session* session_;
};

}  // namespace detail

/// One pass over a session's graph, taken step by step: bound, launched, finished. Each step consumes the round and
/// returns it in its next state, so launching an unbound round or asking an unfinished one for its result does not
/// compile. After a step fails, the later steps do nothing, and the finished round returns the failure.
///
///     auto round = session.begin_round(bind(x, hx), bind(y, hy));   // checked, inputs on their way
///     auto running = std::move(round).launch();                     // … the host is free here …
///     Status status = std::move(running).finish().status();         // outputs are in host memory
///
/// Lifetime: the bound host memory, and any DynamicBindings, must outlive the round. If the session is destroyed first,
/// the round finishes with `closed`. Thread safety: that of the session. Errors: by status. Cost: that of run_round
/// plus some 20 instructions.
template <class Session, class Bindings, Stage S>
class [[nodiscard]] Round {
 public:
  /// Starts the tasks; does not wait. On simulated chips and the host, the tasks may run during this call.
  [[nodiscard]] Round<Session, Bindings, Stage::launched> launch() && noexcept
    requires(S == Stage::bound)
  {
    if (link_.status.ok())
      link_.status = link_.session() == nullptr ? Status{Errc::closed} : link_.session()->launch_open_round();
    return {std::move(*this)};
  }

  /// Copies the outputs to the host and waits for completion.
  [[nodiscard]] Round<Session, Bindings, Stage::finished> finish() && noexcept
    requires(S == Stage::launched)
  {
    if (Session* session = link_.session(); session != nullptr) {
      link_.detach();
      link_.status = session->finish_open_round(link_.status, bindings_);
      if constexpr (requires { bindings_.strided; }) {
        if (bindings_.strided != nullptr && *bindings_.strided != nullptr) [[unlikely]] {
          const auto strided = std::exchange(*bindings_.strided, nullptr);
          if (link_.status.ok()) strided->scatter();
        }
      }
    } else if (link_.status.ok()) {
      link_.status = Status{Errc::closed};
    }
    return {std::move(*this)};
  }

  /// The first failure of the steps taken so far; ok if there is none. For the outcome of the round, use status().
  [[nodiscard]] Status failure() const noexcept { return link_.status; }
  /// The outcome of the round: the first failure of its steps.
  [[nodiscard]] Status status() const noexcept
    requires(S == Stage::finished)
  {
    return link_.status;
  }
  explicit operator bool() const noexcept
    requires(S == Stage::finished)
  {
    return link_.status.ok();
  }
  /// The number of the round within the session.
  [[nodiscard]] RoundIndex index() const noexcept { return index_; }

 private:
  template <class, class, Stage>
  friend class Round;
  template <class, class>
  friend class detail::SteppedRounds;

  Round(Session* session, RoundIndex index, Status status, const Bindings& bindings) noexcept
      : link_{session, status}, index_{index}, bindings_{bindings} {}
  template <Stage Before>
  Round(Round<Session, Bindings, Before>&& before) noexcept  // NOLINT(google-explicit-constructor)
      : link_{std::move(before.link_)}, index_{before.index_}, bindings_{before.bindings_} {}

  detail::RoundLink<Session> link_;  ///< empty once finished, or if the round never began
  RoundIndex index_;
  Bindings bindings_;  ///< in the order of the ports
};

namespace detail {

/// Rounds that are taken step by step. `Base` is the detail::Session of `Session`, which inherits from this.
template <class Base, class Session>
class SteppedRounds : public Base {
 public:
  using Base::Base;

  /// Begins a round that is taken step by step; see Round. Waits for the rounds in flight. When it returns, inputs have
  /// been copied, or their copies are in progress. If the round is refused, its failure() is the reason.
  template <BoundPair... B>
  [[nodiscard]] auto begin_round(const B&... pairs) noexcept {
    return begin_pairs(false, pairs...);
  }
  /// The same for bindings known only at run time.
  [[nodiscard]] Round<Session, ListOfRound, Stage::bound> begin_round(DynamicBindings<Session>& bindings) noexcept {
    Status status = this->wait_until_idle();  // a completion may change the bindings
    this->enter(Phase::bind);
    ListOfRound list;
    if (status.ok()) status = this->take(bindings);
    if (status.ok()) list.list = bindings.list();  // an earlier round that is not finished uses it until then
    if (status.ok() && !bindings.is_settled()) status = settle_strided(bindings, list);
    return begin(status, list, false);
  }
  /// The same for a session with asynchronous rounds: inputs may still be in use by copies when it returns, so the
  /// pairs must have memory that allows it (see AsyncPair, platform/pinned.hpp). Errors: also mixed_modes, which all
  /// other ways to run a round return from then on.
  template <BoundPair... B>
  [[nodiscard]] auto begin_async_round(const B&... pairs) noexcept {
    static_assert((AsyncPair<B> && ...),
                  "rondo: an asynchronous copy would still use this memory when the call returns; bind pinned memory, "
                  "snapshot(...), or device memory");
    return begin_pairs(true, pairs...);
  }

 protected:
  /// Ends the round when the session is closed.
  void drop_open_round() noexcept {
    if (open_round_ == nullptr) return;
    this->observe_.round_ends(index(), Status{Errc::closed});
    open_round_->detach();
    open_round_ = nullptr;
  }

 private:
  friend class RoundLink<Session>;
  template <class, class, Stage>
  friend class rondo::Round;

  [[nodiscard]] auto& instance() noexcept { return this->instances_[this->derived().next_slot()]; }
  [[nodiscard]] auto executor() noexcept { return instance().on(this->direct(), this->round_observer()); }
  [[nodiscard]] RoundIndex index() noexcept { return RoundIndex{this->derived().round_number()}; }

  template <BoundPair... B>
  [[nodiscard]] auto begin_pairs(bool is_async, const B&... pairs) noexcept {
    Base::template check_pairs<B...>();
    this->enter(Phase::bind);
    std::array<Binding, sizeof...(B)> bindings{Binding{pairs}...};
    return begin(Status{}, bindings, is_async);
  }
  template <class Bindings>
  [[nodiscard]] Round<Session, Bindings, Stage::bound> begin(Status status, Bindings& bindings,
                                                             bool is_async) noexcept {
    if (status.ok()) status = prepare(bindings, is_async);
    if (!status) return {nullptr, index(), status, bindings};
    this->block(Base::State::in_round, Status{Errc::busy});
    if (this->blocks_ != nullptr) (void)this->blocks_->set_in_round(true);
    status = executor().copy_in(instance().work_of(bindings));
    this->enter(Phase::outside);
    return {&this->derived(), index(), status, bindings};
  }
  Status prepare(std::span<Binding> bindings, bool is_async) noexcept {
    if (const Status status = this->wait_until_idle(); !status) return status;
    if (is_async && !instance().is_async() && this->derived().rounds() != 0) return Status{Errc::mixed_modes};
    return instance().prepare(bindings, is_async);
  }
  /// Packs memory with strides, which finish() scatters.
  [[gnu::cold]] Status settle_strided(BindingList& bindings, ListOfRound& list) noexcept {
    strided_ = bindings.strided();
    list.strided = &strided_;
    return this->pack(bindings, instance().held());
  }

  // --- the further steps, for Round

  Status launch_open_round() noexcept {
    const Status status = executor().template launch<Refreshes::if_due>();
    this->enter(Phase::outside);
    return status;
  }
  Status finish_open_round(Status status, std::span<const Binding> bindings) noexcept {
    if (status.ok()) status = executor().copy_out(instance().work_of(bindings));
    return release_arrays(this->derived().settle(leave_round(status)));
  }
  /// `so_far`: the status of the steps that the round has taken.
  void abandon_round(Status so_far) noexcept {
    this->rounds_when_lost_ = this->derived().rounds();
    so_far = leave_round(so_far);
    this->observe_.round_ends(index(), so_far.ok() ? Status{Errc::abandoned} : so_far);
    if (!so_far) (void)this->note_failure(so_far);
    (void)release_arrays(so_far);
  }
  /// Waits for the device.
  Status leave_round(Status status) noexcept {
    open_round_ = nullptr;
    status = first_failure(status, executor().finish());
    this->unblock();
    return status;
  }
  /// Frees the arrays that were released during the round, which has been counted: it counts even if one cannot be
  /// freed.
  Status release_arrays(Status status) noexcept {
    return this->blocks_ == nullptr ? status : first_failure(status, this->blocks_->set_in_round(false));
  }

  RoundLink<Session>* open_round_ = nullptr;
  std::shared_ptr<StridedList> strided_;  ///< of the open round
};

}  // namespace detail
}  // namespace rondo
