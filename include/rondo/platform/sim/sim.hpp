// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/args/refresh_op.hpp>
#include <rondo/detail/fixed_text.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/sim/device_queue.hpp>
#include <rondo/platform/sim/engine.hpp>
#include <rondo/platform/sim/traffic.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace rondo::platform {

namespace sim::dynamic {
/// Include rondo/orchestrated.hpp for it.
template <class Sim, class Runtime, class Graph>
class Orchestration;
}  // namespace sim::dynamic

/// A simulated NPU: device memory is host memory, kernels run as host functions on `Engine`. The arch `A` has the
/// differences between chips, the engine those between ways to run tasks. `Traffic` is told of every byte that would
/// cross the bus; see traffic.hpp.
///
/// Thread safety: one thread at a time. Errors: allocate throws out_of_memory; a kernel's exception poisons. Cost on
/// the hot path: a copy is one memcpy; the rest is the engine's.
template <arch::Arch A, class Engine, class Traffic = sim::NoTraffic>
class Sim {
  static_assert(sim::Engine<Engine>, "rondo: the engine is none; it needs the named parts of platform/sim/engine.hpp");

 public:
  using Arch = A;
  static constexpr detail::FixedText<32> name_text{A::name, "_sim"};
  static constexpr const char* name = name_text.c_str();

  static constexpr Capabilities capabilities =
      Capabilities{Capability::snapshot_copy,  Capability::pinned_memory,  Capability::zero_fill,
                   Capability::device_refresh, Capability::launch_refresh, Capability::args_in_host_memory,
                   Capability::staying_awake,  Capability::stopping,       Capability::failure_text,
                   Capability::engine,         Capability::orchestration} |
      (sim::WantsOneRound<Engine> ? Capabilities{}
                                  : Capabilities{Capability::queue, Capability::queued_orchestration}) |
      (sim::OverlapsRounds<Engine> && !sim::TakesTime<Traffic> ? Capabilities{Capability::overlapping_rounds}
                                                               : Capabilities{}) |
      (sim::CountsThreads<Engine> ? Capabilities{Capability::remarks} : Capabilities{}) |
      (sim::PredictsTime<Engine> ? Capabilities{Capability::round_time} : Capabilities{});
  static constexpr memory::Concurrency concurrency = memory::concurrency_of<Engine>();
  static constexpr std::uint32_t max_launch_bytes = 1024;

  /// The size of the device memory, and the options of the engine.
  struct Options {
    /// Less makes out-of-memory testable.
    Bytes device_memory{std::uint64_t{1} << 62};
    typename Engine::Options engine{};
    [[no_unique_address]] typename sim::TrafficOptions<Traffic>::type traffic{};
  };

  explicit Sim(const Options& options)
      : traffic_{sim::make_traffic<Traffic>(options.traffic, arch::chip_of<A>)},
        engine_{sim::make_engine<Engine>(options.engine, arch::chip_of<A>)},
        free_{options.device_memory} {}

  /// @throws Error out_of_memory
  [[nodiscard]] DevicePtr<std::byte> allocate(Bytes size, Bytes alignment) {
    // The allocation is recorded before the block, in `alignment` bytes that keep the block aligned.
    const Bytes front{alignment.value < sizeof(Allocation) ? sizeof(Allocation) : alignment.value};
    const Bytes whole{align_up(size.value + front.value, front.value)};
    void* memory = size > free_ ? nullptr : std::aligned_alloc(front.value, whole.value);
    if (memory == nullptr) {
      throw Error(Errc::out_of_memory, Error::Text(name, ": ", size.value, " bytes of device memory were asked for, ",
                                                   free_.value, " are free; use smaller tensors"));
    }
    free_.value -= size.value;
    const DevicePtr<std::byte> block{reinterpret_cast<std::uintptr_t>(memory) + front.value};
    *reinterpret_cast<Allocation*>(pointer(block) - sizeof(Allocation)) = {memory, size};
    return block;
  }
  Status release(DevicePtr<std::byte> block) noexcept {
    const Allocation allocation = *reinterpret_cast<Allocation*>(pointer(block) - sizeof(Allocation));
    free_.value += allocation.size.value;
    std::free(allocation.memory);
    return {};
  }

