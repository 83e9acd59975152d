// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/loop_calls.hpp>
#include <rondo/graph/outline.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/sim/virtual_chip.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::platform::sim {

/// Predicts loops: one repetition of a loop has the chip to itself, and a loop takes as long as its expected
/// repetitions, or the most. Times of its tasks are those of the first repetition. Allocates only when constructed.
class LoopForecast {
 public:
  /// `costs`: the cost of each task and block, in the order of `graph`, which must outlive this. `decisions`: the
  /// argument block of each loop's decision. `run(chip)` runs a repetition on its chip.
  template <class Run>
  LoopForecast(const graph::GraphView& graph, std::span<const double> costs, std::span<const ArgWord* const> decisions,
               const arch::Chip& chip, const Run& run)
      : whole_{graph},
        first_block_(graph.tasks.size() + 1),
        loop_ns_(graph.loops.size()),
        repetitions_(graph.loops.size()),
        times_{std::vector<TaskTimes>(graph.tasks.size()),
               std::vector<BlockRun>(costs.size()),
               {},
               std::vector<double>(chip.cube_cores + chip.vector_cores)} {
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) first_block_[t + 1] = first_block_[t] + graph.tasks[t].blocks;
    outlines_.reserve(graph.loops.size());
    chips_.reserve(graph.loops.size());
    times_.critical_path.reserve(graph.tasks.size());
    for (std::uint32_t l = 0; l < graph.loops.size(); ++l) {
      outlines_.emplace_back(graph, l);
      chips_.emplace_back(outlines_[l].view(), chip);
    }
    for (std::size_t l = graph.loops.size(); l-- > 0;) {  // inner loops come first
      const graph::LoopRecord& loop = graph.loops[l];
      if (!loop.has_work()) continue;
      const double most = static_cast<double>(graph::Decision{decisions[l]}.most());
      repetitions_[l] = loop.expected > 0 && loop.expected < most ? loop.expected : most;
      fill(chips_[l], outlines_[l], costs);
      run(chips_[l]);
      loop_ns_[l] = repetitions_[l] * chips_[l].makespan();
    }
  }

  /// Writes the costs of all tasks and blocks into the chip that runs the outline of the graph.
  void fill(VirtualChip& chip, std::span<const double> costs) const { fill(chip, whole_, costs); }

  /// Takes over the times of the chip that has run the outline of the graph.
  void note(const VirtualChip& chip) noexcept {
    times_.critical_path.clear();
    std::fill(times_.busy.begin(), times_.busy.end(), 0);
    times_.scheduler_busy = 0;
    add(chip, whole_, 0, 1);
    list_critical(chip, whole_);
  }

  /// Those of all tasks of the graph.
  [[nodiscard]] const ChipTimes& times() const noexcept { return times_; }

 private:
  /// Writes the costs of an outline's tasks into its chip.
  void fill(VirtualChip& chip, const graph::Outline& outline, std::span<const double> costs) const {
    std::size_t block = 0;
    for (const graph::Outline::Item& item : outline.items()) {
      if (item.loop != graph::TaskRecord::no_loop) {
        chip.costs()[block++] = loop_ns_[item.loop];
      } else {
        for (std::size_t b = first_block_[item.first]; b < first_block_[item.last]; ++b)
          chip.costs()[block++] = costs[b];
      }
    }
  }

  /// Adds `times` runs of an outline. The times of its tasks are those of the first run, which begins at `from`. In
  /// place of the core that stands for a loop, the cores of its repetitions are busy.
  void add(const VirtualChip& chip, const graph::Outline& outline, double from, double times) noexcept {
    const ChipTimes& once = chip.times();
    for (std::size_t c = 0; c < once.busy.size(); ++c) times_.busy[c] += times * once.busy[c];
    times_.scheduler_busy += times * once.scheduler_busy;
    for (std::size_t i = 0; i < outline.items().size(); ++i) {
      const graph::Outline::Item& item = outline.items()[i];
      const BlockRun* run = once.blocks.data() + chip.first_block(i);
      if (item.loop != graph::TaskRecord::no_loop) {
        times_.busy[run->core] -= times * loop_ns_[item.loop];
        add(chips_[item.loop], outlines_[item.loop], from + run->start, times * repetitions_[item.loop]);
        continue;
      }
      times_.tasks[item.first] = {from + once.tasks[i].start, from + once.tasks[i].end};
      for (std::size_t b = first_block_[item.first]; b < first_block_[item.last]; ++b, ++run) {
        times_.blocks[b] = {from + run->start, from + run->end, run->core};
      }
    }
  }
  void list_critical(const VirtualChip& chip, const graph::Outline& outline) noexcept {
    for (const std::uint32_t i : chip.times().critical_path) {
      const graph::Outline::Item& item = outline.items()[i];
      if (item.loop == graph::TaskRecord::no_loop) {
        times_.critical_path.push_back(item.first);
      } else {
        list_critical(chips_[item.loop], outlines_[item.loop]);
      }
    }
  }

  graph::Outline whole_;                  ///< of the graph
  std::vector<std::size_t> first_block_;  ///< by task
  std::vector<graph::Outline> outlines_;  ///< by loop
  std::vector<VirtualChip> chips_;        ///< by loop: one repetition
  std::vector<double> loop_ns_;           ///< by loop: all repetitions
  std::vector<double> repetitions_;       ///< by loop
  ChipTimes times_;
};

}  // namespace rondo::platform::sim
