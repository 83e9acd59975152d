// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/args/refresh_op.hpp>
#include <rondo/memory/registry.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/sim/device_queue.hpp>
#include <rondo/platform/sim/engine.hpp>
#include <rondo/platform/sim/traffic.hpp>
#include <rondo/platform/sim/waiting.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <span>
#include <vector>

namespace rondo::platform::sim {

namespace dynamic {
/// Defined in rondo/orchestrated.hpp.
template <class Platform, class Runtime, class Graph>
class Orchestration;
}  // namespace dynamic

/// A device within the host, the base class of the platform `Self`: device memory is host memory, kernels run as host
/// functions on the engine `E`, and `T` is notified of every byte that would cross a bus.
///
/// Thread safety: one thread at a time. Errors: allocate throws out_of_memory; a kernel's exception poisons the
/// session. Cost on the hot path: a copy is one memcpy; the rest is the engine's.
template <class Self, arch::Arch A, class E, class T>
class Hosted {
  static_assert(sim::Engine<E>,
                "rondo: this type is not an engine; include its header, such as rondo/platform/sim/pool.hpp, or write "
                "the members that platform/sim/engine.hpp names");

 public:
  using Arch = A;
  using Engine = E;
  using Traffic = T;
  using EngineOptions = typename E::Options;

  static constexpr Capabilities capabilities =
      Capabilities{Capability::snapshot_copy,  Capability::pinned_memory,  Capability::zero_fill,
                   Capability::device_refresh, Capability::launch_refresh, Capability::args_in_host_memory,
                   Capability::staying_awake,  Capability::stopping,       Capability::failure_text,
                   Capability::engine,         Capability::orchestration,  Capability::memory_registry,
                   Capability::memory_kinds,   Capability::holdings,       Capability::device_copy} |
      (LooksAtGraphs<Engine> || HearsOfCopies<Engine>
           ? Capabilities{}
           : Capabilities{Capability::queue, Capability::queued_orchestration}) |
      (OverlapsRounds<Engine> && !TakesTime<Traffic> ? Capabilities{Capability::overlapping_rounds} : Capabilities{}) |
      (FollowsTheArena<Engine> ? Capabilities{Capability::arena_move} : Capabilities{}) |
      (RunsLoops<Engine> ? Capabilities{Capability::loops} : Capabilities{}) |
      (Learns<Engine> ? Capabilities{Capability::learning} : Capabilities{}) |
      (CountsThreads<Engine> ? Capabilities{Capability::remarks} : Capabilities{}) |
      (PredictsTime<Engine> ? Capabilities{Capability::round_time} : Capabilities{});
  static constexpr memory::Concurrency concurrency = memory::concurrency_of<Engine>();
  static constexpr std::uint32_t max_launch_bytes = 1024;

  /// The kinds of memory that devices have; here, all of them are host memory.
  static constexpr MemoryKinds memory_kinds{MemoryKind::huge_pages, MemoryKind::normal_pages,
                                            MemoryKind::task_scheduler, MemoryKind::peer, MemoryKind::mapped_host};
  /// Allocates memory of one kind; kinds on the host do not count as device memory. @throws Error out_of_memory
  [[nodiscard]] DevicePtr<std::byte> allocate(MemoryKind kind, Bytes size, Bytes alignment) {
    // The allocation is recorded in front of the block, in `alignment` bytes, so the block stays aligned.
    const Bytes front{alignment.value < sizeof(Allocation) ? sizeof(Allocation) : alignment.value};
    const Bytes whole{align_up(size.value + front.value, front.value)};
    const bool is_limited = !is_on_host(kind);
    void* memory =
        whole < size || (is_limited && size > free_) ? nullptr : std::aligned_alloc(front.value, whole.value);
    if (memory == nullptr) fail_to_allocate(kind, size);
    const DevicePtr<std::byte> block{reinterpret_cast<std::uintptr_t>(memory) + front.value};
    try {
      memory::Registry::instance().note_allocated(memory_space(), block.address(), size);
    } catch (...) {
      std::free(memory);
      throw;
    }
    if (is_limited) free_.value -= size.value;
    of_kind(kind) += size.value;
    allocation(block) = {memory, size, kind};
    return block;
  }
  /// Allocates device memory. @throws Error out_of_memory
  [[nodiscard]] DevicePtr<std::byte> allocate(Bytes size, Bytes alignment) {
    return static_cast<Self&>(*this).allocate(MemoryKind::device, size, alignment);
  }
  [[nodiscard]] static void* host_address(DevicePtr<std::byte> block) noexcept { return pointer(block); }
  Status release(DevicePtr<std::byte> block) noexcept {
    const Allocation gone = allocation(block);
    if (!is_on_host(gone.kind)) free_.value += gone.size.value;
    of_kind(gone.kind) -= gone.size.value;
    if (!memory::Registry::instance().keep_released(block.address(), gone.memory)) std::free(gone.memory);
    return {};
  }

