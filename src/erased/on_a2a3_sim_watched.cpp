// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "on_sim.hpp"
#include "openers.hpp"
#include "watch.hpp"

#include <rondo/platform/select.hpp>

namespace rondo::erased {

std::unique_ptr<AnySession> open_a2a3_sim_traced(const Graph& graph, const Options& options) {
  return open_on_functions<A2A3SimOn<WatchedEngine<platform::sim::Inline>>, WatchedPolicies>(graph, options);
}
std::unique_ptr<AnySession> open_a2a3_sim_pool_traced(const Graph& graph, const Options& options) {
  return open_on_functions<A2A3SimOn<WatchedEngine<Pool>>, WatchedPolicies>(graph, options);
}

}  // namespace rondo::erased
