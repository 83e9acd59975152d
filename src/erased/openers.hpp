// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session.hpp"

#include <memory>

namespace rondo::erased {

// Open a session on one platform; each is defined in the platform's source file. @throws Error what open() throws
std::unique_ptr<AnySession> open_a2a3_sim(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a2a3_sim_pool(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a5_sim(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a5_sim_pool(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a2a3_sim_model(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a5_sim_model(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a2a3_sim_checked(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a5_sim_checked(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_host(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_host_pool(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a2a3_onboard(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a5_onboard(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_cuda(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_null(const Graph& graph, const Options& options);

// Open a session with a trace, and one with an orchestration.
std::unique_ptr<AnySession> open_a2a3_sim_traced(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a2a3_sim_pool_traced(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a5_sim_traced(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a5_sim_pool_traced(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_host_traced(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_host_pool_traced(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a2a3_onboard_traced(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_a5_onboard_traced(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> open_cuda_traced(const Graph& graph, const Options& options);
std::unique_ptr<AnySession> orchestrate_a2a3_sim(const Graph&, const Options&, Runtime, Orchestration);
std::unique_ptr<AnySession> orchestrate_a2a3_sim_pool(const Graph&, const Options&, Runtime, Orchestration);
std::unique_ptr<AnySession> orchestrate_a5_sim(const Graph&, const Options&, Runtime, Orchestration);
std::unique_ptr<AnySession> orchestrate_a5_sim_pool(const Graph&, const Options&, Runtime, Orchestration);

// Return the reason why a device's driver cannot be loaded; empty if it can.
Error::Text missing_for_onboard();
Error::Text missing_for_cuda();

}  // namespace rondo::erased
