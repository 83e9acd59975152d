// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>
#include <rondo/memory/report.hpp>
#include <rondo/observe/concepts.hpp>
#include <rondo/observe/task_events.hpp>
#include <rondo/session/memory_report.hpp>

#include <range/v3/algorithm/max_element.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/iota.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Data that pictures of graphs show. For set-up only.
namespace rondo::observe {

/// Information that a picture shows in addition to the graph.
struct GraphNotes {
  /// The title of the picture.
  std::string title{};
  std::vector<std::uint64_t> offsets{};  ///< by tensor, in the arena; empty: not planned; not_placed: not in the arena
  /// The size of the session's arena; 0 for a graph that is not opened.
  std::uint64_t arena_bytes = 0;
  std::vector<double> task_ns{};          ///< by task, in the order of the graph; empty: unknown
  std::vector<std::uint32_t> critical{};  ///< the longest chain of tasks; positions in the graph

  /// The offset of a tensor outside the arena.
  static constexpr std::uint64_t not_placed = ~std::uint64_t{0};
};

/// The longest chain of tasks, first to last, if each takes the time in `task_ns`. O(tasks + edges).
[[nodiscard]] inline std::vector<std::uint32_t> critical_path(const graph::GraphView& graph,
                                                              std::span<const double> task_ns) {
  const auto n = static_cast<std::uint32_t>(graph.tasks.size());
  std::vector<double> to_end(n);
  std::vector<std::uint8_t> waits(n);
  const auto time_left = [&](std::uint32_t t) { return to_end[t]; };
  for (std::uint32_t t = n; t-- > 0;) {
    for (const std::uint32_t s : graph.successors_of(t)) {
      to_end[t] = std::max(to_end[t], to_end[s]);
      waits[s] = 1;
    }
    to_end[t] += task_ns[t];
  }
  std::vector<std::uint32_t> path;
  auto first = ::ranges::views::iota(0U, n) | ::ranges::views::filter([&](std::uint32_t t) { return waits[t] == 0; });
  if (n != 0) path.push_back(*::ranges::max_element(first, {}, time_left));
  while (!path.empty()) {
    const std::span<const std::uint32_t> next = graph.successors_of(path.back());
    if (next.empty()) break;
    path.push_back(*::ranges::max_element(next, {}, time_left));
  }
  return path;
}

/// The average time of each task, from the start of its first block to the end of its last, over all complete launches;
/// empty if there is none, or if a runtime builds the graph during the round.
template <class Clock>
[[nodiscard]] std::vector<double> mean_task_ns(const Recorder<Clock>& recorder) {
  if (recorder.graph().tasks.empty()) return {};
  const std::vector<TracedCall> calls = traced_calls(recorder);
  std::vector<double> sums(recorder.graph().tasks.size());
  std::size_t launches = 0;
  for (const std::span<const TracedCall> one : by_launch(calls)) {
    const auto tasks = traced_tasks(recorder.graph(), one);
    if (!is_whole(recorder.graph(), tasks)) continue;
    ++launches;
    for (std::size_t t = 0; t < tasks.size(); ++t) sums[t] += static_cast<double>(tasks[t].end - tasks[t].start);
  }
  if (launches == 0) return {};
  for (double& sum : sums) sum /= static_cast<double>(launches);
  return sums;
}

/// All that is known about the session: its tensors' places, and the times of its tasks, if its engine is `Traced` and
/// rounds were run, or the predicted times, if it is Model. Cost: for set-up; quadratic in the number of tensors.
template <class Session>
[[nodiscard]] GraphNotes notes_of(Session& session) {
  GraphNotes notes;
  notes.title = Session::Platform::name;
  const memory::Report report = session.memory_report();
  for (const memory::Report::Tensor& tensor : report.tensors) {
    notes.offsets.push_back(tensor.buffer == memory::Lifetimes::no_buffer ? GraphNotes::not_placed : tensor.offset);
  }
  notes.arena_bytes = report.arena().value;
  detail::with_engine(session, [&](RecordsTasks auto& engine) {
    notes.task_ns = mean_task_ns(engine.recorder());
    if (notes.task_ns.empty()) return;
    notes.critical = critical_path(session.graph().view(), notes.task_ns);
    notes.title += ", times measured on the host";
  });
  detail::with_engine(session, [&](PredictsRounds auto& engine) {
    const platform::sim::Prediction prediction = engine.prediction();
    for (const auto& times : prediction.tasks) notes.task_ns.push_back(times.end - times.start);
    notes.critical.assign(prediction.critical_path.begin(), prediction.critical_path.end());
    notes.title += ", times predicted";
  });
  return notes;
}

}  // namespace rondo::observe
