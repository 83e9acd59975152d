// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/streams/api.hpp>

#include <initializer_list>

namespace rondo::platform::streams {

/// Two events on the device's timeline around the tasks of a round. Lifetime: close() releases the events. Thread
/// safety: none. Cost: two records for each round, and one query after it is over.
class RoundEvents {
 public:
  RoundEvents() noexcept = default;
  RoundEvents(const RoundEvents&) = delete;
  RoundEvents& operator=(const RoundEvents&) = delete;

  /// Creates the events if they do not exist yet. @throws Error out_of_resources
  template <class Device>
  void open(Device& device) {
    using Api = typename Device::Api;
    for (Event* const event : {&begin_, &end_}) {
      if (*event != nullptr) continue;
      device.must(Api::create_event, device.calls().create_event(event, Api::timed_event));
    }
  }
  /// Runs `launch`, which enqueues the tasks on the stream, between the two records.
  template <class Device, class Launch>
  Code around(Device& device, const char*& call, Stream stream, Launch launch) noexcept {
    call = Device::Api::record_event;
    Code code = device.calls().record_event(begin_, stream);
    if (code == code_ok) code = launch();
    if (code != code_ok) return code;
    call = Device::Api::record_event;
    is_pending_ = true;
    return device.calls().record_event(end_, stream);
  }
  /// Writes how long the tasks took to `ns`, or 0 if the runtime refuses to report it; writes nothing if no round was
  /// launched since the last call. Precondition: the stream is idle.
  template <class Device>
  void read(Device& device, double& ns) noexcept {
    float ms = 0;
    if (!is_pending_) return;
    is_pending_ = false;
    ns = device.calls().elapsed_time(&ms, begin_, end_) == code_ok ? 1e6 * static_cast<double>(ms) : 0;
  }
  /// @returns the first failure
  template <class Device>
  Code close(Device& device) noexcept {
    Code first = code_ok;
    for (Event* const event : {&begin_, &end_}) {
      if (*event == nullptr) continue;
      keep_first(first, device.calls().destroy_event(*event));
      *event = nullptr;
    }
    return first;
  }

 private:
  Event begin_ = nullptr;
  Event end_ = nullptr;
  bool is_pending_ = false;
};

/// RoundEvents of platforms that do not report the duration of rounds; adds no instruction.
struct NoRoundEvents {
  template <class Device>
  void open(Device&) noexcept {}
  template <class Device, class Launch>
  [[gnu::always_inline]] Code around(Device&, const char*&, Stream, Launch launch) noexcept {
    return launch();
  }
  template <class Device>
  void read(Device&, double&) noexcept {}
  template <class Device>
  Code close(Device&) noexcept {
    return code_ok;
  }
};

}  // namespace rondo::platform::streams
