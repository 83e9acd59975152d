// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/rondo.hpp>

// What Rondo ships meets its own concepts. Said here, so that nobody who includes Rondo waits for the proof.

namespace rondo {

static_assert(check_platform<NullPlatform>());
static_assert(check_platform<A2A3Sim>() && check_platform<A5Sim>());
static_assert(check_platform<A2A3SimOn<Pool>>() && check_platform<A5SimOn<Pool>>());
static_assert(check_platform<A2A3SimOn<Model>>() && check_platform<A5SimOn<Model>>());
static_assert(check_platform<A2A3SimOn<Checked<Inline>>>() && check_platform<A5SimOn<Checked<Pool>>>());
static_assert(check_platform<A2A3Onboard>() && check_platform<A5Onboard>());
static_assert(platform::sim::KnowsItsChip<Model> && platform::sim::HearsOfCopies<Model>);

static_assert(check_tensor_pair<CopiedPair<float, Direction::in>>());
static_assert(check_tensor_pair<CopiedPair<float, Direction::inout>>());
static_assert(check_tensor_pair<ResidentPair<float>>());
static_assert(check_tensor_pair<WorkspacePair<float>>());
static_assert(check_tensor_pair<DeviceBound<float, Direction::in>>());
static_assert(DeviceBoundPair<DeviceBound<float, Direction::inout>>);

static_assert(check_update_strategy<update::NoUpdate>() && check_update_strategy<update::HostInput>());
static_assert(check_update_strategy<update::ModelIo>() && check_update_strategy<update::FeatureMapAndModelIo>());
static_assert(check_update_strategy<update::InitOnce>() && check_update_strategy<update::Auto>());
static_assert(update::MechanismChoice<update::Always<update::Mechanism::in_place>>);
static_assert(update::MechanismChoice<update::ByCost<>>);

static_assert(launch::check_eviction_policy<launch::Unbounded>() && launch::check_eviction_policy<launch::Lru<1>>());
static_assert(launch::LookupCounts<launch::NoCounts> && launch::LookupCounts<launch::Counts>);
static_assert(launch::KeyHash<launch::FoldedMultiply>);

}  // namespace rondo
