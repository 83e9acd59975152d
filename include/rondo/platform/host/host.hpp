// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/host.hpp>
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/host/caller.hpp>
#include <rondo/platform/host/residency.hpp>
#include <rondo/platform/host/spinning.hpp>
#include <rondo/platform/saved_file.hpp>
#include <rondo/platform/sim/hosted.hpp>
#include <rondo/platform/sim/inline.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace rondo::platform {

/// The CPU as the device, without a chip's limits: kernels run as host functions on the engine `E`, one of the
/// simulated chips' engines. Host memory that a round binds as device memory (see in_place()) is used without a copy.
///
///     rondo::HostOn<rondo::Pool>::Options options;
///     options.cores = {2, 3};
///     options.priority = 80;
///     options.memory = rondo::platform::host::Residency::locked;
///     options.spin_us = 200;
///     auto session = rondo::open<rondo::HostOn<rondo::Pool>>(std::move(graph), options);
///
/// Thread safety: one thread at a time; with cores or a priority, rounds run on the thread that opened the session.
/// Errors: the constructor throws invalid_argument and out_of_resources, with the name of the option and a remedy;
/// allocate throws out_of_memory. Cost on the hot path: that of sim::Hosted, with any options.
template <class E>
class Host : public sim::Hosted<Host<E>, arch::Host, E, sim::NoTraffic> {
  using Base = sim::Hosted<Host, arch::Host, E, sim::NoTraffic>;
  static_assert(!sim::PredictsTime<E>,
                "rondo: the engine predicts the time of a simulated chip, which the host is not; choose A2A3SimOn or "
                "A5SimOn for it, or another engine");

 public:
  /// The same platform on another engine.
  template <class Other>
  using On = Host<Other>;
  static constexpr const char* name = "host";
  static constexpr Capabilities capabilities = Base::capabilities | Capabilities{Capability::close};

  /// By default the system decides where and when threads run, and which pages are in memory.
  struct Options {
    /// The most memory that can be allocated; a small limit makes out-of-memory errors testable.
    Bytes device_memory{std::uint64_t{1} << 62};
    /// The options of the engine, except those of its team, which follow from `cores` and `spin_us`.
    typename E::Options engine{};
    /// The cores of all threads of the session. Thread i of the engine runs on cores[i] only. Its thread 0 is the
    /// calling thread or, with rounds in flight that do not overlap, a thread of the queue. By default, a Pool uses as
    /// many threads as there are cores.
    std::vector<std::uint32_t> cores{};
    /// The real-time priority (SCHED_FIFO) of all threads of the session, including the calling thread; 0: none.
    int priority = 0;
    /// When the pages of the tensors' memory and of pinned memory are brought into memory.
    host::Residency memory = host::Residency::on_demand;
    /// The approximate time for which threads spin before they sleep, in microseconds; by default 30 to 180.
    std::optional<std::uint32_t> spin_us{};
    /// The file of session.save() from which the session takes its plan and its learned state.
    SavedFile saved{};
  };

