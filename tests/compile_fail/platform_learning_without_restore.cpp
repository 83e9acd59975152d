// expect: rondo: the platform declares Capability::learning; write `std::vector<std::byte> learned(const
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/freeze.hpp>
#include <rondo/platform/null.hpp>
#include <rondo/runtime/host_build_graph.hpp>

#include <cstddef>
#include <vector>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{Capability::learning};
  std::vector<std::byte> learned(const Program&) const;
};
template class runtime::HostBuildGraph::Runner<Mine, FrozenGraph>;
