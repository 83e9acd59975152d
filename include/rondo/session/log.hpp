// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/binding/ports.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/update/mechanism.hpp>

#include <cstddef>
#include <cstdint>

/// Logs what a session does, if its policies have a sink; otherwise the log costs nothing:
///
///     struct MyPolicies : rondo::DefaultPolicies {
///       static void log(rondo::LogEvent event, const char* text) noexcept { std::fprintf(stderr, "%s\n", text); }
///     };
///
/// The text is valid until the sink returns; it has no line break at the end. The sink is called on the thread that
/// opens, runs or closes the session.
namespace rondo::detail {

template <class Planner>
[[nodiscard]] constexpr const char* planner_name() noexcept {
  if constexpr (requires { Planner::name; }) {
    return Planner::name;
  } else {
    return "a planner without a name";
  }
}

/// Logs the platform's remarks about itself at that moment.
template <class Policies, class P>
void log_remarks(const P& platform, Moment moment) noexcept {
  if constexpr (has_log<Policies> && HasRemarks<P>) {
    platform.remarks(moment, [&](const char* remark) noexcept {
      Policies::log(moment == Moment::opening ? LogEvent::missing : LogEvent::fallback,
                    Error::Text{P::name, ": ", remark}.c_str());
    });
  }
}

template <class P, class Policies>
void log_opened(const P& platform, const graph::GraphView& graph, Bytes arena, Bytes args, std::size_t slots,
                bool is_restored = false) noexcept {
  if constexpr (has_log<Policies>) {
    std::uint64_t bytes = 0;
    for (const graph::TensorRecord& tensor : graph.tensors) bytes += tensor.bytes;
    const std::size_t bound = count_ports(graph);
    Error::Text opened{P::name,      ": ",  graph.tasks.size(),         " tasks, ", graph.tensors.size(),
                       " tensors, ", bound, " of them bound each round"};
    if (!graph.loops.empty()) {
      const char* why_host = "";
      if constexpr (HostMayDecideLoops<P>) why_host = platform.why_host_decides_loops();
      opened.append(Error::Text{"; ", graph.loops.size(), " loops, decided by the "});
      opened.append(*why_host == '\0' ? Error::Text{"device"} : Error::Text{"host: ", why_host});
    }
    Policies::log(LogEvent::opened, opened.c_str());
    const char* const planner = is_restored ? "the file" : planner_name<typename Policies::Plan>();
    Error::Text planned{P::name, ": ", planner, is_restored ? " has" : " planned", " an arena of ", arena.value};
    planned.append({" bytes for tensors of ", bytes, ", an args table of ", args.value});
    if (slots != 1) planned.append(Error::Text{", ", slots, " rounds in flight"});
    Policies::log(LogEvent::planned, planned.c_str());
    using update::Mechanism;
    const auto missing = [](const char* what) {
      Policies::log(LogEvent::missing, Error::Text{P::name, ": ", what}.c_str());
    };
    if constexpr (Policies::Refresh::allows(Mechanism::device_op) && !HasDeviceRefresh<P>) {
      missing("the device does not compute its args; the host does");
    }
    if constexpr (Policies::Refresh::allows(Mechanism::in_launch) && !HasLaunchRefresh<P>) {
      missing("a launch carries no addresses; they are copied");
    }
  }
}

/// `cause` is a sentence about the failure that poisoned the session.
template <class Policies>
void log_poisoned(const char* platform, std::uint64_t rounds, const Error::Text& cause) noexcept {
  if constexpr (has_log<Policies>)
    Policies::log(LogEvent::poisoned, Error::Text{platform, ", round ", rounds, ": ", cause}.c_str());
}

/// Called before anything is released; close() returns the outcome.
template <class Policies, class P>
void log_closing(const P& platform, std::uint64_t rounds) noexcept {
  if constexpr (has_log<Policies>) {
    log_remarks<Policies>(platform, Moment::closing);
    Policies::log(LogEvent::closed, Error::Text{P::name, ": closed after ", rounds, " rounds"}.c_str());
  }
}

}  // namespace rondo::detail
