// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session_on.hpp"

#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/platform/select.hpp>

#include <vector>

namespace rondo::erased {

/// Opens a session on an NPU whose kernels are binaries in files. @throws Error as open()
template <Platform P, class Policies = DefaultPolicies>
[[nodiscard]] std::unique_ptr<AnySession> open_onboard(const Graph& graph, const Options& options) {
  std::vector<KernelBinary> kernels;
  for (const std::string& file : options.kernel_files) kernels.push_back(KernelBinary::from_file(file.c_str()));
  typename P::Options own;
  own.device = options.device;
  own.kernels = kernels;
  if (options.device_memory != 0) own.device_memory = Bytes{options.device_memory};
  if (options.timeout_ms != 0) own.timeout_ms = options.timeout_ms;
  return open_session<P, Policies>(graph, options, own);
}

}  // namespace rondo::erased
