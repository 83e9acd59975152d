// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/detail/owned_array.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/sim/failure.hpp>
#include <rondo/platform/sim/ticket_queue.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

namespace rondo::platform::sim {

/// Persistent host threads as the cores of the chip: cube tasks run on cube threads, vector tasks on vector threads, as
/// soon as all they depend on is done. Threads start when a program is loaded and sleep between rounds.
///
/// Errors: load throws Error invalid_argument if a core type that the graph needs has no thread, out_of_resources if a
/// thread cannot be started. A kernel that throws fails the round with kernel_failed; the tasks behind it still run.
/// Cost per round: no allocation, no lock; counters restore themselves; a system call per thread that has to be woken.
class Pool {
 public:
  static constexpr const char* name = "pool";

  /// One block of the chip by default: a cube core and two vector cores.
  struct Options {
    std::uint32_t cube_threads = 1;
    std::uint32_t vector_threads = 2;
  };

  /// The graph as flat arrays, and the threads that run it.
  class Program {
   public:
    Program(const graph::GraphView& graph, const args::ArgsTable& args, const Options& options);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program() { stop(); }

    void launch() noexcept;
    void wait() noexcept;
    void stop() noexcept;

    /// The status of the last round that was waited for.
    [[nodiscard]] Status status() const noexcept {
      return failed_.load(std::memory_order_relaxed) ? kernel_failed(failed_task_) : Status{};
    }
    [[nodiscard]] const Error::Text& failure_text() const noexcept { return failure_; }

   private:
    struct Item {
      KernelEntry entry;
      ArgWord* args;
      std::uint32_t task;  ///< position
    };
    struct Task {
      std::atomic<std::uint32_t> waiting;      ///< predecessors not done yet; restored by whoever brings it to 0
      std::atomic<std::uint32_t> blocks_left;  ///< restored by whoever brings it to 0
      std::uint32_t predecessors;
      std::uint32_t blocks;
      std::uint32_t first_item;
      std::uint32_t added_as;
      CoreType core;
      std::span<const std::uint32_t> successors;  ///< points into the frozen graph
    };
    static constexpr std::uint32_t stop_item = 0x7FFF'FFF0;

    [[nodiscard]] TicketQueue& queue(CoreType core) noexcept { return core == CoreType::cube ? cube_ : vector_; }
    static std::size_t items_for(const graph::GraphView& graph, CoreType core) noexcept;
    void work(TicketQueue& queue) noexcept;
    void run(const Item& item) noexcept;
    void publish(std::uint32_t task) noexcept;
    void finish_block(std::uint32_t task) noexcept;
    void start_threads(CoreType core, std::uint32_t count, const graph::GraphView& graph);

    detail::OwnedArray<Item> items_;
    detail::OwnedArray<Task> tasks_;
    detail::OwnedArray<std::uint32_t> roots_;
    std::uint32_t sinks_ = 0;
    TicketQueue cube_;
    TicketQueue vector_;
    std::uint32_t launched_ = 0;
    alignas(64) std::atomic<std::uint32_t> sinks_left_{0};
    alignas(64) std::atomic<std::uint32_t> finished_{0};
    std::atomic<bool> failed_{false};
    std::uint32_t failed_task_ = 0;
    Error::Text failure_;
    std::vector<std::thread> cube_threads_;
    std::vector<std::thread> vector_threads_;
  };

  explicit Pool(const Options& options) noexcept : options_{options} {}

  template <class Graph>
  [[nodiscard]] Program load(const Graph& graph, args::ArgsTable& args) {
    return Program(graph.view(), args, options_);
  }
  Status launch(Program& program) noexcept {
    running_ = &program;
    program.launch();
    return {};
  }
  Status wait() noexcept {
    if (running_ == nullptr) return {};
    running_->wait();
    return running_->status();
  }
  Status unload(Program& program) noexcept {
    const Status status = wait();
    program.stop();
    return status;
  }
  [[nodiscard]] const Error::Text& failure_text() const noexcept {
    static constexpr Error::Text none;
    return running_ == nullptr ? none : running_->failure_text();
  }

