// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/refresh_op.hpp>
#include <rondo/platform/onboard/own_kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace rondo::platform::onboard {

/// Rondo's kernel that computes args on the device, device/refresh.cpp, if it is among the session's kernels. It is
/// launched before the graph, on the same stream.
///
/// When the kernel is loaded, it computes a table that the host computes, too. That detects a kernel that was built
/// wrongly, and no round pays for the first launch of a kernel.
///
/// Lifetime: the device outlives it; release() unloads. Thread safety: the session's. Errors: the constructor throws
/// errors of the runtime; a missing kernel is no error. Cost on the hot path: one call.
class RefreshKernel {
 public:
  static constexpr const char* name = "rondo_refresh";
  /// The most bytes that a launch carries without a copy of its own; the limit depends on the host's architecture.
#if defined(__aarch64__)
  static constexpr std::uint32_t most_bytes = 4096;
#else
  static constexpr std::uint32_t most_bytes = 1024;
#endif

  /// @throws Error on errors of the runtime, and failures of the device when it runs the kernel
  RefreshKernel(Device& device, const Options& options) : device_{device}, kernel_{device, options.kernels, name} {
    if (!reads_device_args()) return;
    kernel_.load();
    if (!kernel_.is_loaded()) return;
    try {
      is_correct_ = computes_correctly();
    } catch (...) {
      (void)release();
      throw;
    }
  }
  RefreshKernel(const RefreshKernel&) = delete;
  RefreshKernel& operator=(const RefreshKernel&) = delete;
  ~RefreshKernel() = default;

  /// Whether the device can compute args.
  [[nodiscard]] bool is_usable() const noexcept { return is_correct_; }
  /// The reason why it cannot, for the session's log.
  [[nodiscard]] const char* remark() const noexcept {
    if (!reads_device_args()) return "tasks take args from the host, so addresses that change are computed by the host";
    if (kernel_.is_loaded()) return "the kernel rondo_refresh computes wrong addresses and is not used; build it again";
    return "there is no kernel rondo_refresh; addresses that change are computed by the host";
  }

  /// Computes args from the base table on the device, or from the one in `carried`, which is read before this returns.
  [[nodiscard]] AclError launch(const args::RefreshOp& op, const args::LaunchPayload* carried, Stream stream) noexcept {
    // The parameters of the kernel. The data that the launch carries follows them; the runtime writes its addresses.
    enum : std::uint32_t {
      table,
      relocations,
      relocation_count,
      bases,
      base_count,
      host_inputs,
      host_input_bytes,
      to,
      parameters
    };
    words_[table] = op.args.address();
    words_[relocations] = op.relocations.address();
    words_[relocation_count] = op.count;
    words_[bases] = op.bases.address();
    words_[base_count] = op.base_count;
    words_[host_input_bytes] = 0;
    Placeholder places[2];
    std::size_t placed = 0;
    std::uint64_t size = sizeof(words_[0]) * parameters;
    if (carried != nullptr) {
      const auto carry = [&](std::uint32_t parameter, const void* from, std::uint64_t bytes) {
        __builtin_memcpy(reinterpret_cast<std::byte*>(words_) + size, from, bytes);
        places[placed++] = {parameter * 8, static_cast<std::uint32_t>(size)};
        size = align_up(size + bytes, 32);
      };
      words_[base_count] = carried->base_count;
      carry(bases, carried->bases, 8 * std::uint64_t{carried->base_count});
      if (carried->host_input_bytes != 0) carry(host_inputs, carried->host_inputs, carried->host_input_bytes);
      words_[host_input_bytes] = carried->host_input_bytes;
      words_[to] = carried->host_inputs_to.address();
    }
    const auto blocks = static_cast<std::uint32_t>(
        op.count < most_blocks * relocations_of_block ? 1 + op.count / relocations_of_block : most_blocks);
    return kernel_.launch(blocks, std::span(words_).first(size / sizeof(words_[0])), stream,
                          std::span(places).first(placed));
  }

  /// @returns the first failure
  AclError release() noexcept {
    is_correct_ = false;
    return kernel_.release();
  }

 private:
  static constexpr std::uint64_t relocations_of_block = 1024;
  static constexpr std::uint32_t most_blocks = 32;  ///< fewer than any chip has vector cores

  /// Whether tasks read their args in device memory, where the kernel writes them, and not in the host's table.
  [[nodiscard]] bool reads_device_args() const noexcept { return device_.calls().launch_device_args != nullptr; }

  /// Runs the kernel over slots of both widths, aligned and not, with gaps in between, for more than one block.
  [[nodiscard]] bool computes_correctly() {
    const std::uint64_t values[] = {0, 0xFFFF'FFF0, 0x7FFF'1234'5678};
    std::vector<args::Relocation> relocations(2 * relocations_of_block + 100);
    std::uint32_t end = 0;
    for (std::uint32_t i = 0; i < relocations.size(); ++i) {
      const bool is_narrow = i % 5 == 0;
      const std::uint32_t at = i % 11 == 0 ? end + 3 : static_cast<std::uint32_t>(align_up(end + i % 9, 8));
      relocations[i].addend = std::uint64_t{i} << 20 | i;
      relocations[i].at = at;
      relocations[i].base = i % 3 & 3;
      relocations[i].narrow = is_narrow ? 1 : 0;
      end = at + (is_narrow ? 4 : 8);
    }
    const std::uint64_t table_bytes = align_up(end, 64);
    const std::uint64_t relocation_bytes = align_up(sizeof(args::Relocation) * relocations.size(), 64);
    std::vector<std::byte> image(table_bytes + relocation_bytes + 64, std::byte{0x5A});
    __builtin_memcpy(image.data() + table_bytes, relocations.data(), sizeof(args::Relocation) * relocations.size());
    __builtin_memcpy(image.data() + table_bytes + relocation_bytes, values, sizeof(values));

    std::vector<std::byte> computed = image;
    kernel_.try_out(
        computed, [](DevicePtr<std::byte>) {},
        [&](DevicePtr<std::byte> block) {
          return launch(
              {block, block.offset(Bytes{table_bytes}).as<const args::Relocation>(), relocations.size(),
               block.offset(Bytes{table_bytes + relocation_bytes}).as<const std::uint64_t>(), std::size(values)},
              nullptr, device_.stream());
        });
    args::run_refresh(image.data(), relocations.data(), relocations.size(), values);
    return computed == image;
  }

  Device& device_;
  OwnKernel kernel_;
  bool is_correct_ = false;
  alignas(64) std::uint64_t words_[most_bytes / sizeof(std::uint64_t)] = {};
};

}  // namespace rondo::platform::onboard
