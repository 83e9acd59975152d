// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/platform/sim/ready_queue.hpp>
#include <rondo/platform/sim/signal.hpp>
#include <rondo/platform/sim/task_slot.hpp>
#include <rondo/platform/sim/waiting.hpp>
#include <rondo/platform/start_thread.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <thread>
#include <vector>

namespace rondo::platform::sim {

/// Calls the kernels of tasks instead of the stream, to record when each runs.
struct TaskTracer {
  void* self = nullptr;
  /// Calls `task.entry(args)` and passes exceptions on. `number`: the number of the task in its round.
  void (*call)(void* self, const TaskSlot& task, ArgWord* args, std::uint32_t number, std::uint32_t block) = nullptr;
};

/// Cores that run the blocks of tasks in place of worker threads. The orchestrating thread hands the blocks out.
struct TaskCores {
  void* self = nullptr;
  /// Starts a block on a core of the task's type; returns false if none is free.
  bool (*start)(void* self, TaskSlot& task, std::uint32_t block) noexcept = nullptr;
  /// Returns a task one of whose blocks has ended since the last call; null if there is none.
  TaskSlot* (*take_ended)(void* self) noexcept = nullptr;
};

/// The scheduler of the runtimes that build their graph during the round: runs tasks that are added one by one while
/// earlier ones run. If there are worker threads, they run ready tasks; otherwise the orchestrating thread runs the
/// newest ready task when it has to wait.
///
/// Thread safety: only the orchestrating thread calls `ready`, `help`, `quiet`, `begin_round` and `stop`. Threads spin
/// briefly, then yield, then sleep; progress never depends on them, since the orchestrating thread helps until all is
/// done. Errors: the constructor throws Error out_of_resources. The first kernel that throws fails the round: tasks
/// that have not started count as done without being run. Cost per task: one push and one pop, one exchange, one
/// decrement per edge; per round nothing.
class TaskStream {
 public:
  explicit TaskStream(std::uint32_t threads) : queue_{queue_size}, workers_(threads) {
    try {
      for (Worker& worker : workers_) {
        worker.thread = start_thread([this, &worker]() noexcept { work(worker); }, "a worker thread");
      }
    } catch (...) {
      stop();
      throw;
    }
  }
  TaskStream(const TaskStream&) = delete;
  TaskStream& operator=(const TaskStream&) = delete;
  ~TaskStream() { stop(); }

  [[nodiscard]] bool threaded() const noexcept { return !workers_.empty(); }

  /// From the next round on, the tracer calls the kernels. It must outlive the stream.
  void trace(const TaskTracer& tracer) noexcept {
    tracer_ = tracer;
    running_mode_ = Mode::traced;
  }

  /// From the next round on, these cores run the tasks, and this thread, which has no worker threads, hands them out.
  void use_cores(const TaskCores& cores) noexcept { cores_ = cores; }

  /// From the next round on, a stop that is requested from `halt` ends the round.
  void stop_with(const Halt& halt) noexcept { halt_ = &halt; }

  /// Begins a round, whose tasks are numbered from `first` on.
  void begin_round(std::uint64_t first) noexcept {
    first_ = first;
    mode_.store(running_mode_, std::memory_order_relaxed);
    is_recorded_.store(false, std::memory_order_relaxed);
    status_ = {};
  }

  /// Adds a task whose predecessors are all done.
  void ready(TaskSlot& task) noexcept {
    if (!threaded()) {
      if (cores_.self != nullptr) [[unlikely]]
        return queue_for_core(task);
      task.next_ready = ready_list_;
      ready_list_ = &task;
    } else if (queue_.push(&task)) {
      wake_a_sleeper();
    } else {
      execute(task);
    }
  }

  /// Runs one ready task, and tasks that become ready through it; returns false if there was none.
  bool help() noexcept {
    TaskSlot* task = nullptr;
    if (!threaded()) {
      if (cores_.self != nullptr) [[unlikely]]
        return serve_cores();
      task = ready_list_;
      if (task != nullptr) ready_list_ = task->next_ready;
    } else {
      task = queue_.pop();
    }
    if (task == nullptr) return false;
    execute(*task);
    return true;
  }

  /// Runs a task at once without regard to its predecessors, for runtimes without threads, which know the order.
  void run_now(TaskSlot& task) noexcept {
    for (std::uint32_t block = 0; block < task.blocks; ++block) run_block(task, block);
    task.fan_out.store(TaskSlot::sealed(), std::memory_order_release);
  }

  /// Whether nothing runs and nothing is ready. This remains true until `ready` is called: only a running task could
  /// change it. A worker marks itself busy before it looks for a task, so no task can be in flight unseen between two
  /// reads of an unchanged queue.
  [[nodiscard]] bool quiet() const noexcept {
    if (!threaded()) return ready_list_ == nullptr && is_quiet_on_cores();
    const std::uint64_t popped = queue_.popped();  // model: stream.popped
    if (queue_.pushed() != popped) return false;   // model: stream.pushed
    for (const Worker& worker : workers_) {
      if (worker.busy.load(std::memory_order_seq_cst)) return false;  // model: stream.busy
    }
    return queue_.popped() == popped && queue_.pushed() == popped;  // model: stream.again
  }