  [[gnu::always_inline]] Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    traffic_.copied_in(size);
    std::memcpy(pointer(to), from, size.value);
    if constexpr (HearsOfCopies<Engine>) engine_.copied_in(size);
    return {};
  }
  Status copy_in_snapshot(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    return copy_in(to, from, size);
  }
  /// Copies on the calling thread, after waiting for the previous launch, which may still be running.
  Status copy_on_device(const DeviceCopy& copy) noexcept {
    if (const Status status = engine_.wait(); !status) [[unlikely]]
      return status;
    std::byte* to = pointer(copy.to);
    const std::byte* from = pointer(copy.from);
    for (std::uint64_t i = 0; i < copy.count; ++i, to += copy.to_stride, from += copy.from_stride) {
      std::memcpy(to, from, copy.size.value);
    }
    return {};
  }
  Status fill_zeros(DevicePtr<std::byte> to, Bytes size) noexcept {
    std::memset(pointer(to), 0, size.value);
    return {};
  }
  /// Allocates pinned host memory, aligned to 64 bytes. @throws Error out_of_memory
  [[nodiscard]] void* allocate_pinned(Bytes size) {
    return pointer(static_cast<Self&>(*this).allocate(MemoryKind::pinned_host, size, Bytes{64}));
  }
  void release_pinned(void* memory) noexcept {
    if (memory != nullptr)
      (void)static_cast<Self&>(*this).release(DevicePtr<std::byte>{reinterpret_cast<std::uintptr_t>(memory)});
  }
  [[nodiscard]] static memory::Space memory_space() noexcept { return memory::Space::host; }
  /// Copies to the host, after waiting for the previous launch, which may still be running.
  [[gnu::always_inline]] Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    if (const Status status = engine_.wait(); !status) [[unlikely]]
      return status;
    traffic_.copied_out(size);
    std::memcpy(to, pointer(from), size.value);
    if constexpr (HearsOfCopies<Engine>) engine_.copied_out(size);
    return {};
  }
  Status wait() noexcept {
    const Status status = engine_.wait();
    if constexpr (HearsOfCopies<Engine>) engine_.idle();
    return status;
  }

  [[nodiscard]] static constexpr bool can_refresh_args() noexcept { return true; }
  /// Returns null, since costs measured on the host say nothing about a device.
  [[nodiscard]] static constexpr const args::RefreshCosts* refresh_costs() noexcept { return nullptr; }
  /// Computes args on the calling thread, as the device would.
  Status refresh_args(const args::RefreshOp& op) noexcept {
    traffic_.computed(op.count);
    args::run_refresh(pointer(op.args), pointer(op.relocations), op.count, pointer(op.bases));
    return {};
  }
  Status refresh_in_launch(const args::RefreshOp& op, const args::LaunchPayload& payload) noexcept {
    if (payload.bytes() > max_launch_bytes) return Status{Errc::limit_exceeded};
    traffic_.carried(Bytes{payload.bytes()});
    traffic_.computed(op.count);
    std::uint64_t bases[max_launch_bytes / sizeof(std::uint64_t)];
    std::memcpy(bases, payload.bases, sizeof(std::uint64_t) * payload.base_count);
    if (payload.host_input_bytes != 0) {
      std::memcpy(pointer(payload.host_inputs_to), payload.host_inputs, payload.host_input_bytes);
    }
    args::run_refresh(pointer(op.args), pointer(op.relocations), op.count, bases);
    return {};
  }

  /// The time for which threads spin before they sleep.
  [[nodiscard]] static constexpr SpinLimits spins() noexcept { return {}; }
  [[nodiscard]] const Traffic& traffic() const noexcept { return traffic_; }

  /// Turns a graph and its args table into the engine's form. @throws Error limit_exceeded; errors of the engine
  template <class Graph>
  [[nodiscard]] auto load(const Graph& graph, args::ArgsTable& args) {
    return engine_.load(graph, args);
  }
  template <class Program>
  [[gnu::always_inline]] Status launch(Program& program) noexcept {
    return engine_.launch(program);
  }
  template <class Program>
  Status unload(Program& program) noexcept {
    return engine_.unload(program);
  }

  template <class Program>
  [[nodiscard]] std::vector<std::byte> learned(const Program& program) const {
    return engine_.learned(program);
  }
  template <class Program>
  void restore(Program& program, std::span<const std::byte> bytes) {
    engine_.restore(program, bytes);
  }

  /// Rounds in flight run on a thread of the queue. @throws Error out_of_resources if the thread cannot be started
  [[nodiscard]] DeviceQueue<Self> open_queue(std::size_t slots, std::size_t outputs, Bytes) {
    return DeviceQueue<Self>(static_cast<Self&>(*this), slots, outputs);
  }

  [[nodiscard]] bool overlaps_rounds() const noexcept
    requires OverlapsRounds<Engine>
  {
    return engine_.overlaps_rounds();
  }

  template <class Runtime, class Graph>
  using Orchestration = dynamic::Orchestration<Self, Runtime, Graph>;

  template <class Program>
  void move_arena(Program& program, DevicePtr<std::byte> from, DevicePtr<std::byte> to) noexcept {
    engine_.move_arena(program, from, to);
  }
  void request_stop() noexcept { engine_.request_stop(); }
  void keep_awake(bool awake) noexcept { engine_.keep_awake(awake); }
  [[nodiscard]] Engine& engine() noexcept { return engine_; }

  [[nodiscard]] double last_round_ns() const noexcept
    requires PredictsTime<Engine>
  {
    return engine_.last_round_ns();
  }

  [[nodiscard]] const Error::Text& failure_text() const noexcept { return engine_.failure_text(); }
  template <class Sink>
  void remarks(Moment when, Sink&& sink) const noexcept {
    if (when == Moment::closing && engine_.threads_used() == 1) sink("one thread ran all tasks");
  }

  template <class Sink>
  void holdings(Sink&& sink) const {
    for (std::size_t k = 0; k < std::size(held_); ++k) {
      const auto kind = static_cast<MemoryKind>(k);
      sink(kind == MemoryKind::pinned_host ? "pinned by the program" : nullptr, Bytes{held_[k]}, kind);
    }
  }

 protected:
  Hosted(Bytes device_memory, const EngineOptions& engine, const typename Traffic::Options& traffic)
      : traffic_{traffic, arch::chip_of<A>}, engine_{engine, arch::chip_of<A>}, free_{device_memory} {}

  /// The record in front of each block. Its size is a power of two, as alignments are.
  struct alignas(32) Allocation {
    void* memory;
    Bytes size;
    MemoryKind kind;
  };
  [[nodiscard]] static Allocation& allocation(DevicePtr<std::byte> block) noexcept {
    return *reinterpret_cast<Allocation*>(pointer(block) - sizeof(Allocation));
  }
  template <class U>
  [[nodiscard]] static U* pointer(DevicePtr<U> p) noexcept {
    return reinterpret_cast<U*>(p.address());  // NOLINT: device memory is host memory here
  }

 private:
  [[nodiscard]] static constexpr bool is_on_host(MemoryKind kind) noexcept { return kind >= MemoryKind::mapped_host; }
  [[noreturn, gnu::cold]] void fail_to_allocate(MemoryKind kind, Bytes size) const {
    Error::Text text{Self::name, ": ", size.value, " bytes of ", to_string(kind), " memory were asked for, "};
    if (is_on_host(kind) || size <= free_) {
      text.append("and the system has no more; use smaller tensors");
    } else {
      text.append(Error::Text{free_.value, " are free; use smaller tensors"});
    }
    throw Error(Errc::out_of_memory, text);
  }
  [[nodiscard]] std::uint64_t& of_kind(MemoryKind kind) noexcept { return held_[static_cast<std::size_t>(kind)]; }

  friend class DeviceQueue<Self>;

  [[no_unique_address]] Traffic traffic_;
  Engine engine_;
  Bytes free_;
  std::uint64_t held_[8] = {};  ///< bytes by kind of memory
};

}  // namespace rondo::platform::sim
