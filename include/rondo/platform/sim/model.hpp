// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/args/args_table.hpp>
#include <rondo/graph/deal.hpp>
#include <rondo/graph/play_lanes.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/concurrency.hpp>
#include <rondo/platform/sim/engine.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/loop_forecast.hpp>
#include <rondo/platform/sim/prediction.hpp>
#include <rondo/platform/sim/sim.hpp>
#include <rondo/platform/sim/virtual_chip.hpp>
#include <rondo/platform/sim/waiting.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace rondo::platform::sim {

/// Runs all tasks on the calling thread, as Inline does, and predicts with a virtual clock how long the round would
/// take on the chip.
///
///     auto session = open<A2A3SimOn<Model>>(graph);
///     … run a round …
///     std::puts(session.platform().engine().prediction().report().c_str());
///
/// The cost of a task is the cost that its kernel states (see StatesCost); otherwise its time on the host ×
/// Costs::host_factor, if Options enable measuring; otherwise an estimate from the bytes of its tensors. Without
/// measuring, the same graph gives the same prediction on every host. The round's copies follow one another.
///
/// A loop counts with the repetitions that its graph expects, or else with the most, and the chip runs nothing else
/// meanwhile on the cores of its tasks; only tasks outside of loops are measured.
///
/// It does not model the host's own work between rounds, contention for memory, caches, overlap of copies with tasks,
/// or effects of the data.
///
/// Thread safety: that of the session. Errors: invalid_argument, from the constructor if a cost of Options is out of
/// range, from load() if a stated one is. Cost: a round allocates nothing, and reads the clock only to measure.
class Model {
 public:
  static constexpr const char* name = "model";
  static constexpr bool looks_at_graphs = true;
  static constexpr memory::Concurrency concurrency = memory::Concurrency::parallel;
  static constexpr bool runs_loops = true;

  /// The mechanism that starts the tasks on the chip: its own schedulers, as in the runtime hw-native-sys/simpler; or
  /// streams, to which the tasks are dealt as in the captured graph that the onboard platforms replay.
  enum class Control : std::uint8_t { schedulers, streams };

  /// The modelled chip, where it differs from the platform's, and whether to time kernels without a stated cost.
  struct Options {
    arch::Costs costs = {};                 ///< costs that are given replace the chip's
    std::uint32_t cube_cores = 0;           ///< their number, not more than the chip has; 0: all
    std::uint32_t vector_cores = 0;         ///< their number, not more than the chip has; 0: all
    std::uint32_t schedulers = 0;           ///< their number, not more than the chip has; 0: all
    Control control = Control::schedulers;  ///< the mechanism that starts the tasks
    std::uint32_t streams = 0;  ///< their number, as in the options of onboard platforms; 0: by the costs of tasks
    std::uint32_t measuring_rounds = 0;  ///< the number of first rounds that time such kernels; the minimum counts
  };

  /// A graph with the costs of its blocks, and the prediction of the last round.
  class Program {
   public:
    Program(const graph::GraphView& graph, const args::ArgsTable& args, const arch::Chip& chip, const Options& options,
            const Halt& halt)
        : graph_{graph},
          calls_{Inline::with_loops(graph, Inline::load_calls(graph, args), halt)},
          outline_{calls_.graph(graph)},
          control_{options.control},
          chip_{outline_, controlled(chip, options.control)} {
      std::vector<double> all;  // the cost of each task and block
      for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
        const graph::TaskRecord& task = graph.tasks[t];
        for (std::uint32_t block = 0; block < task.blocks; ++block) {
          all.push_back(graph::block_cost(graph, task, chip, args.block(t, block)));
        }
        if (task.cost != nullptr) ++stated_;
      }
      if (calls_.outline != nullptr) {
        loops_ = std::make_unique<LoopForecast>(graph, all, calls_.decisions, chip_.chip(),
                                                [&](VirtualChip& body) { run(body, {}); });
        loops_->fill(chip_, all);
      } else {
        chip_.costs() = std::move(all);
      }
      for (const graph::TaskRecord& task : outline_.tasks) {
        const bool is_timed = task.cost == nullptr && task.loop == graph::TaskRecord::no_loop;
        is_timed_.insert(is_timed_.end(), task.blocks, is_timed);
        timed_ += is_timed ? 1 : 0;
      }
      if (timed_ != 0) measuring_left_ = options.measuring_rounds;
      if (control_ == Control::streams) deal(options.streams);
      predict();
    }

    Status launch(Halt& halt) noexcept {
      if (measuring_left_ != 0) [[unlikely]]
        return measure(halt);
      return Inline::run(calls_, halt);
    }
    void describe(Prediction& p) const noexcept {
      p.graph = graph_;
      p.run_ns = chip_.makespan();
      const ChipTimes& times = loops_ != nullptr ? loops_->times() : chip_.times();
      const std::span<const double> busy = times.busy;
      p.cube_busy_ns = busy.first(chip_.chip().cube_cores);
      p.vector_busy_ns = busy.subspan(chip_.chip().cube_cores);
      p.scheduler_busy_ns = times.scheduler_busy;
      p.schedulers = control_ == Control::schedulers ? chip_.chip().schedulers : 0;
      p.streams = control_ == Control::streams ? lanes_.count : 0;
      p.stream_busy_ns = chip_.lane_busy();
      p.critical_path_ns = chip_.critical_path_ns();
      p.critical_path = times.critical_path;
      p.tasks = times.tasks;
      p.blocks = times.blocks;
      p.stated = stated_;
      p.measured = measured_ ? timed_ : 0;
      p.estimated = static_cast<std::uint32_t>(graph_.tasks.size()) - p.stated - p.measured;
    }

