// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "openers.hpp"
#include "session_on.hpp"

#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/platform/select.hpp>

#include <vector>

namespace rondo::erased {

namespace {

template <Platform P>
std::unique_ptr<AnySession> open_onboard(const Graph& graph, const Options& options) {
  std::vector<KernelBinary> kernels;
  for (const std::string& file : options.kernel_files) kernels.push_back(KernelBinary::from_file(file.c_str()));
  typename P::Options own;
  own.device = options.device;
  own.kernels = kernels;
  if (options.device_memory != 0) own.device_memory = Bytes{options.device_memory};
  if (options.timeout_ms != 0) own.timeout_ms = options.timeout_ms;
  return open_session<P>(graph, options, own);
}

}  // namespace

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
