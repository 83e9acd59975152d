// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/platform/onboard/options.hpp>
#include <rondo/platform/onboard/runtime.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>
#include <string_view>

namespace rondo::platform::onboard {

/// Which chip a platform is for, and what its type is called.
struct Identity {
  const char* platform;
  const char* arch;
  std::span<const char* const> soc_prefixes;
  std::uint32_t npu_arch;
};

/// One device, open for one session, with the stream on which the session's work runs in order.
///
/// Lifetime: immovable. Thread safety: one thread at a time, not always the same. Errors: the constructor throws, the
/// rest returns codes; what was said of the last failure is in failure_text(). Cost on the hot path: one thread-local
/// compare per call.
class Device {
 public:
  /// @throws Error no_such_device, unsupported (another chip), and what the runtime reports
  Device(const Identity& identity, const Options& options)
      : identity_{identity}, options_{options}, token_{runtime_.open(options.device, identity.platform)} {
    try {
      check_chip();
      create_stream();
    } catch (...) {
      (void)close();
      throw;
    }
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { (void)close(); }

  [[nodiscard]] const Calls& calls() const noexcept { return runtime_.calls(); }
  [[nodiscard]] const Identity& identity() const noexcept { return identity_; }
  [[nodiscard]] Stream stream() const noexcept { return stream_; }
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return text_; }
  /// To be asked before each call of the runtime's.
  [[nodiscard]] AclError enter() noexcept { return runtime_.enter(token_, options_.device); }
  /// @throws Error
  void must(const char* call, AclError code) const { check(calls(), identity_.platform, call, code); }

  /// Work was handed over, or is about to be.
  void work_begins() noexcept { is_busy_ = true; }
  [[nodiscard]] bool is_busy() const noexcept { return is_busy_; }

  /// Waits until all work is done. A device that failed is through, one that did not finish is not; it is waited for
  /// once more, then no longer.
  [[nodiscard]] AclError wait() noexcept {
    if (!is_busy_ || timeouts_ > 1) return code_ok;
    AclError code = enter();
    if (code == code_ok && options_.completion != Completion::stream) [[unlikely]]
      code = poll();
    if (code == code_ok && is_busy_) code = synchronize(options_.timeout_ms);
    if (code != code_ok && errc_of(code) == Errc::timed_out) [[unlikely]] {
      ++timeouts_;
    } else {
      timeouts_ = 0;
    }
    return code;
  }

  /// What a refused call comes to: its status, with nothing left in flight; where that cannot be had, what poisons.
  [[gnu::cold, gnu::noinline]] Status failed(const char* call, AclError code) noexcept {
    note(call, code);
    const Status status = status_of(code);
    if (status.poisoned()) return status;
    if (const AclError waited = wait(); waited != code_ok) {
      if (const AclError again = wait(); again != code_ok) return Status{errc_of(waited)}.poisoning();
    }
    return status;
  }
  [[gnu::cold]] void note(const char* call, AclError code) noexcept {
    text_ = Error::Text(call, " returned ", code);
    if (const char* const said = calls().recent_error(); said != nullptr && *said != '\0') {
      text_.append(": ");
      text_.append(said);
    }
  }

  // --- set-up and teardown
  // --------------------------------------------------------------------------------------------

  /// @throws Error out_of_resources
  void create_stream() {
    const char* call = "";
    const AclError code = create_stream(call);
    must(call, code);
  }
  /// Where there is one already, nothing. @returns what the runtime does; `call` is then its name
  [[nodiscard]] AclError create_stream(const char*& call) noexcept {
    if (stream_ != nullptr) return code_ok;
    if (token_ == 0 || is_stopped_) return code_not_open;
    call = "aclrtSetDevice";
    if (const AclError code = enter(); code != code_ok) return code;
    call = "aclrtCreateStreamWithConfig";
    AclError code = calls().create_stream(&stream_, 0, stream_flag_fast_launch | stream_flag_fast_sync);
    if (code != code_ok || options_.completion != Completion::event || done_ != nullptr) return code;
    call = "aclrtCreateEventExWithFlag";
    code = calls().create_event(&done_, event_flag_sync);
    return code;
  }
  /// Waits, and destroys the stream and what belongs to it. @returns the first failure
  AclError destroy_stream() noexcept {
    if (stream_ == nullptr) return code_ok;
    AclError first = wait();
    const auto keep = [&](AclError code) {
      if (first == code_ok) first = code;
    };
    keep(enter());
    keep(calls().destroy_stream(stream_));
    if (done_ != nullptr) keep(calls().destroy_event(done_));
    stream_ = nullptr;
    done_ = nullptr;
    is_busy_ = false;
    return first;
  }
  /// The same, for good: there will be no other.
  AclError stop() noexcept {
    is_stopped_ = true;
    return destroy_stream();
  }
  /// Gives the device back; nothing of it is used from then on.
  AclError close() noexcept {
    if (token_ == 0) return code_ok;
    AclError first = destroy_stream();
    const AclError code = runtime_.close(options_.device);
    if (first == code_ok) first = code;
    token_ = 0;
    return first;
  }

