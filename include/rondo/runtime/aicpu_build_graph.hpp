// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/runtime/orchestrated.hpp>

namespace rondo::runtime {

/// The orchestration states each edge and runs concurrently with the tasks of scopes that have ended. The tasks of a
/// scope are published together at its end; tasks outside of any scope are published at the end of the orchestration.
/// Intermediates come from one ring, and their memory is reused once their scope has ended and its tasks are done.
///
///     auto session = rondo::open<rondo::A2A3SimOn<rondo::Pool>, MyPolicies>(interface, [=](auto& round) {
///       const auto sum = round.template workspace<float>({1024});
///       const auto add = round.template add<Add>(x, y, sum);
///       const auto scale = round.template add<Scale>(sum, z, 2.0F);
///       round.add_edge(add, scale);
///     });
///
/// A missing edge is not detected. On the Inline engine the tasks of a scope run at its end, in the order in which they
/// were added, except for those that wait for a task of an enclosing scope.
struct AicpuBuildGraph : OrchestratedRuntime<AicpuBuildGraph, 1> {};

}  // namespace rondo::runtime
