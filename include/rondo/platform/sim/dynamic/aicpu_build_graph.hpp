// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/sim/dynamic/orchestrator.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rondo::runtime {
struct AicpuBuildGraph;
}

namespace rondo::platform::sim::dynamic {

/// Adds the tasks of an orchestration; the caller adds the edges.
class EdgeOrchestrator final : public Orchestrator<EdgeOrchestrator> {
 public:
  static constexpr std::uint32_t rings = 1;
  EdgeOrchestrator(const OrchestrationOptions& options, std::uint32_t threads, const arch::Limits& limits,
                   const graph::GraphView& interface)
      : Orchestrator<EdgeOrchestrator>{without_regions(options), threads, rings, limits, interface},
        in_order_{threads == 0 && !options.late} {}

  /// Lets `after` start only when `before` is done. `before` was added earlier, so there are no cycles; `after` must
  /// not be published yet. @throws Error invalid_argument
  void add_edge(TaskRef before, TaskRef after) {
    check_running();
    if (after.slot == nullptr || after.slot->number != after.number || after.slot->published) [[unlikely]] {
      throw Error(Errc::invalid_argument, Error::Text("add_edge: the second task is published already, it may be "
                                                      "running; add its edges before its scope ends"));
    }
    if (before.number == 0 || before.number >= after.number) [[unlikely]] {
      throw Error(Errc::invalid_argument, Error::Text("add_edge: the first task was not added before the second; edges "
                                                      "lead from earlier to later tasks"));
    }
    if (before.slot->number != before.number) return;  // `before` is done, and another task uses its slot
    if (after.slot->linked >= TaskSlot::own_edges) reserve_edge();
    before.slot->mark = 0;
    link(*after.slot, *before.slot);
  }

 private:
  friend class Orchestrator<EdgeOrchestrator>;

  static OrchestrationOptions without_regions(OrchestrationOptions options) noexcept {
    options.regions = 0;
    return options;
  }

  TaskSlot& prepare(std::size_t words, std::size_t) { return prepare_slot(words, 0); }

  static void prefetch(const Touch&) noexcept {}
  TaskRef finish_add(TaskSlot& slot, const Touch*, std::size_t) noexcept {
    slot.waiting.store(TaskSlot::guard, std::memory_order_relaxed);
    commit_slot(slot);
    slot.published = false;
    slot.next_ready = nullptr;
    OpenScope& open = current();
    if (open.last_task == nullptr) {
      open.first_task = &slot;
    } else {
      open.last_task->next_ready = &slot;
    }
    open.last_task = &slot;
    return {&slot, slot.number};
  }

  /// Publishes the tasks of the scope.
  void end_scope() noexcept {
    OpenScope& open = current();
    TaskSlot* task = open.first_task;
    open.first_task = open.last_task = nullptr;
    while (task != nullptr) {
      TaskSlot& here = *task;
      task = here.next_ready;  // read before the task is released: the ready list uses the link from then on
      here.published = true;
      release(here);
      if (in_order_) {
        while (stream_.help()) {
        }
      }
    }
  }

  void leave_order_to_edges() noexcept { in_order_ = false; }

  bool in_order_;
};
/// The orchestrator of the runtime.
template <>
struct OrchestratorFor<runtime::AicpuBuildGraph> {
  using type = EdgeOrchestrator;
};

}  // namespace rondo::platform::sim::dynamic
