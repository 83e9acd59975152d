// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/loop_order.hpp>
#include <rondo/graph/outline.hpp>
#include <rondo/graph/rare_code.hpp>
#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

/// Loops where kernels are host functions: to an engine, a loop is one call, which runs the calls of its tasks on the
/// thread that makes it.
namespace rondo::graph {

/// The words of a decision's block: the address of the condition, its size in bytes, and the most repetitions.
struct Decision {
  const ArgWord* block;

  /// Whether the condition is not 0.
  [[nodiscard]] bool holds() const noexcept {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(block[0]);  // NOLINT: memory of the host
    unsigned char any = 0;
    for (ArgWord i = 0; i < block[1]; ++i) any |= bytes[i];
    return any != 0;
  }
  [[nodiscard]] std::uint64_t most() const noexcept { return static_cast<std::uint64_t>(block[2]); }
};

/// Runs one loop. Its address is the argument of its call.
class LoopRunner {
 public:
  LoopRunner(LoopRecord::Kind kind, Decision decision, StopRequest stop)
      : kind_{kind}, decision_{decision}, stop_{stop} {}

  void add(const HostCall& call, std::uint32_t task) {
    calls_.push_back(call);
    tasks_.push_back(task);
  }
  [[nodiscard]] HostCall call() noexcept { return {&LoopRunner::run, reinterpret_cast<ArgWord*>(this)}; }

 private:
  /// @throws LoopFailure a kernel threw; StoppedInLoop
  static void run(ArgWord* self) { reinterpret_cast<LoopRunner*>(self)->run(); }
  void run() {
    if (kind_ == LoopRecord::Kind::when) {
      run_calls(0, 1);  // the decision, so that traces show it
      if (decision_.holds()) run_calls(1, calls_.size());
      return;
    }
    const std::uint64_t most = decision_.most();
    for (std::uint64_t i = 0; i < most; ++i) {
      run_calls(0, calls_.size());
      if (decision_.holds()) return;
      if (stop_.is_made(stop_.source)) [[unlikely]]
        throw StoppedInLoop{};
    }
  }
  void run_calls(std::size_t from, std::size_t to) {
    std::size_t c = from;
    try {
      for (; c < to; ++c) calls_[c].entry(calls_[c].args);
    } catch (const StoppedInLoop&) {
      throw;
    } catch (const LoopFailure&) {
      throw;
    } catch (...) {
      throw LoopFailure{tasks_[c], current_exception_text()};
    }
  }

  LoopRecord::Kind kind_;
  Decision decision_;
  StopRequest stop_;
  std::vector<HostCall> calls_;
  std::vector<std::uint32_t> tasks_;  ///< the TaskId of each call
};

/// The outline of a graph, and what the calls of its loops need.
struct OutlinedCalls {
  explicit OutlinedCalls(const GraphView& graph) : whole{graph}, outline{whole.view()} {
    runners.reserve(graph.loops.size());
  }
  OutlinedCalls(const OutlinedCalls&) = delete;
  OutlinedCalls& operator=(const OutlinedCalls&) = delete;

  Outline whole;
  GraphView outline;
  std::vector<LoopRunner> runners;  ///< by loop; never grows, since calls hold addresses
};

/// Replaces the calls of a graph with those of its outline, where each loop is one call. `calls` and `tasks` have one
/// entry for each task and block, in the order of the graph; `decisions` has the argument block of each loop's
/// decision. Returns the outline, which must live as long as the calls. The source of `stop` must outlive it.
[[nodiscard]] inline std::shared_ptr<const GraphView> outline_calls(const GraphView& graph,
                                                                    std::vector<HostCall>& calls,
                                                                    std::vector<std::uint32_t>& tasks,
                                                                    const std::vector<const ArgWord*>& decisions,
                                                                    StopRequest stop) {
  std::vector<std::size_t> first_call(graph.tasks.size() + 1);
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) first_call[t + 1] = first_call[t] + graph.tasks[t].blocks;
  const auto made = std::make_shared<OutlinedCalls>(graph);
  OutlinedCalls& loops = *made;
  const auto visit = [&](const Outline& outline, const auto& add) {
    for (const Outline::Item& item : outline.items()) {
      if (item.loop != TaskRecord::no_loop) {
        add(loops.runners[item.loop].call(), graph.tasks[graph.loops[item.loop].decision].added_as);
        continue;
      }
      for (std::size_t c = first_call[item.first]; c < first_call[item.last]; ++c) add(calls[c], tasks[c]);
    }
  };
  for (const LoopRecord& loop : graph.loops) {
    loops.runners.emplace_back(loop.kind, Decision{decisions[loops.runners.size()]}, stop);
  }
  for (std::uint32_t l = 0; l < graph.loops.size(); ++l) {
    if (!graph.loops[l].has_work()) continue;
    visit(Outline(graph, l), [&](const HostCall& call, std::uint32_t task) { loops.runners[l].add(call, task); });
  }
  std::vector<HostCall> outer;
  std::vector<std::uint32_t> outer_tasks;
  visit(loops.whole, [&](const HostCall& call, std::uint32_t task) {
    outer.push_back(call);
    outer_tasks.push_back(task);
  });
  calls = std::move(outer);
  tasks = std::move(outer_tasks);
  return {made, &made->outline};
}

/// The code that a program with loops contains; see rare_code.hpp.
inline constexpr LoopCode loop_code{&order_loops, &outline_calls};

}  // namespace rondo::graph
