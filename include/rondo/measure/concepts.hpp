// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/result.hpp>

#include <concepts>
#include <cstddef>
#include <utility>

/// The parts of a ProgramMeasurer: a Builder, which turns inputs into artifacts, and a Runner, which turns artifacts
/// into times. Both are asynchronous: each job is submitted with a callback for its result.
namespace rondo::measure {

/// The input of a builder: a movable type `Input`.
template <class B>
concept HasBuildInput = std::movable<typename B::Input>;

/// The output of a builder: a movable type `Artifact`, whose destructor releases its resources.
template <class B>
concept HasBuildArtifact = std::movable<typename B::Artifact>;

/// Accepting a job: `void submit_build(Input, OnBuilt<Artifact>)`.
template <class B>
concept HasSubmitBuild = requires(B& b, typename B::Input input, OnBuilt<typename B::Artifact> on_built) {
  b.submit_build(std::move(input), std::move(on_built));
};

/// The number of jobs that it can hold at once, running and waiting: `std::size_t capacity() const`.
template <class T>
concept HasCapacity = requires(const T& t) {
  { t.capacity() } -> std::convertible_to<std::size_t>;
};

/// Builds candidates. It needs the four parts above.
///
/// The concept cannot check these rules, which also apply to runners:
/// 1. For each accepted job, it calls on_built exactly once, in every case: on any thread, possibly from within
/// submit_build, and with Fault::stopped for jobs left at its destruction. A submit_build that throws has not accepted
/// the job.
/// 2. It holds no lock of its own during that call, since the callback may submit more.
/// 3. submit_build may be called by several threads at once. It does not wait for other jobs.
/// 4. It owns the threads and processes that it needs from its construction to its destruction; the destructor returns
/// after every call has returned.
/// 5. Times and time limits do not include waiting for a turn.
template <class B>
concept Builder = HasBuildInput<B> && HasBuildArtifact<B> && HasSubmitBuild<B> && HasCapacity<B>;

/// The input of a runner: a movable type `Artifact`.
template <class R>
concept HasRunArtifact = std::movable<typename R::Artifact>;

/// Accepting a job: `void submit_run(Artifact, OnMeasured)`.
template <class R>
concept HasSubmitRun = requires(R& r, typename R::Artifact artifact, OnMeasured on_measured) {
  r.submit_run(std::move(artifact), std::move(on_measured));
};

/// Runs artifacts and measures them. It needs the two parts above and a capacity; the rules are those of Builder, and
/// 6. it runs one artifact at a time on each device, and destroys the artifact before it calls on_measured.
template <class R>
concept Runner = HasRunArtifact<R> && HasSubmitRun<R> && HasCapacity<R>;

/// Names each part that B lacks to be a Builder. Use: `static_assert(check_builder<MyBuilder>());`
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

/// Names each part that R lacks to be a Runner.
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

/// Whether R can run the artifacts of B.
template <class R, class B>
concept RunsWhatIsBuiltBy =
    Builder<B> && Runner<R> && std::constructible_from<typename R::Artifact, typename B::Artifact>;

}  // namespace rondo::measure
