// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/runtime/orchestrated.hpp>

namespace rondo::runtime {

/// The orchestration runs concurrently with the tasks it adds. A task starts as soon as all tasks are done that wrote
/// its inputs or accessed its outputs; edges are found from the regions of tensors, boxes included. Intermediates come
/// from one ring per depth of scopes (four; deeper scopes share the last), and their memory is reused once their scope
/// has ended and its tasks are done.
///
///     struct MyPolicies : rondo::DefaultPolicies { using Runtime = rondo::runtime::TensorMapRingBuffer; };
///     auto session = rondo::open<rondo::A2A3SimOn<rondo::Pool>, MyPolicies>(interface, [=](auto& round) {
///       const auto sum = round.template workspace<float>({1024});
///       round.template add<Add>(x, y, sum);
///       round.template add<Scale>(sum, z, 2.0F);              // finds that it follows add
///     });
///
/// On the Inline engine each task runs as soon as it is added.
struct TensorMapRingBuffer : OrchestratedRuntime<TensorMapRingBuffer, 4> {};

}  // namespace rondo::runtime
