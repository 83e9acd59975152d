// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/runtime/orchestrated.hpp>

namespace rondo::runtime {

/// The orchestration runs at the same time as the tasks of scopes that have ended; it states each edge. The tasks of a
/// scope are published together when it ends, those of the round itself when the orchestration does. Intermediates come
/// from one heap ring, and their memory is used again when their scope has ended and the tasks in it are done.
///
///     auto session = rondo::open<rondo::A2A3SimOn<rondo::Pool>, MyPolicies>(interface, [=](auto& round) {
///       const auto sum = round.template workspace<float>({1024});
///       const auto add = round.template add<Add>(x, y, sum);
///       const auto scale = round.template add<Scale>(sum, z, 2.0F);
///       round.add_edge(add, scale);
///     });
///
/// A missing edge is not found. On the Inline engine the tasks of a scope run when it ends, in the order in which they
/// were added but for those that wait for a task of a scope around it.
struct AicpuBuildGraph : OrchestratedRuntime<AicpuBuildGraph, 1> {};

}  // namespace rondo::runtime
