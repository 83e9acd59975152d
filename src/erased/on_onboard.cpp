// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "on_onboard.hpp"
#include "openers.hpp"

namespace rondo::erased {

std::unique_ptr<AnySession> open_a2a3_onboard(const Graph& graph, const Options& options) {
  return open_onboard<A2A3Onboard>(graph, options);
}
std::unique_ptr<AnySession> open_a5_onboard(const Graph& graph, const Options& options) {
  return open_onboard<A5Onboard>(graph, options);
}

Error::Text missing_for_onboard() {
  try {
    platform::onboard::Calls calls;
    platform::onboard::open_library(calls);
    return {};
  } catch (const Error& error) {
    return Error::Text(error.what());
  }
}

}  // namespace rondo::erased
