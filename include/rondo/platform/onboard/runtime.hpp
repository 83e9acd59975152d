// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/acl.hpp>
#include <rondo/platform/onboard/codes.hpp>
#include <rondo/platform/onboard/library.hpp>

#include <cstdint>
#include <mutex>

namespace rondo::platform::onboard {

/// The vendor's runtime in this process. The library is loaded once, and initialised while any device is open; each
/// device is given back as often as it was taken.
///
/// Thread safety: any thread. Lifetime: until the process ends, so that a session may outlive main. Errors: open()
/// throws the errors of open_library() and of the runtime, and then leaves nothing open.
class Runtime {
 public:
  static constexpr std::uint32_t max_devices = 64;

  static Runtime& instance() {
    static Runtime& runtime = *new Runtime;  // never destroyed: static sessions close after main
    return runtime;
  }
  [[nodiscard]] const Calls& calls() const noexcept { return calls_; }

  /// Opens device `device` once more, also for the calling thread. @returns the token for enter()
  std::uint64_t open(std::uint32_t device, const char* platform) {
    const std::lock_guard lock{mutex_};
    if (!is_found_) {
      open_library(calls_);
      is_found_ = true;
    }
    if (open_ == 0) {
      const AclError code = calls_.init(nullptr);
      is_ours_ = code == code_ok;
      if (code != code_initialised_already) check(calls_, platform, "aclInit", code);
    }
    ++open_;
    try {
      std::uint32_t count = 0;
      check(calls_, platform, "aclrtGetDeviceCount", calls_.device_count(&count));
      if (device >= count || device >= max_devices) {
        throw Error(Errc::no_such_device,
                    Error::Text{platform, ": there is no device ", device, ", the machine has ", count});
      }
      Device& d = devices_[device];
      if (d.open == 0 || entered_ != d.token) {
        check(calls_, platform, "aclrtSetDevice", calls_.set_device(static_cast<std::int32_t>(device)));
        ++d.taken;
      }
      if (d.open++ == 0) d.token = ++last_token_;
      entered_ = d.token;
      return d.token;
    } catch (...) {
      (void)leave();
      throw;
    }
  }

  [[nodiscard]] static bool has_entered(std::uint64_t token) noexcept { return entered_ == token; }
  /// Makes `device` the calling thread's device. Cost: one compare if it is already.
  [[nodiscard]] AclError enter(std::uint64_t token, std::uint32_t device) noexcept {
    return entered_ == token ? code_ok : enter_anew(token, device);
  }

  /// Undoes open(). The last call gives the device back, and ends the runtime if open() began it. A device that hangs
  /// is not given back, because that call would not return; the end of the process gives it back.
  [[nodiscard]] AclError close(std::uint32_t device) noexcept {
    const std::lock_guard lock{mutex_};
    Device& d = devices_[device];
    AclError code = code_ok;
    if (--d.open == 0) {
      if (d.is_lost) d.taken = 0;
      for (; d.taken != 0; --d.taken) {
        const AclError reset = calls_.reset_device(static_cast<std::int32_t>(device));
        if (code == code_ok) code = reset;
      }
      d.token = 0;
      entered_ = 0;
    }
    const AclError left = leave();
    return code == code_ok ? left : code;
  }

  /// Notes that something on the device hangs and cannot be ended.
  void lose(std::uint32_t device) noexcept {
    const std::lock_guard lock{mutex_};
    devices_[device].is_lost = true;
    has_lost_ = true;
  }
  /// Whether something on the device hangs.
  [[nodiscard]] bool is_lost(std::uint32_t device) noexcept {
    const std::lock_guard lock{mutex_};
    return devices_[device].is_lost;
  }
  /// Notes that the device was reset by force: no thread has it any more, so each takes it again.
  void forget(std::uint32_t device) noexcept {
    const std::lock_guard lock{mutex_};
    devices_[device].taken = 0;
    devices_[device].is_lost = false;
    devices_[device].token = ++last_token_;
    entered_ = 0;
  }

 private:
  struct Device {
    std::uint32_t open = 0;
    std::uint32_t taken = 0;  ///< how often Rondo has set the device: the runtime expects as many resets
    std::uint64_t token = 0;  ///< a different number each time the device is opened or was reset by force
    bool is_lost = false;
  };

  Runtime() = default;

  [[gnu::cold, gnu::noinline]] AclError enter_anew(std::uint64_t token, std::uint32_t device) noexcept {
    const std::lock_guard lock{mutex_};
    const AclError code = calls_.set_device(static_cast<std::int32_t>(device));
    if (code == code_ok) {
      ++devices_[device].taken;
      entered_ = token;
    }
    return code;
  }
  AclError leave() noexcept {
    if (--open_ != 0 || !is_ours_ || has_lost_) return code_ok;
    is_ours_ = false;
    return calls_.finalize();
  }

  /// The token of the device that the calling thread has entered.
  static inline constinit thread_local std::uint64_t entered_ = 0;

  std::mutex mutex_;
  Calls calls_;
  bool is_found_ = false;
  bool is_ours_ = false;
  bool has_lost_ = false;
  std::uint32_t open_ = 0;
  std::uint64_t last_token_ = 0;
  Device devices_[max_devices];
};

}  // namespace rondo::platform::onboard
