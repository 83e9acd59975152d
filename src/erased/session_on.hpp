// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fail.hpp"
#include "session.hpp"
#include "watch.hpp"

#include <rondo/binding/dynamic_bindings.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/shaped_session.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

/// Sessions of one platform as AnySession; each platform has a source file of its own that includes this one.
namespace rondo::erased {

template <class S>
inline constexpr bool has_steps = requires(S& session, DynamicBindings<S>& bindings) { session.begin_round(bindings); };
template <class S>
inline constexpr bool has_flights = requires(S& session) { session.wait_all(); };

/// A round that is run step by step; sessions of symbolic graphs have none.
template <class S, bool = has_steps<S>>
class Steps {
 protected:
  static Status begin(S&, DynamicBindings<S>&) noexcept { return has_no_steps; }
  static Status launch_round() noexcept { return has_no_round; }
  static Status finish_round() noexcept { return has_no_round; }
};
template <class S>
class Steps<S, true> {
  using BoundRound = decltype(std::declval<S&>().begin_round(std::declval<DynamicBindings<S>&>()));
  using LaunchedRound = decltype(std::declval<BoundRound>().launch());

 protected:
  Status begin(S& session, DynamicBindings<S>& bindings) noexcept {
    BoundRound round = session.begin_round(bindings);
    const Status status = round.failure();
    if (status.ok()) round_.template emplace<BoundRound>(std::move(round));
    return status;
  }
  Status launch_round() noexcept {
    BoundRound* const bound = std::get_if<BoundRound>(&round_);
    if (bound == nullptr) return std::holds_alternative<std::monostate>(round_) ? has_no_round : is_launched;
    LaunchedRound launched = std::move(*bound).launch();
    const Status status = launched.failure();
    round_.template emplace<LaunchedRound>(std::move(launched));
    return status;
  }
  Status finish_round() noexcept {
    Status status = std::holds_alternative<std::monostate>(round_) ? has_no_round : Status{Errc::abandoned};
    if (LaunchedRound* const launched = std::get_if<LaunchedRound>(&round_); launched != nullptr) {
      status = std::move(*launched).finish().status();
    }
    round_.template emplace<std::monostate>();  // a round that was not launched is dropped
    return status;
  }

 private:
  std::variant<std::monostate, BoundRound, LaunchedRound> round_;
};

template <class S>
class BindingsOf final : public AnyBindings, private Steps<S> {
 public:
  BindingsOf(S& session, std::uint64_t& last_ticket)
      : session_{session}, last_ticket_{last_ticket}, bindings_(session) {}
  [[nodiscard]] BindingList& list() noexcept override { return bindings_; }
  Status run_round() noexcept override { return session_.run_round(bindings_); }
  RoundTicket submit([[maybe_unused]] bool waits) noexcept override {
    if constexpr (has_flights<S>) {
      const RoundTicket ticket = waits ? session_.submit_round(bindings_) : session_.try_submit_round(bindings_);
      if (ticket) last_ticket_ = ticket.number();
      return ticket;
    } else {
      const Status status = session_.run_round(bindings_);
      return status.ok() ? RoundTicket{++last_ticket_, status} : RoundTicket{0, status};
    }
  }
  Status begin_round() noexcept override { return this->begin(session_, bindings_); }
  Status launch() noexcept override { return this->launch_round(); }
  Status finish() noexcept override { return this->finish_round(); }

 private:
  S& session_;
  std::uint64_t& last_ticket_;  ///< of the session
  DynamicBindings<S> bindings_;
};

/// The most rounds in flight of a session. Sessions with more than 1 take the memory of this many slots.
inline constexpr std::uint32_t max_in_flight = 4;

/// A session that may have fewer rounds in flight than it has slots.
template <class S>
struct Limited : S {
  template <class G>
  Limited(G&& source, const typename S::Options& options, [[maybe_unused]] std::uint32_t in_flight)
      : S(std::forward<G>(source), options) {
    if constexpr (has_flights<S>) this->limit_to(in_flight);
  }
};

/// AnySession over a session of type `S`.
template <class S>
class SessionOf final : public AnySession {
  using P = typename S::Platform;

 public:
  template <class G>
  SessionOf(G&& source, const typename S::Options& options, std::uint32_t in_flight, bool trace = false)
      : session_(std::forward<G>(source), options, in_flight), is_traced_{trace && is_watched<S>} {
    if constexpr (is_watched<S>) record_session(session_, is_traced_);
  }

