// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/artifact.hpp>
#include <rondo/measure/callable.hpp>
#include <rondo/measure/concepts.hpp>
#include <rondo/measure/detail/fork_server.hpp>
#include <rondo/measure/detail/wire.hpp>
#include <rondo/measure/trial.hpp>
#include <rondo/measure/worker_pool.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rondo::measure {

/// The number of candidates at a time, the runs of each, and their time limit.
struct LocalRunnerOptions {
  std::size_t devices = 1;  ///< each runs one candidate at a time
  double time_limit = 10;   ///< seconds for one candidate, from the start of its turn
  Repetition repetition = {};
  /// The number of candidates that one process runs before it is replaced. With 1, no candidate can corrupt the memory
  /// of the next; with more, they share the cost of starting the process and of opening its device. A process whose
  /// candidate leaves other processes running is replaced at once.
  std::size_t candidates_per_process = 1;
  std::size_t output_bytes = 4096;  ///< the part of a candidate's output that is kept, and shown if it fails
};

/// Runs compiled candidates, each according to a workload, in separate processes.
///
///     LocalRunner runner([&](Trial& trial) { … see Trial … }, {.repetition = {.repeat = 5}});
///
/// A candidate may crash, hang, flood its output, exit, or fork: it is killed with all processes that it started, at
/// the time limit or at the end of its turn, and the next candidate gets an intact process. Its output is shown only if
/// it fails.
/// Lifetime: the constructor forks the process that starts the others. That process and the workload have a copy of the
/// program's memory at that time, so make data that workloads share (inputs, references) before; files that were open
/// are closed there. Construct the runner before this program opens a real device, and before threads that might hold a
/// lock at that moment; the library's own pools do not. All processes end with this object, or when the program ends in
/// any way. The destructor kills running processes.
/// Thread safety: submit_run from any thread.
/// Errors: run (crash, exit, exception), run_timeout, wrong_answer, instantiation, device; unknown if a process was
/// killed from outside. An input or a result above 64 MiB is a fault of instantiation.
class LocalRunner {
 public:
  using Artifact = SharedObject;
  using Options = LocalRunnerOptions;
  /// Called in the worker process once for each candidate.
  using Workload = std::function<void(Trial&)>;

  /// @throws Error out_of_resources if no process or thread can be started
  explicit LocalRunner(Workload workload, Options options = {})
      : options_{options},
        server_{[workload = std::move(workload), repetition = options_.repetition](int connection) {
          serve(connection, workload, repetition);
        }},
        slots_(options_.devices),
        pool_{options_.devices, [this](Job job, std::size_t device) { work(std::move(job), device); },
              detail::drop_run} {}
  LocalRunner(const LocalRunner&) = delete;
  LocalRunner& operator=(const LocalRunner&) = delete;
  ~LocalRunner() { ending_.store(true, std::memory_order_relaxed); }

  void submit_run(SharedObject artifact, OnMeasured on_measured) {
    pool_.submit({std::move(artifact), std::move(on_measured)});
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return options_.devices + 1; }

 private:
  struct Job {
    std::optional<SharedObject> artifact;
    OnMeasured on_measured;
  };
  /// A job that is ready for a device.
  struct Slot {
    std::optional<detail::ForkServer::Worker> worker;
    std::size_t used = 0;
  };
  enum class Ended { answered, out_of_time, gone, garbage, told_to_end };

  static void serve(int connection, const Workload& workload, const Repetition& repetition);
  void work(Job job, std::size_t device) noexcept;
  [[nodiscard]] Measured run(Slot& slot, const SharedObject& artifact, std::size_t device);
  [[nodiscard]] Ended exchange(const detail::ForkServer::Worker& worker, const std::string& request,
                               detail::BoundedText& output, Measured& measured, bool& is_last) const;
  [[nodiscard]] Measured verdict(Ended ended, std::optional<int> status) const;

  Options options_;
  std::atomic<bool> ending_{false};
  detail::ForkServer server_;
  std::vector<Slot> slots_;
  WorkerPool<Job> pool_;  // declared last, since its threads use all members above
};

static_assert(check_runner<LocalRunner>());

}  // namespace rondo::measure

#include <rondo/measure/local_runner_impl.hpp>  // IWYU pragma: export
