// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/binding/strided.hpp>
#include <rondo/error.hpp>
#include <rondo/types.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace rondo {

/// The three states of a round, in order.
enum class Stage : std::uint8_t { bound, launched, finished };

namespace detail {

template <class Derived, Platform P, class Policies, class Graph, std::size_t Slots>
class Session;

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
  /// Starts the tasks; does not wait.
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
        if (bindings_.strided != nullptr && *bindings_.strided != nullptr) [[unlikely]]
          link_.status = session->scatter(*std::exchange(*bindings_.strided, nullptr), link_.status);
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
  template <class, Platform, class, class, std::size_t>
  friend class detail::Session;

  Round(Session* session, RoundIndex index, Status status, const Bindings& bindings) noexcept
      : link_{session, status}, index_{index}, bindings_{bindings} {}
  template <Stage Before>
  Round(Round<Session, Bindings, Before>&& before) noexcept  // NOLINT(google-explicit-constructor)
      : link_{std::move(before.link_)}, index_{before.index_}, bindings_{before.bindings_} {}

  detail::RoundLink<Session> link_;  ///< empty once finished, or if the round never began
  RoundIndex index_;
  Bindings bindings_;  ///< in the order of the ports
};

}  // namespace rondo