 private:
  void check_chip() const {
    const char* const soc = calls().soc_name();
    const std::string_view name = soc == nullptr ? "" : soc;
    for (const char* const prefix : identity_.soc_prefixes) {
      if (name.starts_with(prefix)) return;
    }
    // A name that is new to us may still be a chip that is not.
    std::int64_t npu = 0;
    if (calls().device_info != nullptr && calls().device_info(options_.device, device_info_npu_arch, &npu) == code_ok &&
        npu == static_cast<std::int64_t>(identity_.npu_arch) && !name.empty()) {
      return;
    }
    Error::Text text(identity_.platform, ": device ", options_.device, " is ");
    if (name.empty()) {
      text.append("of a kind that the runtime does not tell");
    } else {
      text.append(name);
    }
    text.append(", not an ");
    text.append(identity_.arch);
    text.append(" chip; choose the platform of the chip");
    throw Error(Errc::unsupported, text);
  }

  [[nodiscard]] AclError synchronize(std::int32_t timeout_ms) noexcept {
    const AclError code = calls().synchronize(stream_, timeout_ms);
    is_busy_ = code != code_ok && errc_of(code) != Errc::device_failed;
    return code;
  }

  /// Sleeps until an event says that the stream is through, or the host func does. Neither need happen on a device that
  /// failed, so from time to time the stream is asked for a moment.
  [[gnu::noinline]] AclError poll() noexcept {
    const bool by_event = options_.completion == Completion::event;
    if (!by_event && calls().launch_host_func == nullptr) return code_ok;
    const auto call_host = [](void* self) {
      static_cast<Device*>(self)->is_done_.store(true, std::memory_order_release);
    };
    is_done_.store(false, std::memory_order_relaxed);
    AclError code =
        by_event ? calls().record_event(done_, stream_) : calls().launch_host_func(stream_, call_host, this);
    constexpr std::int64_t pause_us = 50;
    constexpr std::int64_t pauses = 200;  // between two looks at the stream, and at the clock
    std::int64_t began_ms = 0;
    for (std::int64_t slept = 1; code == code_ok; ++slept) {
      int status = 0;
      if (by_event) code = calls().query_event(done_, &status);
      if (code != code_ok || (by_event ? status == event_complete : is_done_.load(std::memory_order_acquire))) break;
      const timespec pause{0, pause_us * 1000};
      (void)nanosleep(&pause, nullptr);
      if (slept % pauses != 0) continue;
      if (slept == pauses) began_ms = now_ms() - pauses * pause_us / 1000;
      code = synchronize(1);
      if (code == code_ok) break;
      const bool is_over = options_.timeout_ms >= 0 && now_ms() - began_ms >= options_.timeout_ms;
      if (errc_of(code) == Errc::timed_out && !is_over) code = code_ok;
    }
    return code;
  }
  [[nodiscard]] static std::int64_t now_ms() noexcept {
    timespec now{};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
  }

  Identity identity_;
  const Options options_;
  Runtime& runtime_ = Runtime::instance();
  std::uint64_t token_;
  Stream stream_ = nullptr;
  Event done_ = nullptr;
  std::atomic<bool> is_done_{false};
  bool is_busy_ = false;
  bool is_stopped_ = false;
  int timeouts_ = 0;
  Error::Text text_;
};

}  // namespace rondo::platform::onboard
