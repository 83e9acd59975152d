// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/cuda/device/decide_ptx.hpp>
#include <rondo/platform/cuda/own_module.hpp>

#include <cstdint>

namespace rondo::platform::cuda {

/// Rondo's kernel that decides about loops on the device: src/cuda/decide.cu, embedded as PTX in every program. It is
/// loaded with the first graph that has loops, if the driver has conditional nodes.
///
/// Lifetime: the device outlives it; release() unloads. Thread safety: the session's. Errors: prepare() throws errors
/// of the driver.
class DecideKernel {
 public:
  /// What a launch of the kernel decides; as in src/cuda/decide.cu.
  enum class Step : std::uint32_t { when = 0, begin = 1, repeat = 2 };

  DecideKernel(Device& device, const Options&) noexcept : device_{device}, module_{device} {}

  /// Called when a graph with loops is loaded. @throws Error on errors of the driver
  void prepare() {
    if (is_tried_ || !device_.driver().has_conditional_nodes()) return;
    if (module_.load(decide_ptx, "cuModuleLoadDataEx, for rondo_decide")) function_ = module_.find("rondo_decide");
    is_tried_ = true;
  }
  /// The kernel, after prepare(); null if the host has to decide.
  [[nodiscard]] Function function() const noexcept { return function_; }
  /// The reason why it has to, as a clause; empty if no reason is known.
  [[nodiscard]] const char* why_not() const noexcept {
    if (!device_.driver().has_conditional_nodes()) return "the driver has no conditional nodes";
    return is_tried_ && function_ == nullptr ? "the driver does not compile the kernel rondo_decide" : "";
  }
  /// @returns the first failure
  Result release() noexcept {
    function_ = nullptr;
    is_tried_ = false;
    return module_.release();
  }

 private:
  Device& device_;
  OwnModule module_;
  Function function_ = nullptr;
  bool is_tried_ = false;
};

}  // namespace rondo::platform::cuda
