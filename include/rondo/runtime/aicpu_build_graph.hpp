// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/atomic.hpp>
#include <rondo/runtime/device_runner.hpp>
#include <rondo/runtime/orchestrator.hpp>
#include <rondo/runtime/stream_runner.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::runtime {

/// The orchestration runs beside the tasks of scopes that have ended; it states each edge. The tasks of a scope are
/// published together when it ends, those of the round itself when the orchestration does. Intermediates come from one
/// heap ring, and their memory is used again when their scope has ended and the tasks in it are done.
///
///     auto session = rondo::open<rondo::A2A3SimOn<rondo::Pool>, MyPolicies>(interface, [=](auto& round) {
///       const auto sum = round.template workspace<float>({1024});
///       const auto add = round.template add<Add>(x, y, sum);
///       const auto scale = round.template add<Scale>(sum, z, 2.0F);
///       round.add_edge(add, scale);
///     });
///
/// What TaskGraph's explicit edges promise is the user's word here: a missing edge is not found. On the Inline engine
/// the tasks of a scope run when it ends, in the order in which they were added but for those that wait for a
/// task of a scope around it.
struct AicpuBuildGraph {
  static constexpr bool is_orchestrated = true;

  /// What an orchestration adds tasks with; edges are the caller's to add.
  class Orchestrator final : public detail::Orchestrator<Orchestrator> {
   public:
    static constexpr std::uint32_t rings = 1;
    Orchestrator(const StreamOptions& options, std::uint32_t threads, const detail::ChipLimits& limits,
                 const graph::GraphView& interface)
        : detail::Orchestrator<Orchestrator>{without_regions(options), threads, rings, limits, interface},
          in_order_{threads == 0 && !options.late} {}

    /// `after` starts only when `before` is done. `before` was added earlier, so there are no cycles; `after` is not
    /// published yet. @throws Error invalid_argument
    void add_edge(TaskRef before, TaskRef after) {
      check_running();
      if (after.slot == nullptr || after.slot->number != after.number || after.slot->published) [[unlikely]] {
        throw Error(Errc::invalid_argument, Error::Text("add_edge: the second task is published already, it may be "
                                                        "running; add its edges before its scope ends"));
      }
      if (before.number == 0 || before.number >= after.number) [[unlikely]] {
        throw Error(Errc::invalid_argument,
                    Error::Text("add_edge: the first task was not added before the second; edges "
                                "lead from earlier to later tasks"));
      }
      if (before.slot->number != before.number) return;  // done, and its place taken by another
      if (after.slot->linked >= platform::sim::TaskSlot::own_edges) reserve_edge();
      before.slot->mark = 0;
      link(*after.slot, *before.slot);
    }

   private:
    friend class detail::Orchestrator<Orchestrator>;

    static StreamOptions without_regions(StreamOptions options) noexcept {
      options.regions = 0;
      return options;
    }

    platform::sim::TaskSlot& prepare(std::size_t words, std::size_t) { return prepare_slot(words, 0); }

    static void expect(const detail::Touch&) noexcept {}
    TaskRef finish_add(platform::sim::TaskSlot& slot, const detail::Touch*, std::size_t) noexcept {
      slot.waiting.store(platform::sim::TaskSlot::guard, rondo::detail::Order::relaxed);
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
      platform::sim::TaskSlot* task = open.first_task;
      open.first_task = open.last_task = nullptr;
      while (task != nullptr) {
        platform::sim::TaskSlot& here = *task;
        task = here.next_ready;  // before it is released: the link serves the ready list from then on
        here.published = true;
        release(here);
        if (in_order_) {
          while (stream_.help()) {
          }
        }
      }
    }

    bool in_order_;
  };

  template <class P>
  using Device = detail::Beside<P>;
  template <class P, class Graph>
  using Runner = detail::StreamRunner<Orchestrator, P, Graph>;
};

}  // namespace rondo::runtime
