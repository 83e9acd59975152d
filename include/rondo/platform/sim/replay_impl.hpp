// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/sim/replay.hpp>
#include <rondo/platform/start_thread.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// How Replay arranges a schedule in memory; include replay.hpp.
namespace rondo::platform::sim {

inline Replay::Replay(const NodeGraph& graph, const Schedule& schedule,
                      std::span<const Inline::DynamicProgram* const> programs, Halt& halt, TeamSleep& sleep,
                      const TeamOptions& team)
    : calls_(std::max<std::size_t>(programs.size(), 2) * programs[0]->calls.size()),
      tasks_(programs[0]->calls.size()),
      lanes_(schedule.order.size()),
      positions_(schedule.order.size()),
      rounds_(std::bit_ceil(programs.size())),
      epochs_(programs.size()),
      threads_{schedule.order.size()},
      overlaps_{programs.size() > 1},
      round_mask_{static_cast<std::uint32_t>(rounds_.size() - 1)},
      call_count_{static_cast<std::uint32_t>(tasks_.size())},
      halt_{halt},
      spins_{team.spins.within_rounds},
      team_(threads_ - 1, *this, sleep, team) {
  const auto next_line = [](std::uint32_t i) { return (i + per_line - 1) / per_line * per_line; };
  const double batch_cost = std::max(2000.0, schedule.makespan / 64);

  std::vector<std::uint32_t> place(graph.nodes.size());
  std::vector<std::uint32_t> thread(graph.nodes.size());
  std::uint32_t nodes = 0;
  for (std::size_t t = 0; t < threads_; ++t) {
    for (const std::uint32_t node : schedule.order[t]) {
      place[node] = nodes++;
      thread[node] = static_cast<std::uint32_t>(t);
    }
    nodes = next_line(nodes);
  }

  node_calls_ = std::vector<Calls>(nodes);
  originals_.reserve(overlaps_ ? 0 : tasks_.size());
  timed_.reserve(originals_.capacity());  // the calls refer to them
  std::uint32_t call = 0;
  for (std::size_t t = 0; t < threads_; ++t) {
    lanes_[t].begin = static_cast<std::uint32_t>(batches_.size());
    const std::vector<std::uint32_t>& order = schedule.order[t];
    for (std::size_t i = 0; i < order.size();) {
      const double start = schedule.start[order[i]];
      const auto joins = [&](std::uint32_t node) {
        return schedule.end[node] - start <= batch_cost && (!overlaps_ || graph.carried[node].empty()) &&
               std::none_of(graph.predecessors[node].begin(), graph.predecessors[node].end(),
                            [&](std::uint32_t p) { return thread[p] != t && schedule.end[p] >= start; });
      };
      std::size_t end = i + 1;
      while (end < order.size() && joins(order[end])) ++end;

      Batch batch{place[order[i]], place[order[i]] + static_cast<std::uint32_t>(end - i),
                  static_cast<std::uint32_t>(needs_.size())};
      for (const bool across : {true, false}) {
        for (std::size_t j = i; j < end; ++j) {
          for (const std::uint32_t p : graph.predecessors[order[j]]) {
            const bool inside = place[p] >= batch.first_node && place[p] < batch.node_end;
            if ((thread[p] != t) == across && !inside) needs_.push_back(place[p]);
          }
        }
        (across ? batch.across_end : batch.need_end) = static_cast<std::uint32_t>(needs_.size());
      }
      for (std::size_t j = i; overlaps_ && j < end; ++j) {
        for (const std::uint32_t p : graph.carried[order[j]]) needs_.push_back(place[p]);
      }
      batch.carried_end = static_cast<std::uint32_t>(needs_.size());
      for (std::size_t j = i; j < end; ++j) {
        const NodeGraph::Node& node = graph.nodes[order[j]];
        Calls& range = node_calls_[place[order[j]]];
        range.begin = call;
        for (std::uint32_t c = 0; c < node.call_count; ++c, ++call) {
          const std::uint32_t original = graph.calls[node.first_call + c];
          for (std::size_t slot = 0; slot < programs.size(); ++slot) {
            calls_[slot * tasks_.size() + call] = programs[slot]->calls[original];
          }
          tasks_[call] = programs[0]->tasks[original];
          if (overlaps_) continue;
          originals_.push_back(original);
          timed_.push_back({programs[0]->calls[original]});
          // NOLINTNEXTLINE: TimedCall::entry() takes it
          calls_[tasks_.size() + call] = {&TimedCall::entry, reinterpret_cast<ArgWord*>(&timed_.back())};
        }
        range.end = call;
      }
      batches_.push_back(batch);
      ++batch_count_;
      i = end;
    }
    lanes_[t].end = static_cast<std::uint32_t>(batches_.size());
    batches_.resize(next_line(static_cast<std::uint32_t>(batches_.size())));
  }
  claims_ = std::vector<Line>(batches_.size() / per_line);
  done_ = std::vector<Line>(nodes / per_line);
  if (overlaps_) {
    rounds_[0].finished.store(~0U, std::memory_order_relaxed);  // epoch 0 has not ended
    stand_in_ =
        start_thread([this]() noexcept { stand_by(); }, "a thread of rounds that overlap", "; have one in flight");
  }
}

}  // namespace rondo::platform::sim