   private:
    /// The chip, without the costs of its schedulers if streams control it.
    [[nodiscard]] static arch::Chip controlled(arch::Chip chip, Control control) noexcept {
      arch::Costs& c = chip.costs;
      if (control == Control::streams) c.dispatch_ns = c.retire_ns = c.start_block_ns = c.notice_block_ns = 0;
      return chip;
    }
    void deal(std::uint32_t streams) {
      const std::vector<double> costs = chip_.task_costs();
      std::vector<double> by_id(outline_.tasks.size());
      for (std::size_t t = 0; t < costs.size(); ++t) {
        const std::size_t id = outline_.tasks[t].added_as;
        if (id >= by_id.size()) by_id.resize(id + 1);
        by_id[id] = costs[t];
      }
      graph::LaneRules rules{chip_.chip(), streams};
      rules.task_ns = by_id;
      lanes_ = graph::deal_lanes(outline_, rules);
    }
    void run(VirtualChip& on, const graph::Lanes& lanes) const {
      if (control_ == Control::streams) return on.run_on_lanes(lanes);
      on.run();
    }
    void predict() {
      run(chip_, lanes_);
      if (loops_ != nullptr) loops_->note(chip_);
    }
    [[gnu::cold, gnu::noinline]] Status measure(Halt& halt) noexcept try {
      const Status status = Inline::run(calls_, halt, [&, call = std::size_t{0}](const Inline::Call& each) mutable {
        const double start = now_ns();
        each.entry(each.args);
        const double cost = chip_.chip().costs.host_factor * (now_ns() - start);
        double& known = chip_.costs()[call];
        if (is_timed_[call++] != 0) known = measured_ ? std::min(known, cost) : cost;
      });
      if (!status) return status;
      measured_ = true;
      --measuring_left_;
      predict();
      return {};
    } catch (...) {
      return Status{Errc::out_of_memory};
    }
    [[nodiscard]] static double now_ns() noexcept { return static_cast<double>(sim::now_ns()); }

    graph::GraphView graph_;
    Inline::DynamicProgram calls_;
    graph::GraphView outline_;  ///< the graph with each loop as one task
    Control control_;
    VirtualChip chip_;
    std::unique_ptr<LoopForecast> loops_;  ///< null: no loops
    graph::Lanes lanes_;
    std::vector<char> is_timed_;  ///< by block: whether its kernel states no cost, outside of loops
    std::uint32_t stated_ = 0;
    std::uint32_t timed_ = 0;  ///< the number of tasks that measuring times
    std::uint32_t measuring_left_ = 0;
    bool measured_ = false;
  };

  Model(const Options& options, const arch::Chip& chip) : options_{options}, chip_{chip} {
    const auto lower = [](std::uint32_t& there, std::uint32_t wanted) {
      if (wanted != 0) there = std::min(wanted, there);
    };
    lower(chip_.cube_cores, options.cube_cores);
    lower(chip_.vector_cores, options.vector_cores);
    lower(chip_.schedulers, options.schedulers);
    chip_.costs = options.costs.or_else(chip.costs);
  }

  template <class Graph>
  [[nodiscard]] Program load(const Graph& graph, args::ArgsTable& args) {
    Options options = options_;
    if (Graph::is_static || !graph.view().loops.empty()) options.streams = 1;  // as onboard
    return Program(graph.view(), args, chip_, options, halt_);
  }
  Status launch(Program& program) noexcept {
    copy_in_ns_ = pending_in_ns_;
    pending_in_ns_ = 0;
    copy_out_ns_ = 0;
    in_round_ = true;
    last_ = &program;
    return program.launch(halt_);
  }
  Status wait() noexcept { return {}; }
  Status unload(Program& program) noexcept {
    if (last_ == &program) last_ = nullptr;
    return {};
  }

  void copied_in(Bytes bytes) noexcept {
    pending_in_ns_ += costs().copy_in_latency_ns + static_cast<double>(bytes.value) / costs().copy_in_gbps;
  }
  void copied_out(Bytes bytes) noexcept {
    if (in_round_)
      copy_out_ns_ += costs().copy_out_latency_ns + static_cast<double>(bytes.value) / costs().copy_out_gbps;
  }
  void idle() noexcept {
    in_round_ = false;
    pending_in_ns_ = 0;  // copies of an upload, or of a round that was cancelled
  }

  /// The prediction for the last round that was launched; empty before the first.
  [[nodiscard]] Prediction prediction() const noexcept {
    Prediction p;
    p.chip = chip_.name;
    if (last_ == nullptr) return p;
    p.copy_in_ns = copy_in_ns_;
    p.launch_ns = costs().launch_ns;
    p.complete_ns = costs().complete_ns;
    p.copy_out_ns = copy_out_ns_;
    last_->describe(p);
    return p;
  }
  /// The predicted duration of the last round's run phase.
  [[nodiscard]] double last_round_ns() const noexcept { return prediction().run_ns; }
  [[nodiscard]] const arch::Costs& costs() const noexcept { return chip_.costs; }

  [[nodiscard]] const Error::Text& failure_text() const noexcept { return halt_.text(); }
  void request_stop() noexcept { halt_.request_stop(); }
  void keep_awake(bool) noexcept {}

 private:
  Options options_;
  arch::Chip chip_;
  Halt halt_;
  const Program* last_ = nullptr;
  bool in_round_ = false;
  double pending_in_ns_ = 0;
  double copy_in_ns_ = 0;
  double copy_out_ns_ = 0;
};

}  // namespace rondo::platform::sim

namespace rondo {
using platform::sim::Model;
}
