// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/runtime/orchestrated.hpp>

namespace rondo::runtime {

/// The orchestration runs at the same time as the tasks it adds; a task starts as soon as those are done that wrote
/// what it reads, or touched what it writes. Edges are found from the regions of tensors, boxes included. Intermediates
/// come from one ring of memory per depth of scopes (four; deeper scopes share the last), and their memory is used
/// again when their scope has ended and the tasks in it are done.
///
///     struct MyPolicies : rondo::DefaultPolicies { using Runtime = rondo::runtime::TensorMapRingBuffer; };
///     auto session = rondo::open<rondo::A2A3SimOn<rondo::Pool>, MyPolicies>(interface, [=](auto& round) {
///       const auto sum = round.template workspace<float>({1024});
///       round.template add<Add>(x, y, sum);
///       round.template add<Scale>(sum, z, 2.0F);              // finds that it follows add
///     });
///
/// On the Inline engine a task runs where it is added.
struct TensorMapRingBuffer : OrchestratedRuntime<TensorMapRingBuffer, 4> {};

}  // namespace rondo::runtime
