// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "openers.hpp"
#include "session_on.hpp"

#include <rondo/platform/null.hpp>

#include <string>

namespace rondo::erased {

std::unique_ptr<AnySession> open_null(const Graph& graph, const Options& options) {
  return open_session<NullPlatform>(graph, options, {});
}

namespace {

Error::Text nothing_missing() { return {}; }

constexpr PlatformEntry entries[] = {
    {"a2a3_sim", nothing_missing, open_a2a3_sim},
    {"a5_sim", nothing_missing, open_a5_sim},
    {"a2a3_sim_pool", nothing_missing, open_a2a3_sim_pool},
    {"a5_sim_pool", nothing_missing, open_a5_sim_pool},
    {"a2a3_sim_model", nothing_missing, open_a2a3_sim_model},
    {"a5_sim_model", nothing_missing, open_a5_sim_model},
    {"a2a3_sim_checked", nothing_missing, open_a2a3_sim_checked},
    {"a5_sim_checked", nothing_missing, open_a5_sim_checked},
    {"host", nothing_missing, open_host},
    {"host_pool", nothing_missing, open_host_pool},
    {"a2a3_onboard", missing_for_onboard, open_a2a3_onboard},
    {"a5_onboard", missing_for_onboard, open_a5_onboard},
    {"cuda", missing_for_cuda, open_cuda},
    {"null", nothing_missing, open_null},
};

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
  return find_platform(platform).open(graph, options);
}

}  // namespace rondo::erased
