// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/cuda/device.hpp>

#include <utility>

namespace rondo::platform::cuda {

/// A module of Rondo's own kernels, which is PTX in a header.
///
/// Lifetime: the device outlives it; release() unloads. Thread safety: the session's. Errors: the members that load
/// throw errors of the driver. Cost: set-up only.
class OwnModule {
 public:
  explicit OwnModule(Device& device) noexcept : device_{device} {}
  OwnModule(const OwnModule&) = delete;
  OwnModule& operator=(const OwnModule&) = delete;

  /// Loads the module. `what` names it in errors. @returns false if the driver cannot compile it
  [[nodiscard]] bool load(const char* ptx, const char* what) {
    device_.must(Api::enter, device_.enter());
    const Result code = device_.driver().load_module(&module_, ptx, 0, nullptr, nullptr);
    if (errc_of(code) == Errc::unsupported) return false;
    device_.must(what, code);
    return true;
  }
  /// Finds an entry of the loaded module. If that fails, the module is unloaded.
  [[nodiscard]] Function find(const char* entry) {
    Function found = nullptr;
    const Result code = device_.driver().get_function(&found, module_, entry);
    if (code != success) (void)release();
    device_.must("cuModuleGetFunction", code);
    return found;
  }
  /// @returns the first failure
  Result release() noexcept {
    if (module_ == nullptr) return success;
    const Result entered = device_.enter_to_release();
    const Result code = released(device_.driver().unload_module(std::exchange(module_, nullptr)));
    return entered == success ? code : entered;
  }

 private:
  Device& device_;
  Module module_ = nullptr;
};

}  // namespace rondo::platform::cuda
