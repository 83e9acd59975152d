// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/session/round_session.hpp>
#include <rondo/update/mechanism.hpp>

#include <cstdint>

namespace rondo {

/// What a line of a session's log is about: where something begins, ends or takes another way than it could. Rounds are
/// not logged; the one that fails and poisons its session is.
enum class LogEvent : std::uint8_t {
  opened,    ///< on which platform, with how many tasks and tensors
  planned,   ///< by which planner; bytes of the arena and of the args table
  missing,   ///< something that the platform cannot do, and what stands in for it
  fallback,  ///< another way was taken than was asked for
  poisoned,  ///< by what
  closed,    ///< after how many rounds
};

/// As the code spells it.
[[nodiscard]] constexpr const char* to_string(LogEvent event) noexcept {
  constexpr const char* names[] = {"opened", "planned", "missing", "fallback", "poisoned", "closed"};
  return names[static_cast<std::size_t>(event)];
}

namespace detail {

template <class Planner>
[[nodiscard]] constexpr const char* planner_name() noexcept {
  if constexpr (requires { Planner::name; }) {
    return Planner::name;
  } else {
    return "a planner without a name";
  }
}

}  // namespace detail

/// For a session whose policies have a sink; include this header where such a session is opened. Policies without one
/// are silent, and cost nothing:
///
///     struct MyPolicies : rondo::DefaultPolicies {
///       static void log(rondo::LogEvent event, const char* text) noexcept { std::fprintf(stderr, "%s\n", text); }
///     };
///
/// The sink is a function or a constant object to call. The text is the sink's until it returns; it ends without a line
/// break. It is called on the thread that opens, runs or closes the session.
template <Platform P, class Policies, class Graph>
void log_opened(RoundSession<P, Policies, Graph>& session) {
  const graph::GraphView view = session.graph().view();
  std::uint64_t bytes = 0;
  std::uint64_t bound = 0;
  for (const graph::TensorRecord& tensor : view.tensors) {
    bytes += tensor.bytes;
    bound += is_bound_each_round(tensor.direction) ? 1 : 0;
  }
  Policies::log(LogEvent::opened, Error::Text(P::name, ": ", view.tasks.size(), " tasks, ", view.tensors.size(),
                                              " tensors, ", bound, " of them bound each round")
                                      .c_str());
  Error::Text planned(P::name, ": ", detail::planner_name<typename Policies::Plan>(), " planned an arena of ",
                      session.arena_bytes().value, " bytes for tensors of ", bytes);
  if constexpr (requires { session.args(); })
    planned.append(Error::Text(", an args table of ", session.args().image().size()));
  if (Policies::rounds_in_flight != 1)
    planned.append(Error::Text(", ", Policies::rounds_in_flight, " rounds in flight"));
  Policies::log(LogEvent::planned, planned.c_str());
  const auto missing = [](const char* what) {
    Policies::log(LogEvent::missing, Error::Text(P::name, ": ", what).c_str());
  };
  using update::Mechanism;
  if constexpr (Policies::Refresh::allows(Mechanism::device_op) && !update::is_capable<P>(Mechanism::device_op)) {
    missing("the device does not compute its args; the host does");
  }
  if constexpr (Policies::Refresh::allows(Mechanism::in_launch) && !update::is_capable<P>(Mechanism::in_launch)) {
    missing("a launch carries no addresses; they are copied");
  }
  if constexpr (requires { session.platform().has_virtual_memory(); }) {
    if (!session.platform().has_virtual_memory()) missing("no virtual memory; blocks are allocated one by one");
  }
}

/// Tells the sink what poisoned the session.
template <Platform P, class Policies, class Graph>
void log_poisoned(RoundSession<P, Policies, Graph>& session, Status status) noexcept {
  Policies::log(LogEvent::poisoned,
                Error::Text(P::name, ", round ", session.rounds(), ": ", session.explain(status)).c_str());
}

/// Before anything is released; how that goes is close()'s to tell.
template <Platform P, class Policies, class Graph>
void log_closing(RoundSession<P, Policies, Graph>& session) noexcept {
  if constexpr (requires { session.platform().refused_captures(); }) {
    if (const auto times = session.platform().refused_captures(); times != 0) {
      Policies::log(
          LogEvent::fallback,
          Error::Text(P::name, ": the runtime refused ", times, " captures; tasks were launched one by one").c_str());
    }
  }
  if constexpr (requires { session.platform().engine().threads_used(); }) {
    if (session.rounds() != 0 && session.platform().engine().threads_used() == 1) {
      Policies::log(LogEvent::fallback, Error::Text(P::name, ": one thread ran all tasks; more did not pay").c_str());
    }
  }
  Policies::log(LogEvent::closed, Error::Text(P::name, ": closed after ", session.rounds(), " rounds").c_str());
}

}  // namespace rondo
