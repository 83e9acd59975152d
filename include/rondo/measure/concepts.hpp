// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/result.hpp>

#include <concepts>
#include <cstddef>
#include <utility>

/// The parts of a ProgramMeasurer: a Builder, which turns inputs into artifacts, and a Runner, which turns artifacts
/// into times. Both are asynchronous: a job is handed in with what to call when it is done.
namespace rondo::measure {

/// Its input: a movable type `Input`.
template <class B>
concept HasBuildInput = std::movable<typename B::Input>;

/// Its output: a movable type `Artifact`, which releases what it holds when it is destroyed.
template <class B>
concept HasBuildArtifact = std::movable<typename B::Artifact>;

/// Taking a job: `void submit_build(Input, OnBuilt<Artifact>)`.
template <class B>
concept HasSubmitBuild = requires(B& b, typename B::Input input, OnBuilt<typename B::Artifact> on_built) {
  b.submit_build(std::move(input), std::move(on_built));
};

/// The number of jobs that it can use at once, running and ready: `std::size_t capacity() const`.
template <class T>
concept HasCapacity = requires(const T& t) {
  { t.capacity() } -> std::convertible_to<std::size_t>;
};

/// Builds candidates. Requires the four parts above.
///
/// What the concept cannot check but the rules demand, of a builder and in the same way of a runner:
/// 1. For each job that it took it calls on_built exactly once, whatever happens: on any thread, also from within
///    submit_build, and with Fault::stopped for what was left when it was destroyed. If submit_build throws, it did not
///    take the job.
/// 2. It never holds a lock of its own during that call: the callback may submit more.
/// 3. submit_build may be called by several threads at once. It does not wait for other jobs.
/// 4. What it needs to work, threads and processes, it owns from its construction to its destruction; the destructor
///    returns when every call has returned.
/// 5. Times exclude waiting for a turn, and so do time limits.
template <class B>
concept Builder = HasBuildInput<B> && HasBuildArtifact<B> && HasSubmitBuild<B> && HasCapacity<B>;

/// Its input: a movable type `Artifact`.
template <class R>
concept HasRunArtifact = std::movable<typename R::Artifact>;

/// Taking a job: `void submit_run(Artifact, OnMeasured)`.
template <class R>
concept HasSubmitRun = requires(R& r, typename R::Artifact artifact, OnMeasured on_measured) {
  r.submit_run(std::move(artifact), std::move(on_measured));
};

/// Runs artifacts and measures them. Requires the two parts above and a capacity; the rules are those of Builder, and
/// 6. it runs one artifact on a device at a time, and drops the artifact before it calls on_measured.
template <class R>
concept Runner = HasRunArtifact<R> && HasSubmitRun<R> && HasCapacity<R>;

/// Explains, part by part, what B lacks to be a Builder. Use: `static_assert(check_builder<MyBuilder>());`
template <class B>
consteval bool check_builder() {
  static_assert(HasBuildInput<B>, "rondo: the builder does not say what it builds from; write `using Input = ...;`");
  static_assert(HasBuildArtifact<B>, "rondo: the builder does not say what it builds; write `using Artifact = ...;`");
  if constexpr (HasBuildInput<B> && HasBuildArtifact<B>) {
    static_assert(HasSubmitBuild<B>,
                  "rondo: the builder takes no job; write `void submit_build(Input, "
                  "rondo::measure::OnBuilt<Artifact>);`");
  }
  static_assert(HasCapacity<B>,
                "rondo: the builder does not say how many jobs it can use; write `std::size_t capacity() const;`");
  return Builder<B>;
}

/// Explains, part by part, what R lacks to be a Runner.
template <class R>
consteval bool check_runner() {
  static_assert(HasRunArtifact<R>, "rondo: the runner does not say what it runs; write `using Artifact = ...;`");
  if constexpr (HasRunArtifact<R>) {
    static_assert(HasSubmitRun<R>,
                  "rondo: the runner takes no job; write `void submit_run(Artifact, rondo::measure::OnMeasured);`");
  }
  static_assert(HasCapacity<R>,
                "rondo: the runner does not say how many jobs it can use; write `std::size_t capacity() const;`");
  return Runner<R>;
}

/// Whether R can run what B builds.
template <class R, class B>
concept RunsWhatIsBuiltBy =
    Builder<B> && Runner<R> && std::constructible_from<typename R::Artifact, typename B::Artifact>;

}  // namespace rondo::measure
