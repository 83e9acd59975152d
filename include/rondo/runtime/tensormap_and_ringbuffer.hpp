// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/runtime/orchestrated.hpp>

#include <cstdint>

namespace rondo::runtime {

/// The orchestration runs next to the tasks it adds; a task starts as soon as those are done that wrote what it reads,
/// or touched what it writes. Edges are found from the regions of tensors, boxes of them included. Intermediates come
/// from one ring of memory per depth of scopes (four; deeper scopes share the last), and their memory is used again
/// when their scope has ended and the tasks in it are done.
///
///     struct MyPolicies : rondo::DefaultPolicies { using Runtime = rondo::runtime::TensorMapRingBuffer; };
///     auto session = rondo::open<rondo::A2A3SimOn<rondo::Pool>, MyPolicies>(interface, [=](auto& round) {
///       const auto sum = round.template workspace<float>({1024});
///       round.template add<Add>(x, y, sum);
///       round.template add<Scale>(sum, z, 2.0F);              // finds that it follows add
///     });
///
/// On the Inline engine a task runs where it is added, so that the order of the program is the order of the tasks.
struct TensorMapRingBuffer {
  static constexpr bool is_orchestrated = true;
  /// How many rings of memory intermediates come from.
  static constexpr std::uint32_t rings = 4;

  template <class P>
  using Options = OrchestratedOptions<P>;
  template <class P, class Graph>
  using Runner = OrchestratedRunner<TensorMapRingBuffer, P, Graph>;
};

}  // namespace rondo::runtime
