// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/a2a3.hpp>
#include <rondo/arch/a5.hpp>
#include <rondo/concepts.hpp>
#include <rondo/detail/fixed_text.hpp>
#include <rondo/platform/onboard/memory.hpp>
#include <rondo/platform/onboard/program.hpp>
#include <rondo/platform/onboard/staging.hpp>

#include <cstddef>
#include <cstdint>

namespace rondo::platform {

/// A real NPU through the ACL runtime: device memory, pinned staging, one stream in order, the graph as one replay.
///
/// Kernels come from Options::kernels, by name. Ordinary host memory travels through pinned staging, so it may be
/// touched again when a copy in has returned; outputs are in it when wait() has. Pinned memory (allocate_pinned)
/// travels directly.
///
/// Lifetime: immovable. The device is given back by close() or the destructor, behind the last block of memory.
/// Thread safety: one thread at a time, not always the same; different sessions are independent.
/// Errors: set-up throws. A call that the runtime refuses fails with nothing left in flight; a device that failed or
/// timed out poisons, and names the task where its own words name a kernel that one task alone runs.
/// Cost on the hot path: no allocation; one call of the runtime's per copy and per launch, one to wait.
template <arch::Arch A>
class Onboard {
 public:
  using Arch = A;
  using Options = onboard::Options;
  using Program = onboard::Program;
  static constexpr detail::FixedText<32> name_text{A::name, "_onboard"};
  static constexpr const char* name = name_text.c_str();

  /// @throws Error no_such_device (no runtime, no such device), unsupported (another chip, too old a runtime), …
  explicit Onboard(const Options& options)
      : options_{options},
        device_{{name, A::name, A::soc_prefixes, A::npu_arch}, options},
        memory_{device_, options},
        staging_{device_} {}
  Onboard(const Onboard&) = delete;
  Onboard& operator=(const Onboard&) = delete;
  ~Onboard() { (void)close(true); }

  // --- memory
  // ---------------------------------------------------------------------------------------------------------

  /// @throws Error out_of_memory
  [[nodiscard]] DevicePtr<std::byte> allocate(Bytes size, Bytes alignment) {
    const DevicePtr<std::byte> block{memory_.allocate(size, alignment)};
    if (options_.warm_up && programs_ == 0) {  // what the warm-up runs over
      const auto clear = [&] {
        device_.work_begins();
        device_.must("aclrtMemsetAsync", device_.calls().set_async(reinterpret_cast<void*>(block.address()), size.value,
                                                                   0, size.value, device_.stream()));
      };
      try {
        clear();
      } catch (...) {
        (void)memory_.release(block.address());
        throw;
      }
    }
    return block;
  }
  /// Waits for the device first, if it may still be at the block.
  Status release(DevicePtr<std::byte> block) noexcept {
    const onboard::AclError waited = drain();
    const onboard::AclError code = memory_.release(block.address());
    if (code != onboard::code_ok) return told("aclrtFree", code);
    return onboard::errc_of(waited) == Errc::timed_out ? Status{Errc::timed_out} : Status{};
  }
  /// Host memory that the device reaches by itself. @throws Error out_of_memory
  [[nodiscard]] void* allocate_pinned(Bytes size) { return staging_.pin(size); }
  void release_pinned(void* memory) noexcept {
    (void)drain();
    (void)staging_.unpin(memory);
  }

  // --- a round
  // --------------------------------------------------------------------------------------------------------

  Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    if (!staging_.is_pinned(from, size.value)) return copy_in_staged(to, from, size.value);
    if (const onboard::AclError code = begin_work(); code != onboard::code_ok) return refused("aclrtSetDevice", code);
    return copy(pointer(to), from, size.value, onboard::host_to_device);
  }

