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

/// The orchestration runs beside the tasks it adds; a task starts as soon as those are done that wrote what it reads,
/// or touched what it writes. Edges are found from the regions of tensors, boxes of them included. Intermediates come
/// from one ring of memory per depth of scopes (four; deeper scopes share the last), and their memory is used again
/// when their scope has ended and the tasks in it are done.
///
///     struct MyPolicies : rondo::DefaultPolicies { using Runtime = rondo::runtime::TensorMapRingBuffer; };
///     auto session = rondo::open<rondo::A2A3SimOn<rondo::Pool>, MyPolicies>(interface, [=](auto& round) {
///       const auto sum = round.template workspace<float>({1024});
///       round.template add<Add>(x, y, sum);
///       round.template add<Scale>(sum, z, 2.0F);              // finds that it follows add
///     });
///
/// On the Inline engine a task runs where it is added, so that the order of the program is the order of the tasks.
struct TensorMapRingBuffer {
  static constexpr bool is_orchestrated = true;

  /// What an orchestration adds tasks with; edges are found from the regions that tasks touch.
  class Orchestrator final : public detail::Orchestrator<Orchestrator> {
   public:
    static constexpr std::uint32_t rings = max_rings;
    Orchestrator(const StreamOptions& options, std::uint32_t threads, const detail::ChipLimits& limits,
                 const graph::GraphView& interface)
        : detail::Orchestrator<Orchestrator>{options, threads, rings, limits, interface},
          at_once_{threads == 0 && !options.late},
          words_(at_once_ ? detail::ScopeRing::word_count : 0) {}

   private:
    friend class detail::Orchestrator<Orchestrator>;

    platform::sim::TaskSlot& prepare(std::size_t words, std::size_t uses) {
      if (!at_once_) return prepare_slot(words, uses);
      check_running();
      own_.args = words <= platform::sim::TaskSlot::own_words ? own_.own_words_block : words_.data();
      return own_;
    }

    TaskRef finish_add(platform::sim::TaskSlot& slot, const detail::Touch* touches, std::size_t count) {
      if (at_once_) {
        // All tasks before it in the program are done, so nothing can be in its way.
        slot.number = ++task_number_;
        stream_.run_now(slot);
        return {};
      }
      slot.waiting.store(platform::sim::TaskSlot::guard, rondo::detail::Order::relaxed);
      commit_slot(slot);
      const std::uint64_t number = slot.number;
      for (std::size_t i = 0; i < count; ++i) {
        if (is_tracked(touches[i])) {
          map_.find(touches[i], [&](platform::sim::TaskSlot& before) { link(slot, before); });
        }
      }
      auto* uses = static_cast<detail::RegionUse*>(nullptr);
      for (std::size_t i = 0; i < count; ++i) {
        if (is_tracked(touches[i])) map_.insert(touches[i], slot, uses);
      }
      slot.uses = uses;
      release(slot);
      return {&slot, number};
    }

    /// Nobody writes an input during a round.
    static bool is_tracked(const detail::Touch& touch) noexcept { return touch.tensor->direction != Direction::in; }

    void end_scope() noexcept {}

    bool at_once_;
    platform::sim::TaskSlot own_;
    rondo::detail::OwnedArray<ArgWord> words_;
  };

  template <class P>
  using Device = detail::Beside<P>;
  template <class P, class Graph>
  using Runner = detail::StreamRunner<Orchestrator, P, Graph>;
};

}  // namespace rondo::runtime
