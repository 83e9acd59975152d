// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "on_onboard.hpp"
#include "openers.hpp"
#include "watch.hpp"

namespace rondo::erased {

std::unique_ptr<AnySession> open_a2a3_onboard_traced(const Graph& graph, const Options& options) {
  return open_onboard<A2A3Onboard, WatchedPolicies>(graph, options);
}
std::unique_ptr<AnySession> open_a5_onboard_traced(const Graph& graph, const Options& options) {
  return open_onboard<A5Onboard, WatchedPolicies>(graph, options);
}

}  // namespace rondo::erased
