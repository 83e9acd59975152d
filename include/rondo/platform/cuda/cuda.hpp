// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/cuda.hpp>
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/cuda/decide_kernel.hpp>
#include <rondo/platform/cuda/memory.hpp>
#include <rondo/platform/cuda/program.hpp>
#include <rondo/platform/cuda/refresh_kernel.hpp>
#include <rondo/platform/streams/device_platform.hpp>

#include <cstddef>

namespace rondo::platform {

namespace cuda {
/// See streams::DevicePlatform.
struct Parts {
  static constexpr const char* name = "cuda";
  static constexpr const char* identity = name;
  using Options = cuda::Options;
  using Device = cuda::Device;
  using Memory = DeviceMemory;
  using RefreshKernel = cuda::RefreshKernel;
  using DecideKernel = cuda::DecideKernel;
  using Program = cuda::Program;
};
}  // namespace cuda

/// A GPU through the CUDA driver, whose library is opened at run time. The session's work runs in order on one stream,
/// and its tasks are one CUDA graph, in which independent tasks may run at the same time.
///
/// Kernels are found by name in Options::kernels and in the modules embedded in the program. Ordinary host memory is
/// copied through pinned staging: inputs may be changed once the copy in has returned, and outputs are complete once
/// wait() has returned. Pinned memory (allocate_pinned) is copied directly. Each call makes the device's primary
/// context current and leaves it so.
///
/// Lifetime: immovable. close() or the destructor releases the device, after the last block of memory.
/// Thread safety: one thread at a time, not always the same; different sessions are independent.
/// Errors: set-up throws. A call that the driver refuses fails with nothing left in flight. A device that failed or
/// timed out poisons the session; the driver then refuses every call of this process for that device.
/// Options::wait_after_each_task finds the task. Cost on the hot path: no allocation; one copy for each run of tensors
/// that lie together, one launch of the graph, and queries until the stream is idle.
///
/// `RoundEvents`: streams::NoRoundEvents, or streams::RoundEvents, which measures how long rounds take; see Timed.
template <class RoundEvents = streams::NoRoundEvents>
class Cuda : public streams::DevicePlatform<arch::Cuda, cuda::Parts, RoundEvents> {
  using Base = streams::DevicePlatform<arch::Cuda, cuda::Parts, RoundEvents>;
  using Base::callers_, Base::decide_, Base::device_, Base::host_, Base::last_, Base::memory_, Base::options_;
  using OnOwnStream = streams::OnOwnStream<cuda::Device>;

 public:
  /// The platform of sessions whose policies have `using Time = DeviceTime`.
  using Timed = Cuda<streams::RoundEvents>;
  using Program = cuda::Program;
  static constexpr memory::Concurrency concurrency = memory::Concurrency::parallel;
  static constexpr Capabilities capabilities = Base::shared_capabilities;

  /// @throws Error no_such_device (no driver, no such device), unsupported (an old driver), and errors of the driver
  explicit Cuda(const cuda::Options& options) : Base{options} {}
  ~Cuda() { (void)close(true); }

  /// Allocates device memory. @throws Error out_of_memory
  [[nodiscard]] DevicePtr<std::byte> allocate(Bytes size, Bytes alignment) {
    return DevicePtr<std::byte>{memory_.allocate(size, alignment)};
  }
  /// `peer` is ordinary device memory: other devices access all memory of a context that enables them to.
  static constexpr MemoryKinds memory_kinds{MemoryKind::peer, MemoryKind::mapped_host};
  /// Allocates memory of one kind. @throws Error out_of_memory
  [[nodiscard]] DevicePtr<std::byte> allocate(MemoryKind kind, Bytes size, Bytes alignment) {
    return DevicePtr<std::byte>{memory_.allocate(size, alignment, kind)};
  }
  /// Sets device memory to zero between rounds, and waits.
  Status fill_zeros(DevicePtr<std::byte> to, Bytes size) noexcept {
    const OnOwnStream own(device_);
    cuda::Result code = device_.enter();
    if (code == cuda::success) {
      device_.work_begins();
      code = device_.driver().set(to.address(), 0, size.value, device_.stream());
    }
    return code == cuda::success ? this->wait() : this->noted("cuMemsetD8Async", code);
  }

  /// Loads a graph. @throws Error as the constructor of cuda::Program does
  template <class Graph>
  [[nodiscard]] Program load(const Graph& graph, args::ArgsTable& args) {
    const OnOwnStream own(device_);
    device_.must(cuda::Api::enter, device_.enter());
    this->prepare(graph.view());
    return Program(device_, options_, graph.view(), args, host_, decide_, [this](const Program& program) {
      // A round on the caller's stream would not wait for what is on this one.
      if (device_.callers_stream() != nullptr) device_.must(cuda::Api::synchronize, device_.wait());
      if (refusal_.empty()) refusal_ = program.refusal();
      if (!program.host_decides()) return;
      why_host_decides_ = program.why_host_decides();
      callers_.host_decides_loops();
    });
  }
  /// Why the host decides about loops, as a clause; empty if the device decides about those of all loaded graphs.
  [[nodiscard]] const char* why_host_decides_loops() const noexcept { return why_host_decides_; }
  /// Waits, then unloads graph and kernels. Memory stays allocated.
  Status unload(Program& program) noexcept {
    (void)callers_.wait();
    const cuda::Result code = program.release();
    if (last_ == &program) last_ = nullptr;
    return code == cuda::success ? Status{} : this->noted("unloading", code);
  }
  /// Releases the device. If blocks or pinned memory of this platform are still held, the destructor does.
  Status close() noexcept { return close(false); }

  template <class Sink>
  void remarks(Moment when, Sink&& sink) const noexcept {
    if (when == Moment::closing && !refusal_.empty()) {
      sink(Error::Text{refusal_.c_str(), "; tasks were launched one by one"}.c_str());
    }
    if (when != Moment::opening) return;
    if (!this->can_refresh_args()) sink(this->refresh_.remark());
    this->refresh_costs_.remark(sink);
    if (options_.graph && !device_.driver().has_graphs()) {
      sink("the driver has no CUDA graphs; tasks are launched one by one");
    }
  }
  template <class Sink>
  void holdings(Sink&& sink) const {
    this->shared_holdings(sink);
    sink("snapshots", Bytes{cuda::Device::snapshot_bytes}, MemoryKind::pinned_host);
    sink("repetitions of loops", host_.on_device, MemoryKind::device);
  }
  /// Whether the program that was launched last is one CUDA graph.
  [[nodiscard]] bool is_captured() const noexcept { return last_ != nullptr && last_->is_graph(); }

 private:
  Status close(bool at_the_end) noexcept {
    return Base::close(at_the_end, [] { return cuda::success; });
  }

  const char* why_host_decides_ = "";
  Error::Text refusal_;  ///< of the first program whose tasks are launched one by one, though graphs are wanted
};
static_assert(check_platform<Cuda<>>() && check_platform<Cuda<>::Timed>());

}  // namespace rondo::platform
