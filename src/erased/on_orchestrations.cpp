// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "openers.hpp"
#include "orchestration_on.hpp"

#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/pool.hpp>

#include <utility>

namespace rondo::erased {

std::unique_ptr<AnySession> orchestrate_a2a3_sim(const Graph& interface, const Options& options, Runtime runtime,
                                                 Orchestration orchestration) {
  using P = A2A3SimOn<WatchedEngine<platform::sim::Inline>>;
  return open_orchestrated<P>(interface, options, runtime, std::move(orchestration));
}
std::unique_ptr<AnySession> orchestrate_a2a3_sim_pool(const Graph& interface, const Options& options, Runtime runtime,
                                                      Orchestration orchestration) {
  using P = A2A3SimOn<WatchedEngine<Pool>>;
  return open_orchestrated<P>(interface, options, runtime, std::move(orchestration));
}
std::unique_ptr<AnySession> orchestrate_a5_sim(const Graph& interface, const Options& options, Runtime runtime,
                                               Orchestration orchestration) {
  using P = A5SimOn<WatchedEngine<platform::sim::Inline>>;
  return open_orchestrated<P>(interface, options, runtime, std::move(orchestration));
}
std::unique_ptr<AnySession> orchestrate_a5_sim_pool(const Graph& interface, const Options& options, Runtime runtime,
                                                    Orchestration orchestration) {
  using P = A5SimOn<WatchedEngine<Pool>>;
  return open_orchestrated<P>(interface, options, runtime, std::move(orchestration));
}

}  // namespace rondo::erased
