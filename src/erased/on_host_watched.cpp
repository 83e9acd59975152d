// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "on_sim.hpp"
#include "openers.hpp"
#include "watch.hpp"

#include <rondo/platform/host/host.hpp>

namespace rondo::erased {

std::unique_ptr<AnySession> open_host_traced(const Graph& graph, const Options& options) {
  return open_on_functions<platform::Host<WatchedEngine<platform::sim::Inline>>, WatchedPolicies>(graph, options);
}
std::unique_ptr<AnySession> open_host_pool_traced(const Graph& graph, const Options& options) {
  return open_on_functions<platform::Host<WatchedEngine<platform::sim::Pool>>, WatchedPolicies>(graph, options);
}

}  // namespace rondo::erased
