// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/sim/dynamic/orchestrator.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::runtime {
struct TensorMapRingBuffer;
}

namespace rondo::platform::sim::dynamic {

/// Adds the tasks of an orchestration; the regions that tasks use determine the edges.
class RegionOrchestrator final : public Orchestrator<RegionOrchestrator> {
 public:
  static constexpr std::uint32_t rings = max_rings;
  RegionOrchestrator(const OrchestrationOptions& options, std::uint32_t threads, const arch::Limits& limits,
                     const graph::GraphView& interface)
      : Orchestrator<RegionOrchestrator>{options, threads, rings, limits, interface},
        runs_at_once_{threads == 0 && !options.late},
        immediate_words_(runs_at_once_ ? ScopeRing::word_count : 0) {}

 private:
  friend class Orchestrator<RegionOrchestrator>;

  TaskSlot& prepare(std::size_t words, std::size_t uses) {
    if (!runs_at_once_) return prepare_slot(words, uses);
    check_running();
    if (words > ScopeRing::word_count) [[unlikely]]
      fail_words(words);
    immediate_slot_.args = words <= TaskSlot::own_words ? immediate_slot_.own_words_block : immediate_words_.data();
    return immediate_slot_;
  }

  /// Locates the uses of a region as soon as it is known, which prefetches their memory.
  void prefetch(Touch& touch) noexcept {
    if (!runs_at_once_ && is_tracked(touch)) map_.locate(touch);
  }

  TaskRef finish_add(TaskSlot& slot, Touch* touches, std::size_t count) {
    if (runs_at_once_) {
      // All earlier tasks in program order are done, so nothing conflicts with it.
      slot.number = ++task_number_;
      stream_.run_now(slot);
      return {};
    }
    slot.waiting.store(TaskSlot::guard, std::memory_order_relaxed);
    commit_slot(slot);
    const std::uint64_t number = slot.number;
    Predecessors predecessors;
    auto* uses = static_cast<RegionUse*>(nullptr);
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_tracked(touches[i])) continue;
      map_.find(touches[i], [&](TaskSlot& before, std::uint64_t its_number) {
        if (!predecessors.add(before, its_number) && before.number == its_number) link(slot, before);
      });
      map_.insert(touches[i], slot, uses);
    }
    slot.uses = uses;
    for (std::size_t i = 0; i < predecessors.count; ++i) {
      if (predecessors.all[i].task->number == predecessors.all[i].number) link(slot, *predecessors.all[i].task);
    }
    release(slot);
    return {&slot, number};
  }

  /// The tasks that a task waits for, up to the array's size. They are prefetched when found, and accessed last.
  struct Predecessors {
    /// A task that must be done first.
    struct Predecessor {
      TaskSlot* task;
      std::uint64_t number;  ///< the number of that task: the slot may have been reused
    };
    static constexpr std::size_t most = 8;
    std::size_t count = 0;
    Predecessor all[most];

    Predecessors() noexcept {}  // NOLINT(modernize-use-equals-default): leaves all members uninitialised
    [[nodiscard]] bool add(TaskSlot& task, std::uint64_t number) noexcept {
      if (count == most) [[unlikely]]
        return false;
      __builtin_prefetch(&task, 1);
      all[count].task = &task;
      all[count++].number = number;
      return true;
    }
  };

  static bool is_tracked(const Touch& touch) noexcept { return touch.tensor->direction != Direction::in; }

  void end_scope() noexcept {}
  void leave_order_to_edges() noexcept { runs_at_once_ = false; }

  bool runs_at_once_;
  TaskSlot immediate_slot_;
  std::vector<ArgWord> immediate_words_;
};
/// The orchestrator of the runtime.
template <>
struct OrchestratorFor<runtime::TensorMapRingBuffer> {
  using type = RegionOrchestrator;
};

}  // namespace rondo::platform::sim::dynamic
