// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session_on.hpp"

#include <rondo/platform/sim/pool.hpp>

namespace rondo::erased {

/// Opens a session on a platform whose kernels are functions in this process.
template <Platform P, class Policies = DefaultPolicies>
[[nodiscard]] std::unique_ptr<AnySession> open_on_functions(const Graph& graph, const Options& options) {
  require_functions(graph.tasks, P::name);
  typename P::Options own;
  set_options(own, options);
  return open_session<P, Policies>(graph, options, own);
}

}  // namespace rondo::erased
