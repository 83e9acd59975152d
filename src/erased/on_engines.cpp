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

template <Platform P>
std::unique_ptr<AnySession> open_engine(const Graph& graph, const Options& options) {
  require_functions(graph.tasks, P::name);
  typename P::Options own;
  if (options.device_memory != 0) own.device_memory = Bytes{options.device_memory};
  return open_round_session<P>(graph, options, own);
}

}  // namespace

std::unique_ptr<AnySession> open_a2a3_sim_model(const Graph& graph, const Options& options) {
  return open_engine<A2A3SimOn<Model>>(graph, options);
}
std::unique_ptr<AnySession> open_a5_sim_model(const Graph& graph, const Options& options) {
  return open_engine<A5SimOn<Model>>(graph, options);
}
std::unique_ptr<AnySession> open_a2a3_sim_checked(const Graph& graph, const Options& options) {
  return open_engine<A2A3SimOn<Checked<Inline>>>(graph, options);
}
std::unique_ptr<AnySession> open_a5_sim_checked(const Graph& graph, const Options& options) {
  return open_engine<A5SimOn<Checked<Inline>>>(graph, options);
}

}  // namespace rondo::erased