  /// @throws Error invalid_argument, out_of_resources
  explicit Host(const Options& options) : Host(options, spins_of(options)) {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// Mapped host memory only: all memory of a CPU is host memory, and a CPU has neither peers nor pages of a device.
  static constexpr MemoryKinds memory_kinds{MemoryKind::mapped_host};
  using Base::allocate;
  /// Allocates memory of one kind. @throws Error out_of_memory, also if the system refuses to lock that much memory
  [[nodiscard]] DevicePtr<std::byte> allocate(MemoryKind kind, Bytes size, Bytes alignment) {
    if (memory_ == host::Residency::on_demand) return Base::allocate(kind, size, alignment);
    // The allocation has one page before the block and consists of whole pages, unless the size is close to 2^64.
    const Bytes page = host::page_size();
    const Bytes whole{std::max(size.value, align_up(size.value, page.value))};
    const DevicePtr<std::byte> block = Base::allocate(kind, whole, alignment < page ? page : alignment);
    try {
      make_resident(Base::pointer(block), whole);
    } catch (...) {
      (void)Base::release(block);
      throw;
    }
    return block;
  }
  Status release(DevicePtr<std::byte> block) noexcept {
    if (memory_ == host::Residency::locked) host::unlock_pages(Base::pointer(block), Base::allocation(block).size);
    return Base::release(block);
  }
  template <class Graph>
  [[nodiscard]] auto load(const Graph& graph, args::ArgsTable& args) {
    if (caller_ != nullptr && !is_queued_) caller_->run_on_first();
    return Base::load(graph, args);
  }
  [[nodiscard]] sim::DeviceQueue<Host> open_queue(std::size_t slots, std::size_t outputs, Bytes bytes) {
    is_queued_ = true;
    if (caller_ != nullptr) caller_->run_on_all();  // the queue's thread inherits the calling one's cores
    return Base::open_queue(slots, outputs, bytes);
  }
  [[nodiscard]] sim::SpinLimits spins() const noexcept { return spins_; }
  /// Gives the thread that opened the session its own cores and priority back, if that is the calling thread.
  Status close() noexcept {
    if (caller_ != nullptr && caller_->is_caller()) caller_.reset();
    return {};
  }

 private:
  Host(const Options& options, sim::SpinLimits spins)
      : Base{options.device_memory, engine_options(options, spins), {}},
        cores_{options.cores},
        memory_{options.memory},
        spins_{spins} {
    if (!cores_.empty() || options.priority != 0) caller_ = std::make_unique<host::Caller>(cores_, options.priority);
  }

  [[nodiscard]] static sim::SpinLimits spins_of(const Options& options) {
    return options.spin_us ? host::spin_for(*options.spin_us) : sim::SpinLimits{};
  }
  /// The engine's options, with the options of the platform that apply to the engine's threads.
  [[nodiscard]] static typename E::Options engine_options(const Options& options, sim::SpinLimits spins) {
    typename E::Options result = options.engine;
    const auto set_team = [&](auto& engine, const auto& set_inner) {
      if constexpr (requires { engine.team; }) {
        const std::size_t cores = options.cores.size();
        if (cores != 0 && engine.threads == 0) engine.threads = static_cast<std::uint32_t>(cores);
        if (cores != 0 && engine.threads > cores) {
          throw Error(Errc::invalid_argument,
                      Error::Text{"host: options.cores names ", cores, " cores for ", engine.threads,
                                  " threads; name one for each, or ask for fewer threads"});
        }
        engine.team = {options.cores, spins};
      } else if constexpr (requires { engine.inner; }) {
        set_inner(engine.inner, set_inner);
      }
    };
    set_team(result, set_team);
    return result;
  }
  void make_resident(void* first, Bytes size) const {
    host::touch_pages(first, size);
    if (memory_ == host::Residency::locked) host::lock_pages(first, size);
  }

  std::vector<std::uint32_t> cores_;
  host::Residency memory_;
  sim::SpinLimits spins_;
  std::unique_ptr<host::Caller> caller_;
  bool is_queued_ = false;
};

}  // namespace rondo::platform

namespace rondo {

/// The CPU, on the engine of your choice: `HostOn<Pool>`.
template <class Engine>
using HostOn = platform::Host<Engine>;
/// The CPU, on the calling thread.
using Host = HostOn<platform::sim::Inline>;

static_assert(check_platform<Host>());

/// Host memory as device memory of the platform Host: `bind(x, in_place(memory))` copies nothing, and kernels use this
/// memory itself. Its address must be a multiple of 8.
template <class T>
[[nodiscard]] DeviceSpan<T> in_place(std::span<T> memory) noexcept {
  return {DevicePtr<T>{reinterpret_cast<std::uintptr_t>(memory.data())}, memory.size()};
}
/// As above, for a container of contiguous elements.
template <class Container>
[[nodiscard]] auto in_place(Container& memory) noexcept {
  return in_place(std::span(memory));
}

}  // namespace rondo
