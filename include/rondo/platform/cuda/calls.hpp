// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/capability.hpp>
#include <rondo/platform/cuda/codes.hpp>

#include <cstddef>
#include <cstdint>
#include <ctime>

namespace rondo::platform::cuda {

/// The driver's calls in the form that the shared parts of platforms with streams expect; see streams/api.hpp. All of
/// them return at once, except synchronize().
class StreamCalls {
 public:
  StreamCalls(const Calls& calls, std::uint32_t spins) noexcept : calls_{&calls}, spins_{spins} {}

  [[nodiscard]] const Calls& driver() const noexcept { return *calls_; }

  Result create_stream(Stream* stream, std::uint32_t priority, std::uint32_t flags) const noexcept {
    return calls_->create_stream(stream, flags, static_cast<int>(priority));
  }
  Result destroy_stream(Stream stream) const noexcept { return released(calls_->destroy_stream(stream)); }
  Result create_event(Event* event, std::uint32_t flags) const noexcept { return calls_->create_event(event, flags); }
  Result destroy_event(Event event) const noexcept { return released(calls_->destroy_event(event)); }
  Result record_event(Event event, Stream stream) const noexcept { return calls_->record_event(event, stream); }
  Result wait_event(Stream stream, Event event) const noexcept { return calls_->wait_event(stream, event, 0); }
  Result query_event(Event event, int* status) const noexcept {
    const Result code = calls_->query_event(event);
    *status = code == success ? 1 : 0;
    return code == not_ready ? success : code;
  }
  Result elapsed_time(float* ms, Event from, Event to) const noexcept { return calls_->elapsed_time(ms, from, to); }
  Result malloc_host(void** memory, std::size_t size) const noexcept {
    return calls_->malloc_host(memory, size, host_portable);
  }
  Result free_host(void* memory) const noexcept { return released(calls_->free_host(memory)); }
  Result copy_async(void* to, std::size_t, const void* from, std::size_t size, int kind, Stream stream) const noexcept {
    const auto address = [](const void* p) { return static_cast<Pointer>(reinterpret_cast<std::uintptr_t>(p)); };
    if (kind == streams::host_to_device) return calls_->copy_to_device(address(to), from, size, stream);
    if (kind == streams::device_to_host) return calls_->copy_to_host(to, address(from), size, stream);
    return calls_->copy_inside(address(to), address(from), size, stream);
  }
  /// Whether one call makes the copy: the driver takes strides from the size of a piece up to 2^31 - 1.
  [[nodiscard]] static bool takes_rows(const DeviceCopy& copy) noexcept {
    const auto size = static_cast<std::int64_t>(copy.size.value);
    const auto fits = [&](std::int64_t stride) { return stride >= size && stride <= INT32_MAX; };
    return copy.count > 1 && fits(copy.to_stride) && fits(copy.from_stride);
  }
  Result copy_rows(const DeviceCopy& copy, Stream stream) const noexcept {
    CopyRows rows;
    rows.from = copy.from.address();
    rows.from_pitch = static_cast<std::size_t>(copy.from_stride);
    rows.to = copy.to.address();
    rows.to_pitch = static_cast<std::size_t>(copy.to_stride);
    rows.width = copy.size.value;
    rows.height = copy.count;
    return calls_->copy_rows(&rows, stream);
  }

  /// Waits for all work on a stream. It asks the driver a number of times, and then again after each sleep of 50 µs,
  /// because the driver's own wait has no time limit. Without a limit (-1) it calls the driver's wait.
  [[nodiscard]] Result synchronize(Stream stream, std::int32_t timeout_ms) const noexcept {
    if (timeout_ms < 0) return calls_->synchronize(stream);
    const InRelaxedMode relaxed(*calls_);  // so that another thread's capture is not ended by a query
    const std::int64_t end_ms = streams::now_ms() + timeout_ms;
    for (std::uint64_t queries = 1;; ++queries) {
      if (const Result code = calls_->query_stream(stream); code != not_ready) return code;
      if (queries < spins_ && queries % queries_per_look != 0) continue;
      if (streams::now_ms() >= end_ms) return waited_too_long;
      if (queries < spins_) continue;
      const timespec pause{0, 50'000};
      (void)nanosleep(&pause, nullptr);
    }
  }

 private:
  static constexpr std::uint64_t queries_per_look = 1024;  ///< at the clock, before the first sleep

  const Calls* calls_;
  std::uint32_t spins_;
};

}  // namespace rondo::platform::cuda
