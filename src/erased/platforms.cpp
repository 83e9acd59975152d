// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "openers.hpp"
#include "session_on.hpp"

#include <rondo/platform/file.hpp>
#include <rondo/platform/null.hpp>

#include <sstream>
#include <string>
#include <utility>

namespace rondo::erased {

std::unique_ptr<AnySession> open_null(const Graph& graph, const Options& options) {
  return open_session<NullPlatform>(graph, options, {});
}

namespace {

Error::Text nothing_missing() { return {}; }

constexpr PlatformEntry entries[] = {
    {"a2a3_sim", nothing_missing, open_a2a3_sim, open_a2a3_sim_traced, orchestrate_a2a3_sim},
    {"a5_sim", nothing_missing, open_a5_sim, open_a5_sim_traced, orchestrate_a5_sim},
    {"a2a3_sim_pool", nothing_missing, open_a2a3_sim_pool, open_a2a3_sim_pool_traced, orchestrate_a2a3_sim_pool},
    {"a5_sim_pool", nothing_missing, open_a5_sim_pool, open_a5_sim_pool_traced, orchestrate_a5_sim_pool},
    {"a2a3_sim_model", nothing_missing, open_a2a3_sim_model, open_a2a3_sim_model, nullptr},
    {"a5_sim_model", nothing_missing, open_a5_sim_model, open_a5_sim_model, nullptr},
    {"a2a3_sim_checked", nothing_missing, open_a2a3_sim_checked, open_a2a3_sim_checked, nullptr},
    {"a5_sim_checked", nothing_missing, open_a5_sim_checked, open_a5_sim_checked, nullptr},
    {"host", nothing_missing, open_host, open_host_traced, nullptr},
    {"host_pool", nothing_missing, open_host_pool, open_host_pool_traced, nullptr},
    {"a2a3_onboard", missing_for_onboard, open_a2a3_onboard, open_a2a3_onboard_traced, nullptr},
    {"a5_onboard", missing_for_onboard, open_a5_onboard, open_a5_onboard_traced, nullptr},
    {"cuda", missing_for_cuda, open_cuda, open_cuda_traced, nullptr},
    {"null", nothing_missing, open_null, nullptr, nullptr},
};

void require_watching() {
#ifndef RONDO_ERASED_WATCHES
  fail(Errc::unsupported,
       "Rondo was built without traces; build it again where the libraries of rondo::observe are installed (Debian: "
       "libfmt-dev librange-v3-dev nlohmann-json3-dev)");
#endif
}

}  // namespace

std::span<const PlatformEntry> platforms() noexcept { return entries; }

const PlatformEntry& find_platform(std::string_view name) {
  std::string names;
  for (const PlatformEntry& entry : entries) {
    if (name == entry.name) return entry;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  fail(Errc::invalid_argument, "there is no platform '", name, "'; the platforms are ", names);
}

std::unique_ptr<AnySession> open_any(std::string_view platform, const Graph& graph, const Options& options) {
  const PlatformEntry& entry = find_platform(platform);
  if (!options.trace) return entry.open(graph, options);
  require_watching();
  if (entry.open_traced == nullptr) {
    fail(Errc::unsupported, "sessions on ", platform,
         " are not traced, since the platform computes nothing; choose another platform, or open it without trace");
  }
  return entry.open_traced(graph, options);
}

std::unique_ptr<AnySession> open_orchestrated_any(std::string_view platform, const Graph& interface,
                                                  const Options& options, Runtime runtime,
                                                  Orchestration orchestration) {
  const PlatformEntry& entry = find_platform(platform);
  if (options.trace) require_watching();
  if (entry.open_orchestrated == nullptr) {
    fail(Errc::unsupported, platform, " takes no orchestration; choose a2a3_sim, a5_sim, or one of them with _pool");
  }
  return entry.open_orchestrated(interface, options, runtime, std::move(orchestration));
}

void write_trace_file(AnySession& session, const std::string& path) {
  (void)session.wait_all();  // whose tasks are traced; their tickets have the failures
  std::ostringstream trace;
  if (!session.write_trace(trace)) fail(Errc::not_open, "the session is not traced; open it with `trace`");
  detail::write_file(path.c_str(), "the trace cannot be written there", trace.view());
}

}  // namespace rondo::erased