  [[nodiscard]] std::unique_ptr<AnyBindings> make_bindings() override {
    return std::make_unique<BindingsOf<S>>(session_, last_ticket_);
  }
  [[nodiscard]] graph::GraphView interface() const noexcept override { return session_.interface(); }
  [[nodiscard]] Error::Text explain(Status status) const noexcept override {
    if (status == has_no_steps) {
      return Error::Text(
          "a session of a graph with symbols has no rounds step by step, no held inputs and no scalars to set; run "
          "whole rounds, or open the graph without symbols");
    }
    if (status == has_no_round) return Error::Text("no round was begun with these bindings; begin one first");
    if (status == is_launched) return Error::Text("this round was launched already; finish it");
    return session_.explain(status);
  }
  // The element type does not matter here: both sides are compared in bytes.
  Status upload(TensorKey tensor, const void* host, Bytes size) noexcept override {
    return session_.upload(Resident<std::uint8_t>{tensor},
                           std::span(static_cast<const std::uint8_t*>(host), static_cast<std::size_t>(size.value)));
  }
  Status download(TensorKey tensor, void* host, Bytes size) noexcept override {
    return session_.download(Resident<std::uint8_t>{tensor},
                             std::span(static_cast<std::uint8_t*>(host), static_cast<std::size_t>(size.value)));
  }
  [[nodiscard]] DeviceArray<std::uint8_t> allocate(TensorKey tensor, const Shape* shape) override {
    const Input<std::uint8_t> handle{tensor};
    return shape == nullptr ? session_.allocate(handle) : session_.allocate(handle, *shape);
  }
  Status upload(DeviceArray<std::uint8_t>& array, const void* host, Bytes size) noexcept override {
    return session_.upload(array,
                           std::span(static_cast<const std::uint8_t*>(host), static_cast<std::size_t>(size.value)));
  }
  Status download(const DeviceArray<std::uint8_t>& array, void* host, Bytes size) noexcept override {
    return session_.download(array, std::span(static_cast<std::uint8_t*>(host), static_cast<std::size_t>(size.value)));
  }
  Status set_scalar([[maybe_unused]] TaskId task, [[maybe_unused]] std::size_t n,
                    [[maybe_unused]] ArgWord word) noexcept override {
    if constexpr (has_steps<S>) return session_.set_scalar(task, n, word);
    return has_no_steps;
  }
  Status set_held([[maybe_unused]] TensorKey tensor, [[maybe_unused]] bool is_held) noexcept override {
    if constexpr (has_steps<S>) {
      const Input<std::uint8_t> input{tensor};
      return is_held ? session_.hold(input) : session_.release_hold(input);
    }
    return has_no_steps;
  }
  Status wait(RoundTicket ticket) noexcept override {
    if constexpr (has_flights<S>) return session_.wait(ticket);
    return ticket ? Status{ticket.number() <= last_ticket_ ? Errc::ok : Errc::invalid_argument} : ticket.submitted();
  }
  Status wait_all() noexcept override {
    if constexpr (has_flights<S>) return session_.wait_all();
    return {};
  }
  std::size_t poll() noexcept override {
    if constexpr (has_flights<S>) return session_.poll();
    return 0;
  }
  [[nodiscard]] bool is_delivered(std::uint64_t ticket) const noexcept override {
    return last_ticket_ - ticket >= in_flight();  // those in flight are the last that were submitted
  }
  bool request_stop() noexcept override {
    if constexpr (HasStopping<P>) session_.request_stop();
    return HasStopping<P>;
  }
  [[nodiscard]] std::uint64_t rounds() const noexcept override { return session_.rounds(); }
  [[nodiscard]] std::size_t in_flight() const noexcept override {
    if constexpr (has_flights<S>) return session_.in_flight();
    return 0;
  }
  [[nodiscard]] std::size_t shapes() const noexcept override {
    if constexpr (requires { session_.entries(); }) return session_.entries();
    return 1;
  }
  [[nodiscard]] bool poisoned() const noexcept override { return session_.poisoned(); }
  [[nodiscard]] Bytes arena_bytes() const noexcept override { return session_.arena_bytes(); }
  [[nodiscard]] double last_round_ns() const noexcept override {
    if constexpr (HasRoundTime<P>) return session_.last_round_ns();
    return -1;
  }
  [[nodiscard]] std::vector<LoopReport> loops() const override { return session_.explain_loops(); }
  [[nodiscard]] std::vector<Finding> findings() override {
    std::vector<Finding> all;
    if constexpr (requires { session_.platform().engine().findings(); }) {
      for (const auto& finding : session_.platform().engine().findings()) {
        constexpr const char* kinds[] = {"wrote_input",    "wrote_outside",    "left_unwritten",
                                         "not_repeatable", "depends_on_order", "race"};
        all.push_back(
            {kinds[static_cast<std::size_t>(finding.kind)], finding.text.c_str(), finding.task, finding.tensor});
      }
    }
    return all;
  }
  [[nodiscard]] std::optional<Prediction> prediction() override {
    if constexpr (requires { session_.platform().engine().prediction(); }) {
      const auto p = session_.platform().engine().prediction();
      return Prediction{p.copy_in_ns,  p.launch_ns,        p.run_ns,     p.complete_ns,
                        p.copy_out_ns, p.critical_path_ns, p.bound_by(), p.report().c_str()};
    }
    return {};
  }
  [[nodiscard]] std::optional<Counters> counters() noexcept override {
    if constexpr (is_watched<S>) {
      if (is_traced_) return counters_of(session_);
    }
    return {};
  }
  bool write_trace([[maybe_unused]] std::ostream& out) override {
    if constexpr (is_watched<S>) {
      if (is_traced_) write_session_trace(out, session_);
    }
    return is_traced_;
  }
  Status close() noexcept override { return session_.close(); }

