// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/refresh_op.hpp>
#include <rondo/platform/saved_file.hpp>
#include <rondo/platform/streams/cost_file.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// The options of sessions on a CUDA device.
namespace rondo {

/// Kernels as a compiler wrote them: PTX, a cubin or a fatbin, in a file or in memory. A kernel's name in the graph is
/// the name of its entry. The path, or the bytes, are not copied. They must live until the session is open; for a
/// session of many shapes, which loads the modules anew for a new shape, until it is closed.
struct CudaModule {
  /// The file. Null: `data` holds the module.
  const char* file = nullptr;
  /// The module, if it is in memory.
  std::span<const std::byte> data{};

  /// A file, which is read when a session opens, or prepares a new shape.
  [[nodiscard]] static CudaModule from_file(const char* path) noexcept { return {path, {}}; }
  /// A module in memory.
  [[nodiscard]] static CudaModule from_memory(std::span<const std::byte> bytes) noexcept { return {nullptr, bytes}; }
  /// PTX in memory.
  [[nodiscard]] static CudaModule from_text(std::string_view ptx) noexcept {
    return {nullptr, std::as_bytes(std::span<const char>(ptx.data(), ptx.size()))};
  }
};

namespace platform::cuda {

/// PTX that is part of the program. Every session looks here for kernels that are not in Options::kernels. The CMake
/// function rondo_add_cuda_kernels() writes one static object of this type for each source of kernels.
class EmbeddedPtx {
 public:
  explicit EmbeddedPtx(const char* text) noexcept : text_{text}, next_{first_} { first_ = this; }
  EmbeddedPtx(const EmbeddedPtx&) = delete;
  EmbeddedPtx& operator=(const EmbeddedPtx&) = delete;

  [[nodiscard]] static const EmbeddedPtx* first() noexcept { return first_; }
  [[nodiscard]] const EmbeddedPtx* next() const noexcept { return next_; }
  [[nodiscard]] const char* text() const noexcept { return text_; }

 private:
  static inline constinit const EmbeddedPtx* first_ = nullptr;
  const char* text_;
  const EmbeddedPtx* next_;
};

/// How a session opens a device: which one, with which kernels, and how it waits.
struct Options {
  /// The number of the device, as the driver counts.
  std::uint32_t device = 0;
  /// The modules with the graph's kernels. They are searched in this order while the session opens, then the modules
  /// that rondo_add_cuda_kernels() embedded in the program. The list, like the modules, must live until the session is
  /// open; for a session of many shapes, until it is closed.
  std::span<const CudaModule> kernels{};
  /// A CUstream of the caller, on which rounds run instead of the session's own stream. It must belong to the device's
  /// primary context and outlive the session. While it is in capture mode, enqueue_round() records a round in that
  /// capture, and rounds that wait fail. Rondo does not wait for rounds that enqueue_round() puts there. Rounds in
  /// flight use streams of their own in any case.
  void* stream = nullptr;
  /// The most device memory that the session may allocate.
  Bytes device_memory{std::uint64_t{1} << 62};
  /// The longest wait for the end of a round, in milliseconds, more than 0; -1: no limit. After that time the round
  /// fails with timed_out and the session is poisoned.
  std::int32_t timeout_ms = 50'000;
  /// The number of queries for the end of a round before the thread sleeps 50 µs between two of them.
  std::uint32_t spins = 1'000;
  /// The most pinned memory for staging copies of ordinary host memory; the slots of rounds in flight together have the
  /// same amount again. A round that needs more waits for the device in between.
  Bytes staging{std::uint64_t{256} << 20};
  /// Whether the tasks become one CUDA graph with their edges. Otherwise they are launched one by one, in order.
  bool graph = true;
  /// For debugging: launches tasks one by one and waits after each, so that a failure always names its task.
  bool wait_after_each_task = false;
  /// The costs of refreshing addresses on this machine, by which update::ByCost chooses the mechanism. If they are not
  /// given, those of `cost_file` are used; if there is no such file, `measure_refresh_costs` has them measured when the
  /// session opens, which takes some milliseconds; otherwise the constants of RefreshCosts are used.
  std::optional<args::RefreshCosts> refresh_costs{};
  /// Whether to measure these costs if they are neither given nor in a file.
  bool measure_refresh_costs = false;
  /// A file of tools/calibrate. One of another machine is refused, or ignored and mentioned in the log.
  CostFile cost_file{};
  /// The file of session.save() from which the session takes its plan, and the costs of refreshing.
  SavedFile saved{};
};

}  // namespace platform::cuda

}  // namespace rondo
