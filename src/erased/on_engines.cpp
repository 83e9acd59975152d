// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "on_sim.hpp"
#include "openers.hpp"

#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>

namespace rondo::erased {

namespace {

using platform::sim::Checked;
using platform::sim::Model;

}  // namespace

std::unique_ptr<AnySession> open_a2a3_sim_model(const Graph& graph, const Options& options) {
  return open_on_functions<A2A3SimOn<Model>, WatchedPolicies>(graph, options);
}
std::unique_ptr<AnySession> open_a5_sim_model(const Graph& graph, const Options& options) {
  return open_on_functions<A5SimOn<Model>, WatchedPolicies>(graph, options);
}
std::unique_ptr<AnySession> open_a2a3_sim_checked(const Graph& graph, const Options& options) {
  return open_on_functions<A2A3SimOn<Checked<Inline>>, WatchedPolicies>(graph, options);
}
std::unique_ptr<AnySession> open_a5_sim_checked(const Graph& graph, const Options& options) {
  return open_on_functions<A5SimOn<Checked<Inline>>, WatchedPolicies>(graph, options);
}

}  // namespace rondo::erased
