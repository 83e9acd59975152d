// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/concepts.hpp>
#include <rondo/detail/fixed_text.hpp>
#include <rondo/platform/sim/engine.hpp>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace rondo::platform {

/// A simulated NPU: device memory is host memory, kernels run as host functions on `Engine`. What differs between chips
/// is read from the arch `A`; what differs between ways to run tasks is the engine's.
///
/// Thread safety: one thread at a time. Errors: allocate throws out_of_memory; a kernel's exception poisons.
/// Cost on the hot path: a copy is one memcpy; the rest is the engine's.
template <arch::Arch A, class Engine>
class Sim {
 public:
  using Arch = A;
  static constexpr detail::FixedText<32> name_text{A::name, "_sim"};
  static constexpr const char* name = name_text.c_str();

  struct Options {
    /// What the device holds at most; less makes out-of-memory testable.
    Bytes device_memory{std::uint64_t{1} << 62};
    typename Engine::Options engine{};
  };

  explicit Sim(const Options& options)
      : engine_{sim::make_engine<Engine>(options.engine, arch::chip_of<A>)}, free_{options.device_memory} {}

  /// @throws Error out_of_memory
  [[nodiscard]] DevicePtr<std::byte> allocate(Bytes size, Bytes alignment) {
    // Where it came from stands in front of the block, in a stretch of `alignment` bytes that keeps the block aligned.
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
    std::memcpy(pointer(to), from, size.value);
    if constexpr (sim::HearsOfCopies<Engine>) engine_.copied_in(size);
    return {};
  }
  /// Waits for the launch before it, since the engine may still be running.
  [[gnu::always_inline]] Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    if (const Status status = engine_.wait(); !status) [[unlikely]]
      return status;
    std::memcpy(to, pointer(from), size.value);
    if constexpr (sim::HearsOfCopies<Engine>) engine_.copied_out(size);
    return {};
  }
  Status wait() noexcept {
    const Status status = engine_.wait();
    if constexpr (sim::HearsOfCopies<Engine>) engine_.idle();
    return status;
  }

  /// Turns a graph and its args table into the engine's form. @throws Error limit_exceeded, what the engine throws
  template <class Graph>
  [[nodiscard]] auto load(const Graph& graph, args::ArgsTable& args) {
    return engine_.load(graph, args);
  }
  template <class Program>
  Status launch(Program& program) noexcept {
    return engine_.launch(program);
  }
  template <class Program>
  Status unload(Program& program) noexcept {
    return engine_.unload(program);
  }

  /// Ends the round under way, or else the next, with `stopped`. From any thread.
  void request_stop() noexcept { engine_.request_stop(); }
  /// Keeps the engine's threads from going to sleep between rounds.
  void keep_awake(bool awake) noexcept { engine_.keep_awake(awake); }
  [[nodiscard]] Engine& engine() noexcept { return engine_; }

  [[nodiscard]] const Error::Text& failure_text() const noexcept { return engine_.failure_text(); }

 private:
  struct Allocation {
    void* memory;
    Bytes size;
  };

  template <class Byte>
  [[nodiscard]] static Byte* pointer(DevicePtr<Byte> p) noexcept {
    return reinterpret_cast<Byte*>(p.address());  // NOLINT: simulated device memory is host memory
  }

  Engine engine_;
  Bytes free_;
};

}  // namespace rondo::platform