  /// Takes the bytes before it returns. The runtime does so itself for what is small, as the args table is.
  Status copy_in_snapshot(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    if (!takes_snapshots_ || size.value > most_snapshot) return copy_in_staged(to, from, size.value);
    if (const onboard::AclError code = begin_work(); code != onboard::code_ok) return refused("aclrtSetDevice", code);
    const onboard::AclError code = device_.calls().copy_async(pointer(to), size.value, from, size.value,
                                                              onboard::host_to_buffer_to_device, device_.stream());
    if (code == onboard::code_ok) [[likely]]
      return {};
    if (onboard::errc_of(code) != Errc::unsupported) return refused("aclrtMemcpyAsync", code);
    takes_snapshots_ = false;
    return copy_in_staged(to, from, size.value);
  }

  Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    if (const onboard::AclError code = begin_work(); code != onboard::code_ok) return refused("aclrtSetDevice", code);
    if (staging_.is_pinned(to, size.value)) return copy(to, pointer(from), size.value, onboard::device_to_host);
    std::byte* const staged = staging_.has_room_for_output() ? staging_.take(size.value) : nullptr;
    if (staged == nullptr) [[unlikely]]
      return copy_out_in_parts(static_cast<std::byte*>(to), from, size.value);
    staging_.expect(to, staged, size.value);
    return copy(staged, pointer(from), size.value, onboard::device_to_host);
  }

  /// Nothing to wait for costs no call.
  Status wait() noexcept {
    if (!device_.is_busy()) return {};
    const onboard::AclError code = drain();
    if (code == onboard::code_ok) [[likely]]
      return {};
    return refused("aclrtSynchronizeStreamWithTimeout", code);
  }

  /// @throws Error; see onboard::Program
  template <class Graph>
  [[nodiscard]] Program load(const Graph& graph, args::ArgsTable& args) {
    prepare(graph.view());
    return Program(device_, options_, graph.view(), args, [this](Program& program) { begin(program); });
  }
  Status launch(Program& program) noexcept {
    if (const onboard::AclError code = begin_work(); code != onboard::code_ok) return refused("aclrtSetDevice", code);
    last_ = &program;
    const char* call = nullptr;
    const onboard::AclError code = program.launch(call);
    if (code == onboard::code_ok) [[likely]]
      return {};
    return refused(call, code);
  }
  /// Waits; then graph, kernels, stream and event are gone, memory is not.
  Status unload(Program& program) noexcept {
    onboard::AclError first = program.release();
    if (last_ == &program) last_ = nullptr;
    if (programs_ != 0 && --programs_ == 0) {
      const onboard::AclError code = device_.destroy_stream();
      if (first == onboard::code_ok) first = code;
      staging_.reset();
    }
    return first == onboard::code_ok ? Status{} : told("unloading", first);
  }

  /// Gives the device back, unless blocks or pinned memory of this platform are still held: then the destructor does.
  Status close() noexcept { return close(false); }

  // --- what there is
  // --------------------------------------------------------------------------------------------------

  /// What the runtime said of the last failure.
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return device_.failure_text(); }
  [[nodiscard]] bool has_virtual_memory() const noexcept { return memory_.is_virtual(); }
  /// Is the program that was launched last one replay?
  [[nodiscard]] bool is_captured() const noexcept { return last_ != nullptr && last_->is_captured(); }
  [[nodiscard]] std::uint32_t refused_captures() const noexcept { return last_ == nullptr ? 0 : last_->refusals(); }

 private:
  /// What is handed to the runtime to snapshot at most; more goes through our own staging.
  static constexpr std::uint64_t most_snapshot = std::uint64_t{1} << 20;
  static constexpr std::uint64_t least_staging = 65536;

  template <class T>
  [[nodiscard]] static T* pointer(DevicePtr<T> p) noexcept {
    return reinterpret_cast<T*>(p.address());  // NOLINT: an address for the runtime; the host never follows it
  }

  [[nodiscard]] onboard::AclError begin_work() noexcept {
    if (device_.stream() == nullptr) [[unlikely]]
      return 107002;
    device_.work_begins();
    return device_.enter();
  }
  [[nodiscard]] Status copy(void* to, const void* from, std::uint64_t size, onboard::CopyKind kind) noexcept {
    const onboard::AclError code = device_.calls().copy_async(to, size, from, size, kind, device_.stream());
    if (code == onboard::code_ok) [[likely]]
      return {};
    return refused("aclrtMemcpyAsync", code);
  }

  [[nodiscard]] Status copy_in_staged(DevicePtr<std::byte> to, const void* from, std::uint64_t size) noexcept {
    if (const onboard::AclError code = begin_work(); code != onboard::code_ok) return refused("aclrtSetDevice", code);
    std::byte* const staged = staging_.take(size);
    if (staged == nullptr) [[unlikely]]
      return copy_in_in_parts(to, static_cast<const std::byte*>(from), size);
    __builtin_memcpy(staged, from, size);
    return copy(pointer(to), staged, size, onboard::host_to_device);
  }
  /// More than the staging has room for: wait until it is free, then part by part.
  [[gnu::cold, gnu::noinline]] Status copy_in_in_parts(DevicePtr<std::byte> to, const std::byte* from,
                                                       std::uint64_t size) noexcept {
    Status status = make_room();
    while (status.ok() && size != 0) {
      const std::uint64_t part = size < staging_.capacity() ? size : staging_.capacity();
      std::byte* const staged = staging_.take(part);
      __builtin_memcpy(staged, from, part);
      device_.work_begins();
      status = copy(pointer(to), staged, part, onboard::host_to_device);
      to = to.offset(Bytes{part});
      from += part;
      size -= part;
      if (status.ok() && size != 0) status = wait();
    }
    return status;
  }
  [[gnu::cold, gnu::noinline]] Status copy_out_in_parts(std::byte* to, DevicePtr<const std::byte> from,
                                                        std::uint64_t size) noexcept {
    Status status = make_room();
    while (status.ok() && size != 0) {
      const std::uint64_t part = size < staging_.capacity() ? size : staging_.capacity();
      std::byte* const staged = staging_.take(part);
      staging_.expect(to, staged, part);
      device_.work_begins();
      status = copy(staged, pointer(from), part, onboard::device_to_host);
      to += part;
      from = from.offset(Bytes{part});
      size -= part;
      if (status.ok() && size != 0) status = wait();
    }
    return status;
  }
  [[nodiscard]] Status make_room() noexcept {
    if (const Status status = wait(); !status) return status;
    if (staging_.capacity() != 0) return {};
    try {
      staging_.resize(least_staging, 16);  // before any program is loaded
    } catch (const Error& e) {
      return Status{e.code()};
    } catch (...) {
      return Status{Errc::out_of_memory};
    }
    return {};
  }

  [[nodiscard]] onboard::AclError drain() noexcept {
    const onboard::AclError code = device_.wait();
    if (code == onboard::code_ok && !device_.is_busy()) staging_.deliver();
    return code;
  }
  /// A call failed: what was asked of the device before it is waited for, outputs are not delivered.
  [[gnu::cold, gnu::noinline]] Status refused(const char* call, onboard::AclError code) noexcept {
    staging_.forget_outputs();
    Status status = device_.failed(call, code);
    if (!device_.is_busy()) staging_.reset();
    if (status.code() == Errc::device_failed && last_ != nullptr) {
      const Error::Text& said = device_.failure_text();
      status = last_->blame(status, {said.data(), said.size()});
    }
    return status;
  }
  [[gnu::cold]] Status told(const char* call, onboard::AclError code) noexcept {
    device_.note(call, code);
    return Status{onboard::errc_of(code)};
  }

  /// Staging for what a round moves, within the limit.
  void prepare(const graph::GraphView& view) {
    device_.create_stream();
    std::uint64_t bytes = 0;
    std::size_t outputs = 16;
    for (const graph::TensorRecord& tensor : view.tensors) {
      const std::uint64_t size = align_up(tensor.bytes, 64);
      if (copies_in(tensor.direction)) bytes += size;
      if (copies_out(tensor.direction)) bytes += size;
      if (copies_out(tensor.direction)) ++outputs;
    }
    bytes = bytes < least_staging ? least_staging : bytes;
    bytes = bytes < options_.staging.value ? bytes : align_up(options_.staging.value + 64, 64);
    device_.must("aclrtSynchronizeStreamWithTimeout", drain());
    staging_.resize(bytes, outputs);
  }
  /// Runs a program for the first time, so that no round does.
  void begin(Program& program) {
    ++programs_;
    if (!options_.warm_up || program.empty()) return;
    Status status = launch(program);
    if (status.ok()) status = wait();
    if (status.ok()) return;
    --programs_;
    last_ = nullptr;
    Error::Text text(name, ": the first run, over memory that is all zero, failed: ", status.message(), "; it said: ");
    text.append(failure_text());
    text.append(". If a kernel cannot stand zeros, set Options::warm_up = false");
    throw Error(status.code(), text);
  }

  Status close(bool at_the_end) noexcept {
    if (is_closed_) return {};
    onboard::AclError first = drain();
    const auto keep = [&](onboard::AclError code) {
      if (first == onboard::code_ok) first = code;
    };
    keep(device_.destroy_stream());
    if (at_the_end) keep(staging_.release_all());
    if (at_the_end) keep(memory_.release_all());
    keep(staging_.release_buffer());
    if (memory_.empty() && !staging_.has_pinned()) {
      keep(device_.close());
      is_closed_ = true;
    }
    return first == onboard::code_ok ? Status{} : told("closing", first);
  }

  const Options options_;
  onboard::Device device_;
  onboard::DeviceMemory memory_;
  onboard::Staging staging_;
  Program* last_ = nullptr;
  std::uint32_t programs_ = 0;
  bool takes_snapshots_ = true;
  bool is_closed_ = false;
};
static_assert(check_platform<Onboard<arch::A2A3>>() && check_platform<Onboard<arch::A5>>());

}  // namespace rondo::platform

namespace rondo {
using platform::onboard::Completion;
}
