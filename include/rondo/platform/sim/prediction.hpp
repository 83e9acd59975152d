// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/fixed_text.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/sim/virtual_chip.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>

namespace rondo::platform::sim {

/// The predicted times of a round on the chip, in nanoseconds; those of cores and tasks cover only the phase `run`.
/// Lifetime: the spans belong to the engine; they change with its next round and are invalid after its session.
struct Prediction {
  const char* chip = "";   ///< the name of the chip
  graph::GraphView graph;  ///< the graph of the round

  double copy_in_ns = 0;   ///< all copies to the device
  double launch_ns = 0;    ///< the time until the chip has the graph
  double run_ns = 0;       ///< the tasks
  double complete_ns = 0;  ///< the time from the end of the last task until the host knows of it
  double copy_out_ns = 0;  ///< all copies to the host

  std::span<const double> cube_busy_ns;          ///< for each core
  std::span<const double> vector_busy_ns;        ///< for each core
  double scheduler_busy_ns = 0;                  ///< the sum over all schedulers
  std::uint32_t schedulers = 0;                  ///< 0: streams control the chip
  std::uint32_t streams = 0;                     ///< 0: schedulers control it
  double stream_busy_ns = 0;                     ///< that of the busiest stream
  double critical_path_ns = 0;                   ///< the time of the run phase with unlimited cores and schedulers
  std::span<const std::uint32_t> critical_path;  ///< positions in graph.tasks
  std::span<const TaskTimes> tasks;              ///< in the order of graph.tasks, from the start of the run phase
  std::span<const BlockRun> blocks;              ///< the blocks of the first task, then those of the next

  // The number of tasks whose costs were stated by the kernel, timed on the host, or estimated from their bytes.
  std::uint32_t stated = 0;
  std::uint32_t measured = 0;
  std::uint32_t estimated = 0;

  [[nodiscard]] double makespan_ns() const noexcept {
    return copy_in_ns + launch_ns + run_ns + complete_ns + copy_out_ns;
  }

  /// The average share of the run phase that the cores of a type spend in kernels; 0 to 1.
  [[nodiscard]] double utilisation(CoreType core) const noexcept {
    const auto& busy = core == CoreType::cube ? cube_busy_ns : vector_busy_ns;
    return run_ns == 0 ? 0 : sum(busy) / (run_ns * static_cast<double>(busy.size()));
  }

  /// The highest of the lower bounds of the run phase: the critical path, the work of each type of core divided by
  /// their number, and the work of the schedulers, or of the busiest stream.
  [[nodiscard]] const char* bound_by() const noexcept {
    const double cube = sum(cube_busy_ns) / static_cast<double>(std::max<std::size_t>(1, cube_busy_ns.size()));
    const double vector = sum(vector_busy_ns) / static_cast<double>(std::max<std::size_t>(1, vector_busy_ns.size()));
    const double control = streams != 0 ? stream_busy_ns : scheduler_busy_ns / std::max(1U, schedulers);
    const double most = std::max({critical_path_ns, control, cube, vector});
    if (most == critical_path_ns) return "the critical path";
    if (most == control) return streams != 0 ? "the streams" : "the schedulers";
    return most == cube ? "the cube cores" : "the vector cores";
  }

  using Text = detail::FixedText<8192>;
  [[nodiscard]] Text report() const noexcept {
    Text text;
    char line[160];
    const auto add = [&](const char* format, auto... values) {
      (void)std::snprintf(line, sizeof line, format, values...);
      text.append(static_cast<const char*>(line));
    };
    const auto phase = [&](const char* name, double ns) {
      add("  %-9s %12.3f us  %5.1f %%\n", name, ns / 1000, makespan_ns() == 0 ? 0.0 : 100 * ns / makespan_ns());
    };
    const auto cores = [&](const char* name, std::span<const double> busy, CoreType core) {
      std::size_t used = 0;
      for (const double ns : busy) used += ns > 0 ? 1 : 0;
      add("  %zu of %zu %s cores used, %.1f %% busy\n", used, busy.size(), name, 100 * utilisation(core));
    };
    add("round on %s, predicted: %.3f us\n", chip, makespan_ns() / 1000);
    phase("copy in", copy_in_ns);
    phase("launch", launch_ns);
    phase("run", run_ns);
    phase("complete", complete_ns);
    phase("copy out", copy_out_ns);
    add("run phase: bound by %s\n", bound_by());
    cores("cube", cube_busy_ns, CoreType::cube);
    cores("vector", vector_busy_ns, CoreType::vector);
    const double run = run_ns == 0 ? 1.0 : run_ns;
    if (streams != 0) {
      add("  %u streams, the busiest %.1f %% busy\n", streams, 100 * stream_busy_ns / run);
    } else {
      add("  %u schedulers, %.1f %% busy\n", schedulers, 100 * scheduler_busy_ns / (run * std::max(1U, schedulers)));
    }
    add("  critical path: %.3f us, %zu tasks\n", critical_path_ns / 1000, critical_path.size());
    constexpr std::size_t shown_at_each_end = 8;
    for (std::size_t i = 0; i < critical_path.size(); ++i) {
      if (i == shown_at_each_end && critical_path.size() > 2 * shown_at_each_end) {
        add("    ... %zu more\n", critical_path.size() - 2 * shown_at_each_end);
        i = critical_path.size() - shown_at_each_end;
      }
      const graph::TaskRecord& task = graph.tasks[critical_path[i]];
      const TaskTimes& times = tasks[critical_path[i]];
      text.append({"    task ", task.added_as, " '", graph.name(task.name), "' ", to_string(task.core)});
      add(" x %u: %.3f to %.3f us\n", task.blocks, times.start / 1000, times.end / 1000);
    }
    add("task costs: %u stated, %u measured on the host, %u estimated from bytes\n", stated, measured, estimated);
    return text;
  }

 private:
  [[nodiscard]] static double sum(std::span<const double> values) noexcept {
    return std::accumulate(values.begin(), values.end(), 0.0);
  }
};

}  // namespace rondo::platform::sim
