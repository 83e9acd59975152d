// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/refresh_op.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// What a session on a CUDA device may be told.
namespace rondo {

/// Kernels as a compiler wrote them: PTX, a cubin or a fatbin, in a file or in memory. A kernel's name in the graph is
/// the name of its entry.
struct CudaModule {
  /// The file it is read from when a session opens; the path is kept, not copied. Null: `data` holds the module.
  const char* file = nullptr;
  std::span<const std::byte> data{};

  /// A file; the path outlives the session's opening.
  [[nodiscard]] static CudaModule from_file(const char* path) noexcept { return {path, {}}; }
  /// Bytes that outlive the session's opening.
  [[nodiscard]] static CudaModule from_memory(std::span<const std::byte> bytes) noexcept { return {nullptr, bytes}; }
  /// PTX, which outlives the session's opening.
  [[nodiscard]] static CudaModule from_text(std::string_view ptx) noexcept {
    return {nullptr, std::as_bytes(std::span<const char>(ptx.data(), ptx.size()))};
  }
};

namespace platform::cuda {

/// PTX that is part of the program: every session finds kernels in it that are not in Options::kernels. The CMake
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
  /// Which of the machine's devices, as the driver numbers them.
  std::uint32_t device = 0;
  /// Where the graph's kernels are; looked at while the session opens, in this order, and after them what
  /// rondo_add_cuda_kernels() embedded in the program.
  std::span<const CudaModule> kernels{};
  /// A CUstream of the caller's on which rounds run in place of a stream of the session's own. It belongs to the
  /// device's primary context, outlives the session, and is not in capture mode while a round runs. Rounds that
  /// enqueue_round() puts there are not waited for. Rounds in flight have streams of their own all the same.
  void* stream = nullptr;
  /// What the session may take of the device's memory at most.
  Bytes device_memory{std::uint64_t{1} << 62};
  /// How long the end of a round is waited for, in milliseconds, more than 0; -1: for ever. Beyond it the round fails
  /// with timed_out and the session is poisoned.
  std::int32_t timeout_ms = 50'000;
  /// How many times in a row the end of a round is asked for before the thread sleeps 50 µs between two questions.
  std::uint32_t spins = 1'000;
  /// Pinned memory through which ordinary host memory travels, at most; the slots of rounds in flight together have as
  /// much again. A round that needs more waits for the device in between.
  Bytes staging{std::uint64_t{256} << 20};
  /// Make the tasks one CUDA graph, with their edges. Otherwise they are launched one by one, in order.
  bool graph = true;
  /// For finding a fault: launch tasks one by one and wait after each, so that a failure names its task for certain.
  bool wait_after_each_task = false;
  /// What refreshing addresses costs on this machine, from which update::ByCost chooses how it is done; see
  /// read_refresh_costs(). Where it is not given it can be measured while the session opens, which takes some
  /// milliseconds; otherwise the constants of RefreshCosts hold.
  std::optional<args::RefreshCosts> refresh_costs{};
  bool measure_refresh_costs = false;
};

}  // namespace platform::cuda

}  // namespace rondo
