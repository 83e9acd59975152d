// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/sim.hpp>

/// The platforms by name. Programs that use the engine Pool include platform/sim/pool.hpp; the onboard platforms are in
/// platform/onboard/onboard.hpp, the host in platform/host/host.hpp and CUDA devices in platform/cuda/cuda.hpp. This
/// header includes the one of these that the build selects.

#ifndef RONDO_PLATFORM
#define RONDO_PLATFORM a2a3_sim
#endif

#define RONDO_SELECTS_a2a3_onboard 1
#define RONDO_SELECTS_a5_onboard 1
#define RONDO_JOIN_NAMES(a, b) a##b
#define RONDO_SELECTS_host 2
#define RONDO_SELECTS_cuda 3
#define RONDO_SELECTS(name) RONDO_JOIN_NAMES(RONDO_SELECTS_, name)
#if RONDO_SELECTS(RONDO_PLATFORM) == 1
#include <rondo/platform/onboard/onboard.hpp>
#elif RONDO_SELECTS(RONDO_PLATFORM) == 2
#include <rondo/platform/host/host.hpp>
#elif RONDO_SELECTS(RONDO_PLATFORM) == 3
#include <rondo/platform/cuda/cuda.hpp>
#endif
#undef RONDO_SELECTS_a2a3_onboard
#undef RONDO_SELECTS_a5_onboard
#undef RONDO_SELECTS_host
#undef RONDO_SELECTS_cuda
#undef RONDO_JOIN_NAMES
#undef RONDO_SELECTS

namespace rondo {

namespace platform {
namespace streams {
struct NoRoundEvents;
}
template <arch::Arch A, class RoundEvents>
class Onboard;
template <class E>
class Host;
template <class RoundEvents>
class Cuda;
namespace sim {
class Pool;
}
}  // namespace platform

using platform::sim::Inline;
using platform::sim::Pool;

/// The simulated chips, on the engine of your choice: `A2A3SimOn<Pool>`.
template <class Engine, class Traffic = platform::sim::NoTraffic>
using A2A3SimOn = platform::Sim<arch::A2A3, Engine, Traffic>;
/// As A2A3SimOn, for the chip a5.
template <class Engine, class Traffic = platform::sim::NoTraffic>
using A5SimOn = platform::Sim<arch::A5, Engine, Traffic>;

/// The simulated chip a2a3 on the calling thread.
using A2A3Sim = A2A3SimOn<Inline>;
/// The simulated chip a5 on the calling thread.
using A5Sim = A5SimOn<Inline>;

/// A real a2a3.
using A2A3Onboard = platform::Onboard<arch::A2A3, platform::streams::NoRoundEvents>;
/// A real a5.
using A5Onboard = platform::Onboard<arch::A5, platform::streams::NoRoundEvents>;

/// A GPU through the CUDA driver.
using Cuda = platform::Cuda<platform::streams::NoRoundEvents>;

namespace platform {

// The build system sets the macro RONDO_PLATFORM to one of these names, without quotes. The name is looked up as a
// member, so no other header uses the macro.
/// The platforms under the names used in the build configuration.
struct Names {
  using a2a3_sim = A2A3Sim;
  using a5_sim = A5Sim;
  using a2a3_onboard = A2A3Onboard;
  using a5_onboard = A5Onboard;
  using host = platform::Host<sim::Inline>;
  using cuda = rondo::Cuda;
};

}  // namespace platform

/// The platform that the build was configured for: RONDO_PLATFORM = a2a3_sim (the default), a5_sim, a2a3_onboard,
/// a5_onboard, host or cuda.
using SelectedPlatform = platform::Names::RONDO_PLATFORM;

}  // namespace rondo
