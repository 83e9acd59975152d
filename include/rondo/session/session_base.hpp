// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/bindings.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/channel.hpp>
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/session/log.hpp>
#include <rondo/session/observer.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/tensor/pair.hpp>
#include <rondo/types.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace rondo::detail {

/// What every kind of session has: an open platform with its observer and values, residents, and a state.
///
/// `Derived` has `move_resident(key, host, size, to_device)`; `rounds()`, the rounds that succeeded; `round_number()`,
/// the number of the next round; `explain(Status)`; and the steps of close(): `finish_all()` waits for the rounds in
/// flight, `drop_open_round()` ends a round taken step by step, `wait_for_device()`, `close_queue()`,
/// `close_instances(keep)`, `release_arena()`, and `note_closed()`.
template <class Derived, rondo::Platform P, class Policies>
class SessionBase {
  static_assert(check_platform<P>());
  static_assert(check_policies<Policies>());
  static_assert(std::is_same_v<P, CheckedPlatform<P, Policies>>, "rondo: open() sees to Policies::Check; call it");

 public:
  /// What it runs on.
  using Platform = P;
  /// How it is opened: the platform's options, with the runtime's where that has some.
  using Options = typename Policies::Runtime::template Options<P>;
  /// The highest level of refresh that its update strategy asks for.
  static constexpr UpdateLevel highest_update = Policies::Update::highest;

  SessionBase(const SessionBase&) = delete;
  SessionBase& operator=(const SessionBase&) = delete;

  /// Copies host memory into a resident tensor, and waits, first for the rounds in flight. `host`: as in bind().
  /// Errors: wrong_tensor, wrong_size, null_memory; busy, closed, poisoned.
  template <Element T, class Host>
  Status upload(Resident<T> tensor, const Host& host) noexcept {
    const auto pair = bind(Input<T>{tensor.key}, host);
    const Bytes size{bytes_or_most(pair.size(), sizeof(T))};
    return derived().move_resident(tensor.key, const_cast<T*>(pair.data()), size, true);
  }
  /// As upload(), from the device to the host.
  template <Element T, class Host>
  Status download(Resident<T> tensor, Host&& host) noexcept {
    const auto pair = bind(Output<T>{tensor.key}, std::forward<Host>(host));
    const Bytes size{bytes_or_most(pair.size(), sizeof(T))};
    return derived().move_resident(tensor.key, pair.data(), size, false);
  }

  /// Ends the round under way, or else the next, with `stopped`, and so poisons the session. The only call that any
  /// thread may make, also while another runs a round.
  void request_stop() noexcept requires HasStopping<P> { platform_.request_stop(); }

  /// Waits for the device and releases everything; later rounds return `closed`. Works on a poisoned session too: the
  /// round that failed has told what poisoned it, so only a failure to release is told here. Calling it again does
  /// nothing.
  Status close() noexcept {
    if (state_ == State::closed) return {};
    derived().finish_all();
    log_closing<Policies>(platform_, derived().rounds());
    derived().drop_open_round();
    Status status = derived().wait_for_device();
    const auto keep = [&status](Status next) {
      if (status.ok()) status = next;
    };
    const Status queue_closed = derived().close_queue();  // nothing of its rounds runs when programs are unloaded
    derived().close_instances(keep);
    if (state_ == State::poisoned) status = {};  // the round that failed has told
    keep(queue_closed);
    keep(derived().release_arena());
    if constexpr (HasClose<P>) keep(platform_.close());
    state_ = State::closed;
    derived().note_closed();
    return status;
  }

  // --- state

  /// Whether a round failed in a way that leaves nothing to rely on; then only close() works.
  [[nodiscard]] bool poisoned() const noexcept { return state_ == State::poisoned; }
  /// The platform, for what only the platform can tell.
  [[nodiscard]] P& platform() noexcept { return platform_; }
  /// The observer that Policies::Observe names, default-constructed.
  [[nodiscard]] typename Policies::Observe& observer() noexcept { return observe_; }
  /// Where the host sets scalars; see launch/round_values.hpp.
  [[nodiscard]] auto& values() noexcept requires(Policies::Values::any) { return values_; }
  /// How long the tasks of the last round ran, by the device's clock or its prediction, in nanoseconds; 0 before the
  /// first. See DeviceTime.
  [[nodiscard]] double last_round_ns() const noexcept requires HasRoundTime<P> { return platform_.last_round_ns(); }

 protected:
  enum class State : std::uint8_t { open, in_round, poisoned, closed };

  SessionBase(const Options& options, const graph::GraphView& view) : platform_{options}, values_{view} {}
  ~SessionBase() = default;

  /// What a destructor does; out of line, since programs have one at the end of each scope.
  [[gnu::noinline]] void close_and_report() noexcept {
    if (const Status status = close(); !status && status.code() != Errc::poisoned) {
      Policies::report_unclosed(status, derived().explain(status).c_str());
    }
  }
  [[nodiscard]] Derived& derived() noexcept { return static_cast<Derived&>(*this); }
  [[nodiscard]] RoundObserver<typename Policies::Observe> round_observer() noexcept {
    return {observe_, derived().round_number()};
  }
  [[nodiscard]] platform::Direct<P> direct() noexcept { return {platform_}; }
  [[nodiscard]] bool may_submit() const noexcept { return state_ == State::open; }

  [[no_unique_address]] P platform_;
  [[no_unique_address]] typename Policies::Values::Store values_;  ///< of all slots and shapes together
  [[no_unique_address]] typename Policies::Observe observe_;
  State state_ = State::open;
};

}  // namespace rondo::detail
