// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "on_sim.hpp"
#include "openers.hpp"

#include <rondo/platform/host/host.hpp>

namespace rondo::erased {

std::unique_ptr<AnySession> open_host(const Graph& graph, const Options& options) {
  return open_on_functions<platform::Host<platform::sim::Inline>>(graph, options);
}
std::unique_ptr<AnySession> open_host_pool(const Graph& graph, const Options& options) {
  return open_on_functions<platform::Host<platform::sim::Pool>>(graph, options);
}

}  // namespace rondo::erased