  [[gnu::always_inline]] Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    traffic_.copied_in(size);
    std::memcpy(pointer(to), from, size.value);
    if constexpr (sim::HearsOfCopies<Engine>) engine_.copied_in(size);
    return {};
  }
  Status copy_in_snapshot(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    return copy_in(to, from, size);
  }
  Status fill_zeros(DevicePtr<std::byte> to, Bytes size) noexcept {
    std::memset(pointer(to), 0, size.value);
    return {};
  }
  [[nodiscard]] void* allocate_pinned(Bytes size) {
    void* memory = std::aligned_alloc(64, align_up(size.value, 64));
    if (memory == nullptr) throw Error(Errc::out_of_memory, Error::Text(name, ": no pinned memory is left"));
    return memory;
  }
  void release_pinned(void* memory) noexcept { std::free(memory); }
  /// Waits for the launch before it, since the engine may still be running.
  [[gnu::always_inline]] Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    if (const Status status = engine_.wait(); !status) [[unlikely]]
      return status;
    traffic_.copied_out(size);
    std::memcpy(to, pointer(from), size.value);
    if constexpr (sim::HearsOfCopies<Engine>) engine_.copied_out(size);
    return {};
  }
  Status wait() noexcept {
    const Status status = engine_.wait();
    if constexpr (sim::HearsOfCopies<Engine>) engine_.idle();
    return status;
  }

  [[nodiscard]] static constexpr bool can_refresh_args() noexcept { return true; }
  /// Nothing was measured: a host that computes in a device's place tells nothing of one.
  [[nodiscard]] static constexpr const args::RefreshCosts* refresh_costs() noexcept { return nullptr; }
  /// Computes args, as the device would, on the calling thread.
  Status refresh_args(const args::RefreshOp& op) noexcept {
    traffic_.computed(op.count);
    args::run_refresh(pointer(op.args), pointer(op.lanes), op.count, pointer(op.bases));
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
    args::run_refresh(pointer(op.args), pointer(op.lanes), op.count, bases);
    return {};
  }

  [[nodiscard]] const Traffic& traffic() const noexcept { return traffic_; }

  /// Turns a graph and its args table into the engine's form. @throws Error limit_exceeded, what the engine throws
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

  /// Rounds in flight run on a thread of the queue's own. @throws Error out_of_resources if that cannot be started
  [[nodiscard]] sim::DeviceQueue<Sim> open_queue(std::size_t slots, std::size_t outputs, Bytes) {
    return sim::DeviceQueue<Sim>(*this, slots, outputs);
  }

  [[nodiscard]] bool overlaps_rounds() const noexcept requires sim::OverlapsRounds<Engine> {
    return engine_.overlaps_rounds();
  }

  template <class Runtime, class Graph>
  using Orchestration = sim::dynamic::Orchestration<Sim, Runtime, Graph>;

  void request_stop() noexcept { engine_.request_stop(); }
  void keep_awake(bool awake) noexcept { engine_.keep_awake(awake); }
  [[nodiscard]] Engine& engine() noexcept { return engine_; }

  [[nodiscard]] double last_round_ns() const noexcept requires sim::PredictsTime<Engine> {
    return engine_.last_round_ns();
  }

  [[nodiscard]] const Error::Text& failure_text() const noexcept { return engine_.failure_text(); }
  template <class Sink>
  void remarks(Moment when, Sink&& sink) const noexcept {
    if (when == Moment::closing && engine_.threads_used() == 1) sink("one thread ran all tasks; more did not pay");
  }

 private:
  struct Allocation {
    void* memory;
    Bytes size;
  };

  template <class T>
  [[nodiscard]] static T* pointer(DevicePtr<T> p) noexcept {
    return reinterpret_cast<T*>(p.address());  // NOLINT: simulated device memory is host memory
  }

  friend class sim::DeviceQueue<Sim>;

  [[no_unique_address]] Traffic traffic_;
  Engine engine_;
  Bytes free_;
};

}  // namespace rondo::platform
