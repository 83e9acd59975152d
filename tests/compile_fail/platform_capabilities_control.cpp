// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/freeze.hpp>
#include <rondo/platform/check_platform.hpp>
#include <rondo/platform/null.hpp>
#include <rondo/runtime/host_build_graph.hpp>

#include <cstddef>
#include <span>
#include <vector>

using namespace rondo;

struct Mine : NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr Capabilities capabilities{
      Capability::close,          Capability::queue,         Capability::snapshot_copy,
      Capability::pinned_memory,  Capability::zero_fill,     Capability::device_refresh,
      Capability::launch_refresh, Capability::arena_move,    Capability::staying_awake,
      Capability::stopping,       Capability::failure_text,  Capability::remarks,
      Capability::engine,         Capability::orchestration, Capability::queued_orchestration,
      Capability::round_time,     Capability::holdings,      Capability::callers_stream,
      Capability::loops,          Capability::learning,      Capability::memory_registry,
      Capability::memory_kinds,   Capability::device_copy};
  static constexpr MemoryKinds memory_kinds{MemoryKind::peer};
  DevicePtr<std::byte> allocate(Bytes, Bytes);
  DevicePtr<std::byte> allocate(MemoryKind, Bytes, Bytes);
  void* host_address(DevicePtr<std::byte>) const noexcept;
  static constexpr memory::Concurrency concurrency = memory::Concurrency::in_lanes;
  static FrozenGraph deal(FrozenGraph, const Options&);
  Status close() noexcept;
  struct Queue {
    void reserve(Bytes);
    Status copy_in(std::uint32_t, DevicePtr<std::byte>, const void*, Bytes) noexcept;
    Status copy_out(std::uint32_t, void*, DevicePtr<const std::byte>, Bytes) noexcept;
    Status launch(std::uint32_t, Program&) noexcept;
    Status refresh_args(std::uint32_t, const args::RefreshOp&) noexcept;
    Status copy_on_device(std::uint32_t, const DeviceCopy&) noexcept;
    Status commit(std::uint32_t) noexcept;
    bool is_done(std::uint32_t) noexcept;
    void await(std::uint32_t) noexcept;
    Status deliver(std::uint32_t) noexcept;
    void cancel(std::uint32_t) noexcept;
    Status close() noexcept;
  };
  Queue open_queue(std::size_t, std::size_t, Bytes);
  Status copy_on_device(const DeviceCopy&) noexcept;
  Status copy_in_snapshot(DevicePtr<std::byte>, const void*, Bytes) noexcept;
  void* allocate_pinned(Bytes);
  void release_pinned(void*) noexcept;
  Status fill_zeros(DevicePtr<std::byte>, Bytes) noexcept;
  bool can_refresh_args() const noexcept;
  const args::RefreshCosts* refresh_costs() const noexcept;
  Status refresh_args(const args::RefreshOp&) noexcept;
  static constexpr std::uint32_t max_launch_bytes = 1024;
  Status refresh_in_launch(const args::RefreshOp&, const args::LaunchPayload&) noexcept;
  void move_arena(Program&, DevicePtr<std::byte>, DevicePtr<std::byte>) noexcept {}
  void keep_awake(bool) noexcept;
  void request_stop() noexcept;
  const Error::Text& failure_text() const noexcept;
  template <class Sink>
  void remarks(Moment, Sink&&) const noexcept;
  double last_round_ns() const noexcept;
  template <class Sink>
  void holdings(Sink&&) const;
  struct Stream {
    Status begin() noexcept;
    bool is_recording() const noexcept;
    Status copy_in(DevicePtr<std::byte>, const void*, Bytes, bool) noexcept;
    Status launch(Program&) noexcept;
    Status copy_out(void*, DevicePtr<const std::byte>, Bytes) noexcept;
    Status copy_on_device(const DeviceCopy&) noexcept;
    Status end() noexcept;
    void abandon() noexcept;
    void* event() const noexcept;
    Status copy_before_replays(DevicePtr<std::byte>, const void*, Bytes) noexcept;
    Status note_recorded(std::uint32_t, const void*) noexcept;
    bool is_recorded(std::uint32_t, const void*) const noexcept;
    bool has_recorded() const noexcept;
    Status wait() noexcept;
    Status may_close() noexcept;
  };
  Stream& callers_stream() noexcept;
  std::vector<std::byte> learned(const Program&) const;
  void restore(Program&, std::span<const std::byte>);
  memory::Space memory_space() const noexcept;
  struct Engine {};
  Engine& engine() noexcept;
  template <class Runtime, class Graph>
  struct Orchestration {};
};
static_assert(check_platform<Mine>());
static_assert(QueueLaunches<Mine::Queue, Mine::Program>);
template class runtime::HostBuildGraph::Runner<Mine, FrozenGraph>;
