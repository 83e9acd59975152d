// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/concepts.hpp>

#include <cstddef>

// Near misses of a Builder and a Runner: each is one but for one thing, and fails in precisely the part that asks for
// it.

namespace {

using namespace rondo::measure;

struct Complete {
  using Input = int;
  using Artifact = long;
  void submit_build(int, OnBuilt<long>) {}
  void submit_run(long, OnMeasured) {}
  [[nodiscard]] std::size_t capacity() const { return 1; }
};
static_assert(Builder<Complete> && Runner<Complete>);
static_assert(check_builder<Complete>() && check_runner<Complete>());
static_assert(RunsWhatIsBuiltBy<Complete, Complete>);

struct Pinned {
  Pinned(Pinned&&) = delete;
};

struct InputStays : Complete {
  using Input = Pinned;
};
static_assert(!HasBuildInput<InputStays> && HasBuildArtifact<InputStays> && HasCapacity<InputStays>);
static_assert(!Builder<InputStays> && Runner<InputStays>);

struct ArtifactStays : Complete {
  using Artifact = Pinned;
};
static_assert(HasBuildInput<ArtifactStays> && !HasBuildArtifact<ArtifactStays> && !HasRunArtifact<ArtifactStays>);
static_assert(!Builder<ArtifactStays> && !Runner<ArtifactStays>);

struct TakesNoCallback : Complete {
  void submit_build(int) {}
  void submit_run(long) {}
};
static_assert(!HasSubmitBuild<TakesNoCallback> && !HasSubmitRun<TakesNoCallback> && HasCapacity<TakesNoCallback>);
static_assert(!Builder<TakesNoCallback> && !Runner<TakesNoCallback>);

struct CallbackOfAnotherType : Complete {
  void submit_build(int, OnBuilt<int*>) {}
  void submit_run(long, OnBuilt<long>) {}
};
static_assert(!HasSubmitBuild<CallbackOfAnotherType> && !HasSubmitRun<CallbackOfAnotherType>);

struct CapacityIsNotConst : Complete {
  std::size_t capacity() { return 1; }
};
static_assert(!HasCapacity<CapacityIsNotConst> && HasSubmitBuild<CapacityIsNotConst>);
static_assert(!Builder<CapacityIsNotConst> && !Runner<CapacityIsNotConst>);

struct OfAnotherArtifact : Complete {
  using Artifact = struct Other {};
  void submit_run(Other, OnMeasured) {}
};
static_assert(Runner<OfAnotherArtifact> && !RunsWhatIsBuiltBy<OfAnotherArtifact, Complete>);

}  // namespace
