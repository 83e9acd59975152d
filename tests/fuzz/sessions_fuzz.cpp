// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Any bytes as a program: they choose a graph, some of whose tasks may be in a loop, and then calls to one session over
// it or to two at the same time, in any order and in any number. The calls run rounds in each way, bind device memory
// and release it, prebind, hold, upload, change scalars, move the arena, drop a round, fail, stop and close; in
// sessions of many shapes they also change, prepare and reserve those. Each round that succeeds has the results of
// plain arithmetic, a call that is refused changes nothing, a session that was closed or poisoned says so to every
// call, and each session closes. The sessions are on the host, on a simulated chip, and on the stand-ins for an NPU's
// runtime and for the CUDA driver, which end the process for a call that they must not be given; some have rounds in
// flight.
#include <cuda_stand_in/over_cuda_stand_in.hpp>
#include <fuzz/run_program.hpp>
#include <fuzz/session_program.hpp>
#include <fuzz/shaped_program.hpp>
#include <rondo/launch/round_values.hpp>
#include <rondo/platform/host/host.hpp>
#include <rondo/rondo.hpp>
#include <stand_in/over_stand_in.hpp>

using namespace rondo;

namespace {

template <class Session>
using OfGraph = fuzz::SessionUnderTest<Session>;
template <class P, std::size_t depth, class Policies = DefaultPolicies>
using OfShapes = fuzz::ShapedUnderTest<ShapedSession<P, Policies, launch::Lru<3>, depth>>;
struct WithValues : DefaultPolicies {
  using Values = launch::RoundValues<>;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes bytes{data, size};
  switch (bytes.take() % 11) {
    case 0: fuzz::run_program<OfGraph<RoundSession<Host>>>(bytes); break;
    case 1: fuzz::run_program<OfGraph<PipelinedSession<A2A3Sim, 3>>>(bytes); break;
    case 2: fuzz::run_program<OfGraph<RoundSession<A2A3OverStandIn>>>(bytes); break;
    case 3: fuzz::run_program<OfGraph<RoundSession<CudaOverStandIn>>>(bytes); break;
    case 4: fuzz::run_program<OfShapes<A2A3Sim, 3>>(bytes); break;
    case 5: fuzz::run_program<OfShapes<A2A3Sim, 3, WithValues>>(bytes); break;
    case 6: fuzz::run_program<OfShapes<A2A3OverStandIn, 1>>(bytes); break;
    case 7: fuzz::run_program<OfShapes<CudaOverStandIn, 2, WithValues>>(bytes); break;
    case 8: fuzz::run_program<OfGraph<PipelinedSession<A2A3OverStandIn, 2>>>(bytes); break;
    case 9: fuzz::run_program<OfGraph<PipelinedSession<A2A3ThatComputes, 3, WithValues>>>(bytes); break;
    default: fuzz::run_program<OfGraph<PipelinedSession<CudaOverStandIn, 3, WithValues>>>(bytes); break;
  }
  return 0;
}
