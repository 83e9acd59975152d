// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Rondo's kernel for the tasks of graphs that the device builds, from its header for the device, over the part of
// Ascend C that ascend_c/ has. Its tasks' kernels are host functions that tests name.

#include "kernel_operator.h"

#include <rondo/platform/onboard/device/dispatch.hpp>

#include "control.hpp"

#include <map>
#include <mutex>
#include <string_view>

namespace {

struct HostKernel {
  stand_in::Kernel plain = nullptr;  ///< works on the memory itself, as tasks do that copy by DMA
  std::uint64_t (*cached)(std::int64_t* args) = nullptr;
};
std::mutex mutex;
std::map<std::uint64_t, HostKernel> kernels[2];  // by core type

template <int core>
struct OfHost {
  static std::uint64_t Run(std::uint64_t id, std::int64_t* args, std::uint64_t words) {
    HostKernel kernel;
    {
      const std::lock_guard lock{mutex};
      const auto found = kernels[core].find(id);
      if (found == kernels[core].end()) return rondo::mailbox::unknown_kernel;
      kernel = found->second;
    }
    if (kernel.cached != nullptr) return kernel.cached(args);
    std::int64_t copy[rondo::mailbox::most_words];  // read through the cache, as scalar code reads its arguments
    for (std::uint64_t w = 0; w < words; ++w) copy[w] = static_cast<std::int64_t>(rondo_stand_in_core_load(args + w));
    kernel.plain(copy);
    return 0;
  }
};

void keep(const char* name, int core, HostKernel kernel) {
  const std::string_view text{name};
  const std::lock_guard lock{mutex};
  kernels[core][rondo::mailbox::kernel_id(text.data(), text.size())] = kernel;
}

}  // namespace

void rondo_stand_in_dispatch(std::int64_t* args) {
  rondo::on_core::Serve<OfHost<0>, OfHost<1>>(reinterpret_cast<GM_ADDR>(args[0]), static_cast<std::uint64_t>(args[1]));
}
void rondo_stand_in_task(const char* name, int core, stand_in::Kernel kernel) { keep(name, core, {kernel, nullptr}); }
void rondo_stand_in_cached_task(const char* name, int core, std::uint64_t (*kernel)(std::int64_t* args)) {
  keep(name, core, {nullptr, kernel});
}