 private:
  Limited<S> session_;
  std::uint64_t last_ticket_ = 0;
  bool is_traced_;
};

/// Refuses kernels without a function, which run on devices only.
inline void require_functions(const TaskGraph& graph, const char* platform) {
  for (const graph::TaskRecord& task : graph.tasks()) {
    if (task.entry != nullptr) continue;
    fail(Errc::invalid_argument, "kernel '", graph.name(task.name), "' has no function, and ", platform,
         " runs kernels as functions; give it one, or choose a platform of a device");
  }
}

/// Sets the options of a platform whose kernels are functions in this process.
template <class Own>
void set_options(Own& own, const Options& options) {
  if (options.device_memory != 0) own.device_memory = Bytes{options.device_memory};
  if constexpr (requires { own.engine.threads = options.threads; }) own.engine.threads = options.threads;
  if constexpr (requires { own.engine.inner.threads = options.threads; }) own.engine.inner.threads = options.threads;
  if constexpr (requires { own.engine.spans_per_thread; }) {
    own.engine.record = options.trace;
    if (!options.trace) own.engine.spans_per_thread = 1;
  }
}

/// Opens the kind of session that graph and options ask for, with the platform's own options `own`.
template <Platform P, class Policies = DefaultPolicies>
[[nodiscard]] std::unique_ptr<AnySession> open_session(const Graph& graph, const Options& options,
                                                       const typename P::Options& own) {
  if (options.in_flight < 1 || options.in_flight > max_in_flight) {
    fail(Errc::invalid_argument, "in_flight is ", options.in_flight, "; choose 1 to ", max_in_flight,
         " rounds in flight");
  }
  const auto open = [&]<class S>(std::type_identity<S>, auto&& source) -> std::unique_ptr<AnySession> {
    return std::make_unique<SessionOf<S>>(std::forward<decltype(source)>(source), own, options.in_flight,
                                          options.trace);
  };
  const TaskGraph& tasks = graph.tasks;
  using Shaped = ShapedSession<P, Policies>;
  using ShapedInFlight = ShapedSession<P, Policies, launch::Lru<64>, max_in_flight>;
  if (tasks.is_symbolic()) {
    return options.in_flight == 1 ? open(std::type_identity<Shaped>{}, tasks)
                                  : open(std::type_identity<ShapedInFlight>{}, tasks);
  }
  return options.in_flight == 1
             ? open(std::type_identity<RoundSession<P, Policies>>{}, freeze(tasks))
             : open(std::type_identity<PipelinedSession<P, max_in_flight, Policies>>{}, freeze(tasks));
}

}  // namespace rondo::erased
