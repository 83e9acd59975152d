// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/args/refresh_op.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/space.hpp>
#include <rondo/platform/capability.hpp>
#include <rondo/platform/streams/api.hpp>
#include <rondo/platform/streams/callers_stream.hpp>
#include <rondo/platform/streams/device_queue.hpp>
#include <rondo/platform/streams/host_loops.hpp>
#include <rondo/platform/streams/refresh_costs.hpp>
#include <rondo/platform/streams/round_events.hpp>
#include <rondo/platform/streams/transfers.hpp>
#include <rondo/types.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rondo::platform::streams {

/// The members that all platforms with a vendor's streams have in common. A platform derives from it, and adds how
/// memory is allocated and zeroed, how a graph is loaded, and what it reports.
///
/// `Parts` has the platform's `name`; the types Options, Device, Memory, RefreshKernel, DecideKernel and Program; and
/// `identity`. The device is constructed from `identity` and the options, memory and kernels from the device and the
/// options. `RoundEvents`: NoRoundEvents, or RoundEvents, which measure how long rounds take.
///
/// Thread safety, errors and costs: those that the platforms state.
template <arch::Arch A, class Parts, class RoundEvents>
class DevicePlatform {
 protected:
  static constexpr bool is_timed = std::is_same_v<RoundEvents, streams::RoundEvents>;
  using Device = typename Parts::Device;
  using Api = typename Device::Api;
  using Transfers = streams::Transfers<A, Device>;

 public:
  using Arch = A;
  using Options = typename Parts::Options;
  using Program = typename Parts::Program;
  static constexpr const char* name = Parts::name;
  static constexpr std::uint32_t max_launch_bytes = Parts::RefreshKernel::most_bytes;

  DevicePlatform(const DevicePlatform&) = delete;
  DevicePlatform& operator=(const DevicePlatform&) = delete;

  // --- memory

  /// Returns the host address of mapped host memory; null for any other memory.
  [[nodiscard]] void* host_address(DevicePtr<std::byte> p) const noexcept {
    device_.note_contents();  // the caller may write to it at any time
    return memory_.host_address(p.address());
  }
  /// Gives a block back. Waits first for what may use it: the work on the device's stream, and enqueued rounds. If they
  /// do not end in time, the block stays: a second call ends them by force, and the destructor releases what is left.
  /// Any other failure of the wait is returned after the block is given back.
  Status release(DevicePtr<std::byte> block) noexcept {
    Status waited;
    if (!await_uses(waited)) return waited;
    const Code code = memory_.release(block.address());
    return code == code_ok ? waited : noted(Api::free, code);
  }
  /// Allocates host memory that the device accesses directly. @throws Error out_of_memory
  [[nodiscard]] void* allocate_pinned(Bytes size) { return transfers_.pin(size); }
  /// Gives pinned memory back. Waits first, as release() does; if that is late, the destructor gives the memory back.
  void release_pinned(void* memory) noexcept {
    Status waited;
    if (await_uses(waited)) (void)transfers_.staging().unpin(memory);
  }
  [[nodiscard]] rondo::memory::Space memory_space() const noexcept { return memory_.space(); }

  // --- a round

