// expect: rondo: the platform declares Capability::arena_move; write `void move_arena(Program&,
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/freeze.hpp>
#include <rondo/platform/null.hpp>
#include <rondo/runtime/host_build_graph.hpp>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::arena_move};
  void move_arena(Program&, DevicePtr<std::byte>) noexcept;  // only where to
};
template class runtime::HostBuildGraph::Runner<Mine, FrozenGraph>;
