// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

// What Rondo ships meets its own concepts. Said here, so that including Rondo does not wait for the proof.

namespace rondo {

static_assert(check_platform<NullPlatform>());
static_assert(check_platform<A2A3Sim>() && check_platform<A5Sim>());
static_assert(check_platform<A2A3SimOn<Pool>>() && check_platform<A5SimOn<Pool>>());
static_assert(check_platform<A2A3SimOn<Model>>() && check_platform<A5SimOn<Model>>());
static_assert(check_platform<A2A3SimOn<Checked<Inline>>>() && check_platform<A5SimOn<Checked<Pool>>>());
static_assert(check_platform<A2A3Onboard>() && check_platform<A5Onboard>());
static_assert(HasQueue<A2A3Sim> && HasQueuedOrchestration<A5SimOn<Pool>> && HasQueue<A5Onboard>);
static_assert(HasOrchestration<A5Onboard> && !HasQueuedOrchestration<A5Onboard>);
static_assert(!HasQueue<A2A3SimOn<Checked<Pool>>> && !HasQueue<A5SimOn<Model>> && !HasQueue<NullPlatform>);
static_assert(HasArgsInHostMemory<NullPlatform> && HasArgsInHostMemory<A5Sim> && !HasArgsInHostMemory<A5Onboard>);
static_assert(HasDeviceRefresh<A5Sim> && HasLaunchRefresh<A5Sim> && HasDeviceRefresh<A5Onboard>);
static_assert(HasSnapshotCopy<A5Sim> && HasPinnedMemory<A5Sim> && HasZeroFill<A5Sim> && HasStopping<A5Sim>);
static_assert(HasSnapshotCopy<A5Onboard> && HasPinnedMemory<A5Onboard> && HasZeroFill<A5Onboard>);
static_assert(HasStayingAwake<A5Sim> && HasFailureText<A5Sim> && HasEngine<A5Sim> && HasFailureText<A5Onboard>);
static_assert(HasClose<A5Onboard> && !HasClose<A5Sim> && HasArenaMove<A5Onboard> && !HasArenaMove<A5Sim>);
static_assert(HasRemarks<A5SimOn<Pool>> && !HasRemarks<A5Sim> && HasRemarks<A5Onboard>);
static_assert(HasRoundTime<A5SimOn<Model>> && !HasRoundTime<A5Onboard> && HasRoundTime<A5Onboard::Timed>);
static_assert(HasHoldings<A5Onboard> && HasHoldings<A5Sim> && !HasHoldings<NullPlatform> && HasLanes<A5Onboard>);
static_assert(HasMemoryKinds<A5Onboard> && HasMemoryKinds<A5Sim> && !HasMemoryKinds<NullPlatform>);
static_assert(HasDeviceCopy<A5Onboard> && HasDeviceCopy<A5Sim> && !HasDeviceCopy<NullPlatform>);
static_assert(HasLoops<A5Onboard> && HostMayDecideLoops<A5Onboard> && HasLoops<A5Sim> && !HostMayDecideLoops<A5Sim>);
static_assert(platform::sim::Engine<Inline> && platform::sim::Engine<Pool> && platform::sim::Engine<Checked<Pool>>);
static_assert(platform::sim::LooksAtGraphs<Checked<Pool>> && platform::sim::CountsThreads<Pool>);
static_assert(platform::sim::HearsOfCopies<Model>);

static_assert(check_tensor_pair<CopiedPair<float, Direction::in>>());
static_assert(check_tensor_pair<CopiedPair<float, Direction::inout>>());
static_assert(check_tensor_pair<DevicePair<float, rondo::Direction::resident>>());
static_assert(check_tensor_pair<DevicePair<float, rondo::Direction::workspace>>());
static_assert(check_tensor_pair<DeviceBound<float, Direction::in>>());
static_assert(DeviceBoundPair<DeviceBound<float, Direction::inout>>);

static_assert(check_update_strategy<update::NoUpdate>() && check_update_strategy<update::HostInput>());
static_assert(check_update_strategy<update::ModelIo>() && check_update_strategy<update::FeatureMapAndModelIo>());
static_assert(check_update_strategy<update::InitOnce>() && check_update_strategy<update::Auto>());
static_assert(update::MechanismChoice<update::Always<update::Mechanism::in_place>>);
static_assert(update::MechanismChoice<update::ByCost<>>);

}  // namespace rondo
