// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "openers.hpp"
#include "session_on.hpp"
#include "watch.hpp"

#include <rondo/platform/cuda/cuda.hpp>
#include <rondo/platform/select.hpp>

#include <vector>

namespace rondo::erased {

namespace {

template <class Policies>
std::unique_ptr<AnySession> open_gpu(const Graph& graph, const Options& options) {
  std::vector<CudaModule> kernels;
  for (const std::string& file : options.kernel_files) kernels.push_back(CudaModule::from_file(file.c_str()));
  Cuda::Options own;
  own.device = options.device;
  own.kernels = kernels;
  if (options.device_memory != 0) own.device_memory = Bytes{options.device_memory};
  if (options.timeout_ms != 0) own.timeout_ms = options.timeout_ms;
  return open_session<Cuda, Policies>(graph, options, own);
}

}  // namespace

std::unique_ptr<AnySession> open_cuda(const Graph& graph, const Options& options) {
  return open_gpu<DefaultPolicies>(graph, options);
}
std::unique_ptr<AnySession> open_cuda_traced(const Graph& graph, const Options& options) {
  return open_gpu<WatchedPolicies>(graph, options);
}

Error::Text missing_for_cuda() {
  try {
    platform::cuda::Calls calls;
    platform::cuda::open_library(calls);
    return {};
  } catch (const Error& error) {
    return Error::Text(error.what());
  }
}

}  // namespace rondo::erased
