// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/loops.hpp>
#include <rondo/session/session_base.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// The body of the sessions' explain_loops(). Include it where you call that function.
namespace rondo {

/// A loop of a session's graph, and whether the device or the host reads its condition.
struct LoopReport {
  /// The side that reads the condition of a loop.
  enum class Decider : std::uint8_t {
    device,  ///< a round runs without the host
    host     ///< a round waits for the host at each decision
  };
  std::string name;                   ///< as in messages, such as `until done`
  TaskId decision{};                  ///< the task that repeat_until() or when() returned
  Decider decider = Decider::device;  ///< the side that decides
  const char* why = "";               ///< the reason why the host decides, as a clause; empty if the device does
};

namespace detail {

template <Platform P, class Graph>
[[nodiscard]] std::vector<LoopReport> report_loops(const P& platform, const Graph& graph) {
  std::vector<LoopReport> reports;
  for (const graph::LoopRecord& loop : graph.loops) {
    if (loop.decision == graph::LoopRecord::none) continue;  // freezing found no work in it
    const graph::TaskRecord& decision = graph.tasks[loop.decision];
    LoopReport& report =
        reports.emplace_back(LoopReport{std::string(graph.name(decision.name)), TaskId{decision.added_as}});
    if constexpr (HostMayDecideLoops<P>) {
      report.why = platform.why_host_decides_loops();
      if (*report.why != '\0') report.decider = LoopReport::Decider::host;
    }
  }
  return reports;
}

template <class Derived, rondo::Platform P, class Policies>
std::vector<LoopReport> SessionBase<Derived, P, Policies>::explain_loops() const {
  const auto& graph = static_cast<const Derived&>(*this).graph();
  if constexpr (requires { graph.view(); }) {
    return report_loops(platform_, graph.view());
  } else {  // a graph that is frozen for each shape
    graph::GraphView view = graph.interface();
    view.tasks = graph.tasks();
    view.loops = graph.loops();
    return report_loops(platform_, view);
  }
}

}  // namespace detail
}  // namespace rondo