  [[gnu::always_inline]] Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    return transfers_.copy_in(to, from, size.value);
  }
  /// Copies to the device; reads the host's bytes before it returns.
  Status copy_in_snapshot(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    return transfers_.copy_in_snapshot(to, from, size.value);
  }
  [[gnu::always_inline]] Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    return transfers_.copy_out(to, from, size.value);
  }
  /// Makes one copy of rows where the device can, and otherwise one copy for each piece.
  Status copy_on_device(const DeviceCopy& copy) noexcept { return transfers_.copy_on_device(copy); }
  /// Waits for the device. Makes no call if there is nothing to wait for.
  Status wait() noexcept {
    const Status status = transfers_.wait();
    if (!status.ok()) [[unlikely]]
      return named(status);
    events_.read(device_, round_ns_);
    return status;
  }
  Status launch(Program& program) noexcept {
    if (const Code code = transfers_.begin_launch(); code != code_ok) [[unlikely]]
      return named(transfers_.refused(code));
    last_ = &program;
    const char* call = nullptr;
    const auto launch = [&]() __attribute__((always_inline)) { return program.launch(call, device_.stream()); };
    const Code code = events_.around(device_, call, device_.stream(), launch);
    if (code != code_ok) [[unlikely]]
      return named(transfers_.refused(code, call));
    return {};
  }
  /// Tells a program that the arena has moved, with the memory that each round sets to zero and conditions of loops.
  void move_arena(Program& program, DevicePtr<std::byte> from, DevicePtr<std::byte> to) noexcept {
    program.move_arena(to.address() - from.address());
  }
  /// Ends the current round, or else a later one, at the next decision that the host makes about a loop, with
  /// `stopped`, which poisons the session. Other rounds do not end. Thread safety: any thread.
  void request_stop() noexcept { host_.stop.store(true, std::memory_order_relaxed); }

  /// Makes a queue for rounds in flight. Each slot has its own stream, so copies of one round overlap with tasks of
  /// others. @throws Error out_of_memory, out_of_resources
  [[nodiscard]] DeviceQueue<A, Parts, RoundEvents> open_queue(std::size_t slots, std::size_t outputs, Bytes bytes) {
    return {device_, refresh_, slots, outputs, bytes, options_.staging, round_ns_, queue_staging_};
  }
  /// The caller's stream, for rounds that Rondo does not wait for.
  [[nodiscard]] CallersStream<Device>& callers_stream() noexcept { return callers_; }

  // --- args that the device computes

  /// Whether Rondo's refresh kernel is there and computes the right addresses.
  [[nodiscard]] bool can_refresh_args() const noexcept { return refresh_.is_usable(); }
  /// Returns the host and the device, as cost files name them.
  [[nodiscard]] auto machine() const { return device_.machine(); }
  /// Returns the costs of refreshing if they were given, in a file or measured; otherwise null.
  [[nodiscard]] const args::RefreshCosts* refresh_costs() const noexcept { return refresh_costs_.get(); }
  Status refresh_args(const args::RefreshOp& op) noexcept {
    return transfers_.launch_refresh([&](Stream stream) { return refresh_.launch(op, nullptr, stream); });
  }
  /// Refreshes the args with bases that the launch carries; nothing is copied.
  Status refresh_in_launch(const args::RefreshOp& op, const args::LaunchPayload& payload) noexcept {
    if (payload.bytes() > max_launch_bytes) return Status{Errc::limit_exceeded};
    return transfers_.launch_refresh([&](Stream stream) { return refresh_.launch(op, &payload, stream); });
  }

  // --- reports

  /// Returns the vendor's description of the last failure.
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return device_.failure_text(); }
  /// Returns the time of the last round that was waited for or delivered.
  [[nodiscard]] double last_round_ns() const noexcept
    requires is_timed
  {
    return round_ns_;
  }

 protected:
  /// Waits for the work on the device's stream and for enqueued rounds. @returns whether they are over; `waited`: the
  /// outcome
  [[nodiscard]] bool await_uses(Status& waited) noexcept {
    waited = callers_.wait();
    waited = first_failure(waited, transfers_.wait());
    return !callers_.is_pending() && !device_.is_busy();
  }
  static constexpr Capabilities shared_capabilities =
      Capabilities{Capability::close,           Capability::queue,          Capability::snapshot_copy,
                   Capability::pinned_memory,   Capability::zero_fill,      Capability::arena_move,
                   Capability::failure_text,    Capability::remarks,        Capability::holdings,
                   Capability::device_refresh,  Capability::launch_refresh, Capability::callers_stream,
                   Capability::memory_registry, Capability::loops,          Capability::stopping,
                   Capability::memory_kinds,    Capability::device_copy} |
      (is_timed ? Capabilities{Capability::round_time} : Capabilities{});

  /// @throws Error as the parts do
  explicit DevicePlatform(const Options& options)
      : options_{options},
        device_{Parts::identity, options},
        memory_{device_, options},
        transfers_{device_},
        refresh_{device_, options_},
        decide_{device_, options_},
        refresh_costs_{options_, name, device_, refresh_} {}
  ~DevicePlatform() = default;

  /// Adds the name of the task to a failure, if it is known.
  [[gnu::cold, gnu::noinline]] Status named(Status status) const noexcept {
    return last_ == nullptr ? status : last_->blame(status);
  }
  [[gnu::cold]] Status noted(const char* call, Code code) noexcept {
    device_.note(call, code);
    return Status{Api::errc_of(code)};
  }

  /// Before a graph is loaded: resizes the staging to hold the copies of a round, within the limit.
  void prepare(const graph::GraphView& view) {
    events_.open(device_);
    callers_.open(view);
    const auto needs = staging_needs<A>(view, Transfers::longest_run, options_.staging);
    if (const Status status = transfers_.wait(); !status) {
      throw Error(status.code(), Error::Text{name, ": waiting for what was copied: ", failure_text()});
    }
    device_.must(Api::malloc_host, transfers_.resize(needs.bytes, needs.remembered, needs.inputs, needs.outputs));
  }
  template <class Sink>
  void shared_holdings(Sink& sink) const {
    memory_.holdings(sink);
    transfers_.holdings(sink, queue_staging_, host_.pinned);
  }
  /// Releases the device, and before it what the platform holds: `release_more` returns a code. While blocks or pinned
  /// memory are held, the device stays open, except at the end.
  Status close(bool at_the_end, const auto& release_more) noexcept {
    if (is_closed_) return {};
    const Status waited = transfers_.wait();
    Code first = device_.stop();
    keep_first(first, events_.close(device_));
    keep_first(first, callers_.close());
    keep_first(first, release_more());
    keep_first(first, refresh_.release());
    keep_first(first, decide_.release());
    if (at_the_end) keep_first(first, transfers_.staging().release_all());
    if (at_the_end) keep_first(first, memory_.release_all());
    transfers_.forget_plan();
    keep_first(first, transfers_.staging().release_unused());
    if (memory_.empty() && !transfers_.staging().has_pinned()) {
      keep_first(first, device_.close());
      is_closed_ = true;
    }
    return first == code_ok ? waited : noted("closing", first);
  }

  const Options options_;
  Device device_;
  typename Parts::Memory memory_;
  Transfers transfers_;
  CallersStream<Device> callers_{device_};
  [[no_unique_address]] RoundEvents events_;
  double round_ns_ = 0;
  typename Parts::RefreshKernel refresh_;
  typename Parts::DecideKernel decide_;
  ConfiguredCosts refresh_costs_;
  Program* last_ = nullptr;
  std::uint64_t queue_staging_ = 0;
  LoopHost host_{memory_};
  bool is_closed_ = false;
};

}  // namespace rondo::platform::streams