  /// Records a failure; the first of a round counts. From any thread.
  [[gnu::cold]] void fail(Status status, const Error::Text& text) noexcept {
    mode_.store(Mode::failed, std::memory_order_relaxed);
    if (is_recorded_.exchange(true, std::memory_order_acq_rel)) return;
    status_ = status;
    failure_ = text;
  }
  /// Records that a task has failed.
  [[gnu::cold]] void fail_task(const TaskSlot& task, Errc code, const Error::Text& why) noexcept {
    const auto index = static_cast<std::uint32_t>(task.number - first_);
    fail(Status::of_task(code, index).poisoning(),
         Error::Text{"task ", index, " '", std::string_view{task.name, task.name_size}, "': ", why});
  }
  /// Starts no further task in this round; the caller makes the round fail.
  void abandon() noexcept { mode_.store(Mode::failed, std::memory_order_relaxed); }
  /// Whether the round has failed, or fails now because a stop was requested. Only the orchestrating thread calls it.
  [[nodiscard]] bool ends_early() noexcept {
    if (failed()) return true;
    if (halt_ == nullptr || !halt_->is_stop_requested()) [[likely]]
      return false;
    fail(Status{Errc::stopped}.poisoning(), {});
    return true;
  }
  [[nodiscard]] bool failed() const noexcept { return mode_.load(std::memory_order_relaxed) == Mode::failed; }
  /// The status of the round, once all its tasks are done.
  [[nodiscard]] Status status() const noexcept { return status_; }
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return failure_; }

  /// Ends the threads; no task may be running.
  void stop() noexcept {
    stopping_.store(true, std::memory_order_release);  // model: stream.stop
    wake_.fetch_add(1, std::memory_order_release);
    wake_.notify_all();  // model: stream.wake_all
    for (Worker& worker : workers_) {
      if (worker.thread.joinable()) worker.thread.join();
    }
  }

  /// Waits briefly: longer after each consecutive call, until it yields the core to another thread.
  static void back_off(std::uint32_t& times) noexcept {
    if (++times < spins) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }

 private:
  /// How kernels are called. It is one word, so that tracing costs nothing when it is off.
  enum class Mode : std::uint8_t { plain, traced, failed };
  static constexpr std::size_t queue_size = 1024;
  static constexpr std::uint32_t spins = 128;
  static constexpr std::uint32_t yields = 64;

  struct alignas(64) Worker {
    std::atomic<bool> busy{false};
    std::thread thread;
  };

  void work(Worker& self) noexcept {
    bool busy = false;
    for (std::uint32_t idle = 0;;) {
      if (!busy) self.busy.store(busy = true, std::memory_order_seq_cst);  // model: stream.mark_busy
      if (TaskSlot* const task = queue_.pop(); task != nullptr) {
        execute(*task);
        idle = 0;
        continue;
      }
      self.busy.store(busy = false, std::memory_order_seq_cst);  // model: stream.mark_idle
      if (stopping_.load(std::memory_order_acquire)) return;     // model: stream.leave
      if (idle < spins + yields) {
        back_off(idle);
      } else {
        sleep();
        idle = 0;
      }
    }
  }

  void sleep() noexcept {
    sleepers_.fetch_add(1, std::memory_order_seq_cst);                                      // model: stream.count
    const std::uint32_t seen = wake_.load(std::memory_order_seq_cst);                       // model: stream.read_wake
    if (queue_.popped() != queue_.pushed() || stopping_.load(std::memory_order_seq_cst)) {  // model: stream.last_look
      (void)claim_sleeper();
    } else {
      wake_.wait(seen, std::memory_order_acquire);  // model: stream.sleep
    }
  }
  /// Decrements the count of sleepers, so that a sleeper is woken only once.
  bool claim_sleeper() noexcept {
    std::uint32_t sleepers = sleepers_.load(std::memory_order_relaxed);
    while (sleepers != 0) {
      // model: stream.claim_sleeper
      if (sleepers_.compare_exchange_weak(sleepers, sleepers - 1, std::memory_order_relaxed)) return true;
    }
    return false;
  }
  void wake_a_sleeper() noexcept {
    if (sleepers_.load(std::memory_order_relaxed) == 0) [[likely]]
      return;
    if (claim_sleeper()) {
      wake_.fetch_add(1, std::memory_order_release);
      wake_.notify_one();  // model: stream.wake
    }
  }

  void run_block(TaskSlot& task, std::uint32_t block) noexcept {
    const Mode mode = mode_.load(std::memory_order_relaxed);
    if (mode == Mode::failed) [[unlikely]]
      return;
    ArgWord* const args = task.args + std::size_t{block} * task.words;
    try {
      if (mode != Mode::plain) [[unlikely]] {
        tracer_.call(tracer_.self, task, args, static_cast<std::uint32_t>(task.number - first_), block);
      } else {
        task.entry(args);
      }
    } catch (...) {
      fail_task(task, Errc::kernel_failed, current_exception_text());
    }
  }

