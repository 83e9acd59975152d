// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/device.hpp>
#include <rondo/platform/streams/host_loops.hpp>
#include <rondo/platform/streams/round_events.hpp>
#include <rondo/platform/streams/task_steps.hpp>

#include <cstdint>

namespace rondo::platform::onboard {

/// Launches the tasks of a round one by one, each between two events of the device's clock, and waits after each.
/// Lifetime: device and host must outlive it; release() destroys the events. Thread safety: that of the session.
class Stepper {
 public:
  Stepper(Device& device, const streams::LoopHost& host) noexcept : device_{device}, host_{host} {}

  [[nodiscard]] bool is_on() const noexcept { return steps_ != nullptr; }
  /// Sets the callbacks; null turns the stepper off. @throws Error out_of_resources
  void set(streams::TaskSteps* steps) {
    has_events_ = has_events_ || steps != nullptr;
    if (steps != nullptr) events_.open(device_);
    steps_ = steps;
  }

  /// Runs one round. `tasks(take)` calls `take(position, args, bytes, launch)` for each task, and stops at the first
  /// code that is not ok. `under_way` is the task that is waited for. @returns the first failure; `call` is then the
  /// name of the call that failed
  template <class Wait, class Tasks>
  [[nodiscard]] AclError round(const char*& call, Stream stream, std::uint32_t& under_way, Wait wait,
                               Tasks tasks) noexcept {
    call = "aclrtSynchronizeStreamWithTimeout";
    if (const AclError code = wait(); code != code_ok) return code;
    streams::TaskSteps& steps = *steps_;
    steps.round_begins();
    const AclError code =
        tasks([&](std::uint32_t position, const void* args, std::uint64_t bytes, auto launch) noexcept {
          const streams::TaskStep step{position, reinterpret_cast<std::uintptr_t>(args), bytes, this, &read};
          const std::uint32_t before = under_way;
          under_way = position;
          steps.task_begins(step);
          AclError failed = events_.around(device_, call, stream, launch);
          if (failed != code_ok) return failed;
          call = "aclrtSynchronizeStreamWithTimeout";
          if (failed = wait(); failed != code_ok) return failed;
          double ns = 0;
          events_.read(device_, ns);
          steps.task_ends(step, ns);
          under_way = before;
          return code_ok;
        });
    steps.round_ends(code == code_ok);
    return code;
  }

  /// Whether there may be events to release.
  [[nodiscard]] bool has_events() const noexcept { return has_events_; }
  /// @returns the first failure
  AclError release() noexcept {
    has_events_ = false;
    return events_.close(device_);
  }

 private:
  /// Reads device memory, or mapped host memory, which the runtime does not copy.
  [[nodiscard]] static bool read(void* stepper, void* to, std::uint64_t from, std::uint64_t size) noexcept {
    const auto& self = *static_cast<const Stepper*>(stepper);
    if (const void* const mapped = self.host_.host_address(from); mapped != nullptr) {
      __builtin_memcpy(to, mapped, size);
      return true;
    }
    const auto* const at = reinterpret_cast<const void*>(from);  // NOLINT: an address for the runtime
    return self.device_.copy_now(to, at, size, device_to_host, nullptr) == code_ok;
  }

  Device& device_;
  const streams::LoopHost& host_;
  streams::TaskSteps* steps_ = nullptr;
  bool has_events_ = false;
  streams::RoundEvents events_;
};

}  // namespace rondo::platform::onboard