 private:
  Options options_;
  Program* running_ = nullptr;
};

inline std::size_t Pool::Program::items_for(const graph::GraphView& graph, CoreType core) noexcept {
  std::size_t items = 0;
  for (const graph::TaskRecord& task : graph.tasks) items += task.core == core ? task.blocks : 0;
  return items;
}

inline Pool::Program::Program(const graph::GraphView& graph, const args::ArgsTable& args, const Options& options)
    : items_(items_for(graph, CoreType::cube) + items_for(graph, CoreType::vector)),
      tasks_(graph.tasks.size()),
      // Each thread holds one ticket while it waits, so a queue has room for that many more than the items of a round.
      cube_(items_for(graph, CoreType::cube) + options.cube_threads),
      vector_(items_for(graph, CoreType::vector) + options.vector_threads) {
  std::uint32_t item = 0;
  std::vector<std::uint32_t> roots;
  for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
    const graph::TaskRecord& record = graph.tasks[t];
    Task& task = tasks_[t];
    task.predecessors = graph.predecessor_count[t];
    task.waiting.store(task.predecessors, std::memory_order_relaxed);
    task.blocks = record.blocks;
    task.blocks_left.store(record.blocks, std::memory_order_relaxed);
    task.first_item = item;
    task.added_as = record.added_as;
    task.core = record.core;
    task.successors = graph.successors_of(t);
    for (std::uint32_t block = 0; block < record.blocks; ++block, ++item) {
      items_[item] = {record.entry, args.block(t, block), t};
    }
    if (task.predecessors == 0) roots.push_back(t);
    if (task.successors.empty()) ++sinks_;
  }
  roots_ = detail::OwnedArray<std::uint32_t>::copy_of(roots);
  try {
    start_threads(CoreType::cube, options.cube_threads, graph);
    start_threads(CoreType::vector, options.vector_threads, graph);
  } catch (...) {
    stop();
    throw;
  }
}

inline void Pool::Program::start_threads(CoreType core, std::uint32_t count, const graph::GraphView& graph) {
  if (items_for(graph, core) == 0) return;
  if (count == 0) {
    throw Error(Errc::invalid_argument, Error::Text("the graph has ", to_string(core),
                                                    " tasks, but the pool was given no thread for them; give it one"));
  }
  auto& threads = core == CoreType::cube ? cube_threads_ : vector_threads_;
  threads.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    try {
      threads.emplace_back([this, core] { work(queue(core)); });
    } catch (const std::system_error& e) {
      throw Error(Errc::out_of_resources,
                  Error::Text("a ", to_string(core), " thread could not be started: ", e.what()));
    }
  }
}

inline void Pool::Program::launch() noexcept {
  if (sinks_ == 0) return;
  ++launched_;
  sinks_left_.store(sinks_, std::memory_order_relaxed);  // published with the roots
  for (const std::uint32_t root : roots_) publish(root);
}

inline void Pool::Program::wait() noexcept {
  for (std::uint32_t seen = finished_.load(std::memory_order_acquire); seen != launched_;
       seen = finished_.load(std::memory_order_acquire)) {
    finished_.wait(seen, std::memory_order_acquire);
  }
}

inline void Pool::Program::stop() noexcept {
  wait();
  // The threads' tickets are the next ones, whichever thread holds which: one stop item for each.
  for (std::size_t i = 0; i < cube_threads_.size(); ++i) cube_.push(stop_item);
  for (std::size_t i = 0; i < vector_threads_.size(); ++i) vector_.push(stop_item);
  for (std::thread& thread : cube_threads_) thread.join();
  for (std::thread& thread : vector_threads_) thread.join();
  cube_threads_.clear();
  vector_threads_.clear();
}

inline void Pool::Program::work(TicketQueue& queue) noexcept {
  for (std::uint32_t item = queue.pop(); item != stop_item; item = queue.pop()) run(items_[item]);
}

inline void Pool::Program::run(const Item& item) noexcept {
  try {
    item.entry(item.args);
  } catch (...) {
    if (!failed_.exchange(true, std::memory_order_relaxed)) {  // the first one tells; read only after wait()
      failed_task_ = tasks_[item.task].added_as;
      failure_ = current_exception_text();
    }
  }
  finish_block(item.task);
}

inline void Pool::Program::publish(std::uint32_t task) noexcept {
  const Task& t = tasks_[task];
  for (std::uint32_t block = 0; block < t.blocks; ++block) queue(t.core).push(t.first_item + block);
}

inline void Pool::Program::finish_block(std::uint32_t task) noexcept {
  Task& done = tasks_[task];
  if (done.blocks > 1) {
    if (done.blocks_left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    done.blocks_left.store(done.blocks, std::memory_order_relaxed);
  }
  for (const std::uint32_t successor : done.successors) {
    Task& next = tasks_[successor];
    if (next.waiting.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    next.waiting.store(next.predecessors, std::memory_order_relaxed);
    publish(successor);
  }
  if (done.successors.empty() && sinks_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    finished_.fetch_add(1, std::memory_order_release);
    finished_.notify_all();
  }
}

}  // namespace rondo::platform::sim