  /// Runs a task and its successors: this thread runs the first successor that becomes ready, whose inputs are in its
  /// cache; the others are queued.
  void execute(TaskSlot& first) noexcept {
    TaskSlot* mine = &first;
    first.next_ready = nullptr;
    while (mine != nullptr) {
      TaskSlot& task = *mine;
      mine = task.next_ready;
      if (task.blocks != 1) {
        // One thread at a time holds a task of many blocks; it takes a block and passes the task on.
        const std::uint32_t block = task.next_block.fetch_add(1, std::memory_order_acq_rel);
        if (block + 1 < task.blocks) hand_out(task, mine);
        run_block(task, block);
        if (task.blocks_left.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      } else {
        run_block(task, 0);
      }
      FanOut* edge = task.fan_out.exchange(TaskSlot::sealed(), std::memory_order_acq_rel);
      while (edge != nullptr) {
        TaskSlot& next = *edge->consumer;
        edge = edge->next;
        if (next.waiting.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
        if (mine == nullptr) {
          next.next_ready = nullptr;
          mine = &next;
        } else {
          hand_out(next, mine);
        }
      }
    }
  }
  void hand_out(TaskSlot& task, TaskSlot*& mine) noexcept {
    if (threaded() && queue_.push(&task)) {
      wake_a_sleeper();
    } else {
      task.next_ready = mine;
      mine = &task;
    }
  }

  /// Tasks that are ready, the oldest first, each until its last block has started.
  struct CoreQueue {
    TaskSlot* first = nullptr;
    TaskSlot* last = nullptr;
  };

  [[gnu::noinline]] void queue_for_core(TaskSlot& task) noexcept {
    enqueue(task);
    if (!start_blocks()) (void)serve_cores();
  }
  void enqueue(TaskSlot& task) noexcept {
    CoreQueue& queue = for_cores_[static_cast<std::size_t>(task.core)];
    task.next_ready = nullptr;
    task.next_block.store(0, std::memory_order_relaxed);
    (queue.first == nullptr ? queue.first : queue.last->next_ready) = &task;
    queue.last = &task;
  }
  /// Takes the blocks that have ended, and starts others. Returns whether any has ended.
  bool serve_cores() noexcept {
    bool any = false;
    while (TaskSlot* const task = cores_.take_ended(cores_.self)) {
      any = true;
      --blocks_on_cores_;
      end_blocks(*task, 1);
    }
    (void)start_blocks();
    return any;
  }
  /// Starts blocks as long as cores are free; returns false if tasks are left.
  bool start_blocks() noexcept {
    while (start_first(for_cores_[0]) || start_first(for_cores_[1])) {
    }
    return for_cores_[0].first == nullptr && for_cores_[1].first == nullptr;
  }
  /// Starts the blocks of the oldest task; after a failure they end at once, and other tasks may become ready. Returns
  /// false if there is no task, or if a block waits for a core.
  bool start_first(CoreQueue& queue) noexcept {
    if (queue.first == nullptr) return false;
    TaskSlot& task = *queue.first;
    std::uint32_t block = task.next_block.load(std::memory_order_relaxed);
    for (; block < task.blocks && !failed(); ++block, ++blocks_on_cores_) {
      task.next_block.store(block, std::memory_order_relaxed);
      if (!cores_.start(cores_.self, task, block)) return false;
    }
    queue.first = task.next_ready;
    if (block != task.blocks) end_blocks(task, task.blocks - block);
    return true;
  }
  void end_blocks(TaskSlot& task, std::uint32_t count) noexcept {
    if (task.blocks != 1 && task.blocks_left.fetch_sub(count, std::memory_order_relaxed) != count) return;
    FanOut* edge = task.fan_out.exchange(TaskSlot::sealed(), std::memory_order_acq_rel);
    while (edge != nullptr) {
      TaskSlot& next = *edge->consumer;
      edge = edge->next;
      if (next.waiting.fetch_sub(1, std::memory_order_relaxed) == 1) enqueue(next);
    }
  }
  [[nodiscard]] bool is_quiet_on_cores() const noexcept {
    return blocks_on_cores_ == 0 && for_cores_[0].first == nullptr && for_cores_[1].first == nullptr;
  }

  ReadyQueue<TaskSlot> queue_;
  std::vector<Worker> workers_;
  TaskSlot* ready_list_ = nullptr;
  std::uint64_t first_ = 0;
  Status status_;
  Error::Text failure_;
  const Halt* halt_ = nullptr;
  TaskTracer tracer_;
  TaskCores cores_;
  CoreQueue for_cores_[core_type_count];
  std::uint32_t blocks_on_cores_ = 0;
  Mode running_mode_ = Mode::plain;  ///< the mode in a round that has not failed
  alignas(64) std::atomic<Mode> mode_{Mode::plain};
  std::atomic<bool> is_recorded_{false};
  std::atomic<bool> stopping_{false};
  alignas(64) std::atomic<std::uint32_t> sleepers_{0};
  Signal wake_{0};
};

}  // namespace rondo::platform::sim
