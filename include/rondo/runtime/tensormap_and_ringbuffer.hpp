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

    /// As soon as it is known what a task touches the map is asked where that is, so that it is on its way.
    void expect(detail::Touch& touch) noexcept {
      if (!at_once_ && is_tracked(touch)) map_.locate(touch);
    }

    TaskRef finish_add(platform::sim::TaskSlot& slot, detail::Touch* touches, std::size_t count) {
      if (at_once_) {
        // All tasks before it in the program are done, so nothing can be in its way.
        slot.number = ++task_number_;
        stream_.run_now(slot);
        return {};
      }
      slot.waiting.store(platform::sim::TaskSlot::guard, rondo::detail::Order::relaxed);
      commit_slot(slot);
      const std::uint64_t number = slot.number;
      Befores befores;
      auto* uses = static_cast<detail::RegionUse*>(nullptr);
      for (std::size_t i = 0; i < count; ++i) {
        if (!is_tracked(touches[i])) continue;
        map_.find(touches[i], [&](platform::sim::TaskSlot& before, std::uint64_t its_number) {
          if (!befores.add(before, its_number) && before.number == its_number) link(slot, before);
        });
        map_.insert(touches[i], slot, uses);
      }
      slot.uses = uses;
      for (std::size_t i = 0; i < befores.count; ++i) {
        if (befores.all[i].task->number == befores.all[i].number) link(slot, *befores.all[i].task);
      }
      release(slot);
      return {&slot, number};
    }

    /// The tasks that one waits for, as far as they fit. They are somewhere in memory and asked for when they are
    /// found, so they are looked at last.
    struct Befores {
      /// One of them.
      struct Before {
        platform::sim::TaskSlot* task;
        std::uint64_t number;  ///< of the task that is meant: the slot may be another's by now
      };
      static constexpr std::size_t most = 8;
      std::size_t count = 0;
      Before all[most];

      Befores() noexcept {}  // leaves all of them unset
      /// False if there is no room.
      [[nodiscard]] bool add(platform::sim::TaskSlot& task, std::uint64_t number) noexcept {
        if (count == most) [[unlikely]]
          return false;
        __builtin_prefetch(&task, 1);
        all[count].task = &task;
        all[count++].number = number;
        return true;
      }
    };

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
