// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/concepts.hpp>
#include <rondo/measure/worker_pool.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A builder and a runner that call your functions in this process, without protection against a crash or a hang.
namespace rondo::measure {

namespace detail {

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point start) noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Calls the callback. Callbacks must not throw; an exception is ignored nevertheless, so that the worker can do its
/// other jobs.
template <class Callback, class Outcome>
void tell(const Callback& callback, Outcome&& outcome) noexcept {
  try {
    callback(std::forward<Outcome>(outcome));
  } catch (...) {  // NOLINT(bugprone-empty-catch): a callback's failure is not the measurement's
  }
}

/// Ends a job of a builder that is gone.
inline constexpr auto drop_build = []<class Job>(Job job) noexcept {
  const auto end = [&]<class A>(const OnBuilt<A>& on_built) {
    tell(on_built, Built<A>{Fault::stopped, text_of("the builder is gone"), {}, 0});
  };
  end(job.on_built);
};
/// Ends a job of a runner that is gone, after it releases the job's artifact.
inline constexpr auto drop_run = []<class Job>(Job job) noexcept {
  job.artifact.reset();
  tell(job.on_measured, Measured{Fault::stopped, text_of("the runner is gone"), {}, {}, 0});
};

}  // namespace detail

/// Builds by calling a function, several calls at a time.
///
///     CallableBuilder<Config, Program> builder(4, [](const Config& c) { return Program(c); });
///
/// Lifetime: the destructor waits for calls that run, and ends all other jobs with Fault::stopped. Thread safety:
/// submit_build() from any thread; callbacks are called on the workers' threads, or on that of the destructor. Errors:
/// an exception from the function is a fault of the candidate: a Failure states the fault, fault_of() converts an
/// Error, anything else is Fault::build. Cost: that of a WorkerPool's job, and two readings of the clock.
template <class I, class A>
class CallableBuilder {
 public:
  using Input = I;
  using Artifact = A;

  /// Starts `workers` threads, which call `build`, also concurrently. @throws Error as WorkerPool does
  CallableBuilder(std::size_t workers, std::function<Artifact(Input&)> build)
      : build_{std::move(build)},
        pool_{workers, [this](Job job, std::size_t) { work(std::move(job)); }, detail::drop_build} {}

  void submit_build(Input input, OnBuilt<Artifact> on_built) { pool_.submit({std::move(input), std::move(on_built)}); }
  [[nodiscard]] std::size_t capacity() const noexcept { return pool_.workers() + 1; }

 private:
  struct Job {
    Input input;
    OnBuilt<Artifact> on_built;
  };

  void work(Job job) noexcept {
    Built<Artifact> outcome;
    const auto start = std::chrono::steady_clock::now();
    try {
      outcome.artifact.emplace(build_(job.input));
    } catch (...) {
      auto [fault, text] = detail::current_fault(Fault::build);
      outcome.fault = fault;
      outcome.text = std::move(text);
    }
    outcome.seconds = detail::seconds_since(start);
    detail::tell(job.on_built, std::move(outcome));
  }

  std::function<Artifact(Input&)> build_;
  WorkerPool<Job> pool_;
};

/// Runs by calling a function that returns the seconds of each repeat, such as time_calls().
///
///     CallableRunner<Program> runner(1, [](Program& p) { return time_calls(Repetition{}, [&] { p.run(); }); });
///
/// Each worker represents one device. Lifetime, thread safety, errors and cost: as for CallableBuilder, but any other
/// exception is Fault::run.
template <class A>
class CallableRunner {
 public:
  using Artifact = A;
  using Times = std::vector<double>;

  CallableRunner(std::size_t workers, std::function<Times(Artifact&)> run)
      : run_{std::move(run)},
        pool_{workers, [this](Job job, std::size_t) { work(std::move(job)); }, detail::drop_run} {}

  void submit_run(Artifact artifact, OnMeasured on_measured) {
    pool_.submit({std::optional<Artifact>{std::move(artifact)}, std::move(on_measured)});
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return pool_.workers() + 1; }

 private:
  struct Job {
    std::optional<Artifact> artifact;
    OnMeasured on_measured;
  };

  void work(Job job) noexcept {
    Measured outcome;
    const auto start = std::chrono::steady_clock::now();
    try {
      outcome.seconds = run_(*job.artifact);
    } catch (...) {
      auto [fault, text] = detail::current_fault(Fault::run);
      outcome.fault = fault;
      outcome.text = std::move(text);
    }
    outcome.run_seconds = detail::seconds_since(start);
    job.artifact.reset();
    detail::tell(job.on_measured, std::move(outcome));
  }

  std::function<Times(Artifact&)> run_;
  WorkerPool<Job> pool_;
};

static_assert(check_builder<CallableBuilder<int, int>>() && check_runner<CallableRunner<int>>());

}  // namespace rondo::measure
