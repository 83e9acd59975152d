// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/cuda/codes.hpp>
#include <rondo/platform/cuda/library.hpp>

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace rondo::platform::cuda {

/// Appends the driver's name and description of a code to a text.
[[gnu::cold]] inline void append_words(Error::Text& text, const Calls& calls, Result code) noexcept {
  const char* name = nullptr;
  const char* words = nullptr;
  if (code < 0 || calls.error_name == nullptr) return;
  if (calls.error_name(code, &name) == success && name != nullptr)
    text.append(" ("), text.append(name), text.append(")");
  if (calls.error_string(code, &words) == success && words != nullptr) text.append(": "), text.append(words);
}

/// Throws unless the code is success. @throws Error with the code, the driver's description, and what to do
inline void check(const Calls& calls, const char* platform, const char* call, Result code) {
  if (code == success) [[likely]]
    return;
  const Errc errc = errc_of(code);
  Error::Text text{platform, ": ", call, " returned ", code};
  append_words(text, calls, code);
  text.append("; ");
  text.append(describe(errc));
  throw Error(errc, text);
}

/// The driver in this process. Its library is found and initialised once. The primary context of each device is
/// retained while any session has the device open, so that frameworks in the same process share it.
///
/// While some thread captures a stream in the global mode, the driver refuses calls such as allocating memory or asking
/// an event in all threads, and that capture is lost. Such calls are therefore made in the relaxed mode, except
/// query_stream, whose callers change the mode themselves.
///
/// Thread safety: any thread. Lifetime: until the process ends, so that a session may outlive main. Errors: open()
/// throws as open_library() does, and errors of the driver; it then releases everything.
class Runtime {
 public:
  static Runtime& instance() {
    static Runtime& runtime = *new Runtime;  // never destroyed: static sessions close after main
    return runtime;
  }
  [[nodiscard]] const Calls& calls() const noexcept { return calls_; }
  /// Whether this process was forked from one that had initialised the driver. The driver cannot be used then.
  [[nodiscard]] bool is_child() const noexcept { return is_child_.load(std::memory_order_relaxed); }

  /// Retains the primary context of device number `device`.
  [[nodiscard]] Context open(std::uint32_t device, const char* platform, DeviceId& id) {
    const std::lock_guard lock{mutex_};
    if (is_child()) {
      throw Error(Errc::not_open, Error::Text{platform,
                                              ": this process was forked from one that uses CUDA, and CUDA does not "
                                              "survive a fork; fork before the first session, or start a new program"});
    }
    if (!is_found_) {
      open_library(driver_);
      calls_ = driver_;
      relax<&Calls::malloc, &Calls::free, &Calls::malloc_host, &Calls::free_host, &Calls::synchronize,
            &Calls::query_event, &Calls::destroy_stream, &Calls::destroy_event, &Calls::load_module,
            &Calls::unload_module, &Calls::instantiate, &Calls::upload_graph, &Calls::destroy_exec>();
      is_found_ = true;
    }
    if (!is_initialised_) {
      check(calls_, platform, "cuInit", calls_.init(0));
      is_initialised_ = true;
      (void)pthread_atfork(nullptr, nullptr, [] { instance().is_child_.store(true, std::memory_order_relaxed); });
    }
    int count = 0;
    check(calls_, platform, "cuDeviceGetCount", calls_.device_count(&count));
    if (device >= static_cast<std::uint32_t>(count)) {
      throw Error(Errc::no_such_device,
                  Error::Text{platform, ": there is no device ", device, ", the machine has ", count});
    }
    check(calls_, platform, "cuDeviceGet", calls_.device_get(&id, static_cast<int>(device)));
    Context context = nullptr;
    check(calls_, platform, "cuDevicePrimaryCtxRetain", calls_.context_retain(&context, id));
    return context;
  }
  /// Undoes open().
  [[nodiscard]] Result close(DeviceId id) noexcept {
    return is_child() ? success : released(calls_.context_release(id));
  }
  /// Notes that a session has abandoned the device, because work on it did not end.
  void lose(std::uint32_t device) noexcept { lost_.fetch_or(bit_of(device), std::memory_order_relaxed); }
  /// Whether a session has abandoned the device.
  [[nodiscard]] bool is_lost(std::uint32_t device) const noexcept {
    return (lost_.load(std::memory_order_relaxed) & bit_of(device)) != 0;
  }
  /// Notes whether a collective waits on the device for a rank that does not come. Calls that wait for the device do
  /// not return then.
  void set_stuck(std::uint32_t device, bool is_stuck) noexcept {
    if (is_stuck) {
      stuck_.fetch_or(bit_of(device), std::memory_order_relaxed);
    } else {
      stuck_.fetch_and(~bit_of(device), std::memory_order_relaxed);
    }
  }
  [[nodiscard]] bool is_stuck(std::uint32_t device) const noexcept {
    return (stuck_.load(std::memory_order_relaxed) & bit_of(device)) != 0;
  }

 private:
  Runtime() = default;
  /// Devices beyond the 64th have none, and are never lost.
  [[nodiscard]] static std::uint64_t bit_of(std::uint32_t device) noexcept {
    return device < 64 ? std::uint64_t{1} << device : 0;
  }

  template <auto... slots>
  void relax() noexcept {
    const auto wrap = []<auto slot, class... A>(Slot<slot>, Result (*&call)(A...)) {
      if (call == nullptr) return;
      call = [](A... a) {
        const Calls& driver = instance().driver_;
        const InRelaxedMode relaxed(driver);
        return (driver.*slot)(a...);
      };
    };
    (wrap(Slot<slots>{}, calls_.*slots), ...);
  }
  template <auto>
  struct Slot {};

  std::mutex mutex_;
  Calls driver_;  ///< the calls of the library
  Calls calls_;   ///< those that sessions make
  bool is_found_ = false;
  bool is_initialised_ = false;
  std::atomic<std::uint64_t> lost_{0};   ///< a bit for each device
  std::atomic<std::uint64_t> stuck_{0};  ///< a bit for each device
  std::atomic<bool> is_child_{false};
};

}  // namespace rondo::platform::cuda
