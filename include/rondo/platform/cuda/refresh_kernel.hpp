// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/refresh_op.hpp>
#include <rondo/platform/cuda/device/refresh_ptx.hpp>
#include <rondo/platform/cuda/own_module.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::platform::cuda {

/// Rondo's kernels that compute args on the device: src/cuda/refresh.cu, embedded as PTX in every program. One reads
/// the base table from device memory, the other from the parameters of its launch. They run on the graph's stream,
/// before the graph.
///
/// Lifetime: the device outlives it; release() unloads. Thread safety: the session's. Errors: the constructor throws
/// errors of the driver; if the driver cannot compile the PTX, the host computes args, and nothing is thrown.
/// Cost on the hot path: one call.
class RefreshKernel {
 public:
  /// The most bytes that a launch carries, which every driver accepts as parameters.
  static constexpr std::uint32_t most_bytes = 4096;

  /// @throws Error on errors of the driver
  RefreshKernel(Device& device, const Options&) : device_{device}, module_{device} {
    if (!module_.load(refresh_ptx, "cuModuleLoadDataEx, for rondo_refresh")) return;
    refresh_ = module_.find("rondo_refresh");
    carried_ = module_.find("rondo_refresh_carried");
  }

  /// Whether the device can compute args.
  [[nodiscard]] bool is_usable() const noexcept { return carried_ != nullptr; }
  /// The reason why it cannot, for the session's log.
  [[nodiscard]] static const char* remark() noexcept {
    return "the driver does not compile Rondo's refresh kernels; addresses that change are computed by the host";
  }

  /// Computes args from the base table on the device, or from that in `carried`, which is read before this returns.
  [[nodiscard]] Result launch(const args::RefreshOp& op, const args::LaunchPayload* carried, Stream stream) noexcept {
    if (carried != nullptr) return launch_carried(op, *carried, stream);
    Pointer table = op.args.address(), relocations = op.relocations.address(), bases = op.bases.address();
    std::uint64_t count = op.count;
    void* parameters[] = {&table, &relocations, &count, &bases};
    return launch(refresh_, op.count, parameters, stream);
  }

  /// @returns the first failure
  Result release() noexcept {
    refresh_ = carried_ = nullptr;
    return module_.release();
  }

 private:
  static constexpr std::uint32_t threads = 128;
  static constexpr std::uint64_t most_blocks = 1024;

  /// The same layout as in src/cuda/refresh.cu.
  struct Parameters {
    std::uint64_t table, relocations, count, base_count, host_inputs_to, host_input_bytes;
    std::uint64_t words[506];
  };
  static_assert(sizeof(Parameters) == 4096);
  // Everything that LaunchPayload accepts fits here.
  static_assert(most_bytes - args::LaunchPayload::launch_bytes <= sizeof(Parameters::words));

  [[nodiscard]] const Calls& driver() const noexcept { return device_.driver(); }

  [[nodiscard]] Result launch_carried(const args::RefreshOp& op, const args::LaunchPayload& payload,
                                      Stream stream) noexcept {
    parameters_.table = op.args.address();
    parameters_.relocations = op.relocations.address();
    parameters_.count = op.count;
    parameters_.base_count = payload.base_count;
    parameters_.host_inputs_to = payload.host_inputs_to.address();
    parameters_.host_input_bytes = payload.host_input_bytes;
    __builtin_memcpy(parameters_.words, payload.bases, 8 * std::uint64_t{payload.base_count});
    if (payload.host_input_bytes != 0) {
      __builtin_memcpy(parameters_.words + payload.base_count, payload.host_inputs, payload.host_input_bytes);
    }
    void* parameters[] = {&parameters_};
    return launch(carried_, op.count, parameters, stream);
  }
  [[nodiscard]] Result launch(Function function, std::uint64_t relocations, void** parameters, Stream stream) noexcept {
    const std::uint64_t wanted = 1 + relocations / threads;
    const auto blocks = static_cast<std::uint32_t>(wanted < most_blocks ? wanted : most_blocks);
    return driver().launch(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr);
  }

  Device& device_;
  OwnModule module_;
  Function refresh_ = nullptr;
  Function carried_ = nullptr;
  Parameters parameters_ = {};
};

}  // namespace rondo::platform::cuda
