// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/arch.hpp>
#include <rondo/platform/onboard/bounded.hpp>
#include <rondo/platform/onboard/identity.hpp>
#include <rondo/platform/onboard/options.hpp>
#include <rondo/platform/onboard/runtime.hpp>
#include <rondo/platform/onboard/watch.hpp>
#include <rondo/platform/streams/cost_file.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace rondo::platform::onboard {

/// One device, open for one session, with the stream on which the session's work runs in order.
///
/// Lifetime: immovable. Thread safety: one thread at a time, not always the same. Errors: the constructor throws, the
/// other members return codes, and failure_text() has the message of the last failure. Cost on the hot path: one
/// comparison of a thread-local number per call.
class Device {
 public:
  using Api = onboard::Api;

  /// @throws Error invalid_argument (an invalid time limit), no_such_device, unsupported (another chip), and errors of
  /// the runtime
  Device(const Identity& identity, const Options& options)
      : identity_{identity},
        options_{checked(identity, options)},
        token_{runtime_.open(options.device, identity.platform)},
        entry_{options.stream == nullptr ? token_ : never} {
    try {
      check_chip(calls(), identity, options.device);
      create_stream();
      if (options_.timeout_ms > 0 && calls().abort_stream != nullptr) {
        wait_ = std::make_shared<Wait>(calls(), options_.device, options_.timeout_ms);
        Watcher::instance().add(wait_);
        // The margin is for busy hosts: if the runtime's limit passes before the watcher looks, the wait may not end.
        const std::int64_t longest = options_.timeout_ms + std::max<std::int64_t>(options_.timeout_ms / 4, 1000);
        longest_wait_ms_ = static_cast<std::int32_t>(std::min<std::int64_t>(longest, INT32_MAX));
      }
    } catch (...) {
      (void)close();
      throw;
    }
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    (void)close();
    if (wait_ != nullptr) Watcher::instance().remove(wait_.get());
  }

  [[nodiscard]] const Calls& calls() const noexcept { return *calls_; }
  /// Returns the host and the chip, as cost files name them.
  [[nodiscard]] auto machine() const {
    const char* const chip = calls().soc_name();
    return rondo::detail::machine_of(chip == nullptr ? "?" : chip);
  }
  [[nodiscard]] const Identity& identity() const noexcept { return identity_; }
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] Stream stream() const noexcept { return stream_; }
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return text_; }
  /// The kernel that the runtime reported as the one that failed last; empty if it reported none.
  [[nodiscard]] std::string_view failed_kernel() const noexcept { return {kernel_.data(), kernel_.size()}; }
  /// Makes the device the calling thread's. Call it before each call of the runtime.
  [[nodiscard]] AclError enter() noexcept { return Runtime::has_entered(entry_) ? code_ok : enter_anew(); }
  /// Does what enter() does, also while the caller's stream is being captured, for calls that release something.
  [[nodiscard]] AclError enter_to_release() noexcept { return runtime_.enter(token_, options_.device); }
  /// Allocates device memory for the platform's own use; give_back() frees it.
  [[nodiscard]] AclError take(void** memory, std::uint64_t size) const noexcept {
    return calls().malloc(memory, size, huge_first);
  }
  [[nodiscard]] AclError give_back(void* memory) const noexcept { return calls().free(memory); }
  /// Copies before it returns; does not wait for streams.
  [[nodiscard]] AclError copy_now(void* to, const void* from, std::uint64_t size, int kind, Stream) const noexcept {
    const AclError code = calls().copy(to, size, from, size, kind);
    int mode = capture_relaxed;  // a capture of this thread, or a global one of any thread, refuses such a copy
    if (code != code_capture_refuses || calls().exchange_capture_mode == nullptr) return code;
    if (const AclError exchanged = calls().exchange_capture_mode(&mode); exchanged != code_ok) return code;
    const AclError copied = calls().copy(to, size, from, size, kind);
    const AclError back = calls().exchange_capture_mode(&mode);
    return copied == code_ok ? back : copied;
  }
  /// The most bytes that copy_snapshot() copies; for more, staging is faster.
  [[nodiscard]] static constexpr std::uint64_t snapshot_room() noexcept { return std::uint64_t{1} << 20; }
  void reuse_snapshots() noexcept {}
  /// Copies on the device's stream; reads the host's bytes before it returns.
  [[nodiscard]] AclError copy_snapshot(void* to, const void* from, std::uint64_t size) const noexcept {
    return calls().copy_async(to, size, from, size, host_to_buffer_to_device, stream_);
  }
  /// @throws Error unless the code is a success
  void must(const char* call, AclError code) const { check(calls(), identity_.platform, call, code); }

  // --- a stream of the caller's

  [[nodiscard]] std::int32_t number() const noexcept { return static_cast<std::int32_t>(options_.device); }
  /// The caller's stream; null if there is none.
  [[nodiscard]] Stream callers_stream() const noexcept { return options_.stream; }
  [[nodiscard]] std::int32_t timeout_ms() const noexcept { return options_.timeout_ms; }
  /// Sends work to the caller's stream from now on, if there is one, or to the session's own again; does not wait.
  void use_callers_stream(bool is_wanted) noexcept {
    if (options_.stream == nullptr || is_wanted == (stream_ == options_.stream)) return;
    std::swap(stream_, other_stream_);
    std::swap(is_busy_, is_other_busy_);
  }
  /// Makes the device the calling thread's. `state`: whether the caller's stream is captured; see streams::Capture.
  [[nodiscard]] AclError capture_state(int& state) noexcept {
    state = 0;
    RunInstance graph = nullptr;
    const AclError code = runtime_.enter(token_, options_.device);
    return code != code_ok || calls().capture_info == nullptr ? code
                                                              : calls().capture_info(options_.stream, &state, &graph);
  }
  /// Whether the last round was recorded in the capture that is going on; `mark` was recorded after that round.
  [[nodiscard]] bool was_recorded_here(Event mark) const noexcept {
    int status = 0;
    return calls().query_event(mark, &status) == code_event_is_captured;
  }
  void note_recorded() const noexcept {}  ///< Does nothing: the mark tells.

  /// Notes that memory may hold what another run would change: anything but args was copied, or a round was launched.
  void note_contents() const noexcept { has_contents_ = true; }
  [[nodiscard]] bool has_contents() const noexcept { return has_contents_; }
  /// Notes that work is on the stream, or is about to be.
  void work_begins() noexcept { is_busy_ = true; }
  [[nodiscard]] bool is_busy() const noexcept { return is_busy_; }

  /// Waits until all work is done. After a failure the device has finished; after a timeout it has not. The next call
  /// then waits once more, and ends by force the work that the device still does.
  [[nodiscard]] AclError wait() noexcept {
    if (!is_busy_) return code_ok;
    AclError code = enter();
    if (timeouts_ != 0) [[unlikely]]
      return wait_again(code);
    if (code == code_ok && options_.completion != Completion::stream) [[unlikely]]
      code = poll();
    if (code == code_ok && is_busy_) code = synchronize_own(longest_wait_ms_);
    if (code != code_ok && may_go_on(code) && errc_of(code) == Errc::timed_out) [[unlikely]]
      ++timeouts_;
    return code;
  }

  /// Waits for a stream for the time that the options state and at most an eighth more; then aborts it. If the runtime
  /// cannot abort streams, its own limit is the only one.
  [[nodiscard]] AclError synchronize(Stream stream) noexcept { return synchronize(stream, longest_wait_ms_); }

  /// Ends the work of a stream that hangs, in bounded time: aborts the stream, or destroys it and sets it to null, or
  /// resets the device if the user allows it. If nothing helps, and after a reset, everything that is held on the
  /// device stays until the process ends, and this object makes no more calls of the runtime.
  [[gnu::cold]] void end_by_force(Stream& stream) noexcept {
    if (stream == nullptr || is_gone()) return;
    const Calls& c = runtime_.calls();
    const auto done = [&](auto* call, auto argument, bool gives_back = true) {
      return call != nullptr &&
             elsewhere(force_limit_ms, [call, argument] { return call(argument); }, gives_back) == code_ok;
    };
    const bool is_ours = stream != options_.stream;
    if (is_ours && done(c.abort_stream, stream)) return;
    if (is_ours && done(c.destroy_stream_by_force, stream)) {
      stream = nullptr;
      return;
    }
    if (options_.reset_failed_device &&
        done(c.reset_device_by_force, static_cast<std::int32_t>(options_.device), false)) {
      runtime_.forget(options_.device);
    } else {
      runtime_.lose(options_.device);
      (void)is_done_.release();  // NOLINT: the device may still write to it
    }
    calls_ = &calls_of_no_device();
    stream = nullptr;
  }
  /// Whether the device was reset, or given up.
  [[nodiscard]] bool is_gone() const noexcept { return calls_ != &runtime_.calls(); }
  /// Waits once more for a stream that exceeded its limit, for no longer than the limit, even if the runtime hangs.
  [[nodiscard, gnu::cold]] AclError synchronize_again(Stream stream) noexcept {
    if (is_gone()) return code_timed_out;
    const std::int32_t limit = options_.timeout_ms;
    const AclError code = elsewhere(limit + std::int64_t{1000}, [synchronize = calls().synchronize, stream, limit] {
      return synchronize(stream, limit);
    });
    return errc_of(code) == Errc::stopped ? code_timed_out : code;  // it is still being aborted
  }

  /// Returns the status of a refused call, after waiting until nothing is in flight; a poisoning status if that fails.
  [[gnu::cold, gnu::noinline]] Status failed(const char* call, AclError code) noexcept {
    note(call, code);
    const Status status = status_of(code);
    if (status.poisoned() || code == code_stream_is_captured) return status;
    const AclError waited = wait();
    if (status_of(waited).poisoned() && !may_go_on(waited)) return status_of(waited);
    if (waited != code_ok && wait() != code_ok) return Status{errc_of(waited)}.poisoning();
    return status;
  }
  /// Keeps the runtime's message, and the kernel that it names, often at the end of a long text.
  [[gnu::cold]] void note(const char* call, AclError code) noexcept {
    const char* const said = code < 0 ? nullptr : calls().recent_error();
    const std::string_view kernel = kernel_named_in(said == nullptr ? "" : said);
    kernel_ = {};
    kernel_.append(kernel);
    const bool is_failure = status_of(code).poisoned() && errc_of(code) != Errc::stopped && !may_go_on(code);
    has_failed_ = has_failed_ || is_failure;
    text_ = streams::is_own_text(code) ? Error::Text(call)
            : code == code_stream_is_captured
                ? Error::Text("Options::stream is being captured; end the capture of your stream first")
                : Error::Text{call, " returned ", code};
    if (!kernel.empty()) text_.append(", kernel '"), text_.append(kernel), text_.append("'");
    if (said != nullptr && *said != '\0') {
      text_.append(": ");
      text_.append(said);
    }
  }

  /// Puts a text before the text of the failure, whose end is lost if the whole is too long.
  [[gnu::cold]] void begin_failure(const Error::Text& text) noexcept {
    text_ = Error::Text{text.c_str(), text_.c_str()};
  }

  // --- set-up and teardown

  /// Creates the stream if there is none. @throws Error out_of_resources
  void create_stream() {
    const char* call = "";
    const AclError code = create_stream(call);
    must(call, code);
  }
  /// Creates the stream, and the event of its end, if there is none. @returns the runtime's code; `call` is the name of
  /// the call
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
    if (code != code_ok) (void)calls().destroy_stream(std::exchange(stream_, nullptr));
    return code;
  }
  /// Waits, and destroys the stream and its event. @returns the first failure
  AclError destroy_stream() noexcept {
    AclError first = code_ok;
    use_callers_stream(false);
    if (stream_ != nullptr) {
      keep_first(first, wait());
      if (is_busy_ && timeouts_ != 0) keep_first(first, wait());  // the second wait ends the work by force
    }
    if (stream_ == nullptr && done_ == nullptr) return first;
    keep_first(first, enter());
    if (stream_ != nullptr) keep_first(first, calls().destroy_stream(stream_));
    if (done_ != nullptr) keep_first(first, calls().destroy_event(done_));
    stream_ = nullptr;
    done_ = nullptr;
    is_busy_ = false;
    return first;
  }
  /// Does what destroy_stream() does; no other stream is created afterwards.
  AclError stop() noexcept {
    is_stopped_ = true;
    return destroy_stream();
  }
  /// Gives the device back; it must not be used afterwards.
  AclError close() noexcept {
    if (token_ == 0) return code_ok;
    AclError first = destroy_stream();
    if (has_failed_ && !is_gone() && options_.reset_failed_device && calls().reset_device_by_force != nullptr) {
      (void)enter();
      const AclError code = calls().reset_device_by_force(static_cast<std::int32_t>(options_.device));
      if (code == code_ok) runtime_.forget(options_.device);
      keep_first(first, code);
    }
    keep_first(first, runtime_.close(options_.device));
    token_ = entry_ = 0;
    return first;
  }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};  ///< a token that no thread has entered

  [[gnu::cold, gnu::noinline]] AclError enter_anew() noexcept {
    if (stream_ == nullptr || stream_ != options_.stream) return runtime_.enter(token_, options_.device);
    int state = 0;
    const AclError code = capture_state(state);
    return code == code_ok && state != 0 ? code_stream_is_captured : code;
  }
  static constexpr std::int64_t force_limit_ms = 5'000;

  [[nodiscard]] static const Options& checked(const Identity& identity, const Options& options) {
    if (options.timeout_ms > 0 || options.timeout_ms == -1) return options;  // NOLINT: refers to the caller's object
    throw Error(Errc::invalid_argument, Error::Text{identity.platform, ": Options::timeout_ms is ", options.timeout_ms,
                                                    "; set the time limit of a round, or -1 for none"});
  }
  /// Makes a call of the runtime that may not return, on another thread, which takes the device for it; see bounded().
  template <class Call>
  [[nodiscard]] AclError elsewhere(std::int64_t limit_ms, Call call, bool gives_back = true) const noexcept {
    return bounded(limit_ms, [call, gives_back, set = calls().set_device, reset = calls().reset_device,
                              device = static_cast<std::int32_t>(options_.device)] {
      AclError code = set(device);
      if (code != code_ok) return code;
      code = call();
      if (gives_back) (void)reset(device);
      return code;
    });
  }
  [[nodiscard]] AclError synchronize(Stream stream, std::int32_t limit_ms) noexcept {
    if (wait_ == nullptr) return calls().synchronize(stream, limit_ms);
    if (stream == options_.stream) return calls().synchronize(stream, std::min(limit_ms, options_.timeout_ms));
    wait_->begins(stream);
    const AclError code = calls().synchronize(stream, limit_ms);
    return wait_->ends() ? code_timed_out : code;
  }
  [[nodiscard]] AclError synchronize_own(std::int32_t timeout_ms) noexcept {
    const AclError code = synchronize(stream_, timeout_ms);
    is_busy_ = code != code_ok && may_go_on(code);
    return code;
  }
  [[gnu::cold, gnu::noinline]] AclError wait_again(AclError code) noexcept {
    if (code == code_ok) code = synchronize_again(stream_);
    if (may_go_on(code) && errc_of(code) == Errc::timed_out) {
      end_by_force(stream_);
      is_busy_ = false;
    } else {
      is_busy_ = may_go_on(code);
    }
    timeouts_ = 0;
    return code;
  }

  /// Sleeps until an event or the host function reports that the stream has finished. On a device that failed neither
  /// may happen, so from time to time it waits for the stream for a moment.
  [[gnu::noinline]] AclError poll() noexcept {
    const bool by_event = options_.completion == Completion::event;
    if (!by_event && calls().launch_host_func == nullptr) return code_ok;
    const auto call_host = [](void* is_done) {
      static_cast<std::atomic<bool>*>(is_done)->store(true, std::memory_order_release);
    };
    is_done_->store(false, std::memory_order_relaxed);
    AclError code =
        by_event ? calls().record_event(done_, stream_) : calls().launch_host_func(stream_, call_host, is_done_.get());
    if (!by_event && errc_of(code) == Errc::unsupported) return code_ok;
    constexpr std::int64_t pause_us = 50;
    constexpr std::int64_t pauses = 200;  // between two looks at the stream, and at the clock
    std::int64_t began_ms = 0;
    for (std::int64_t slept = 1; code == code_ok; ++slept) {
      int status = 0;
      if (by_event) code = calls().query_event(done_, &status);
      if (code != code_ok || (by_event ? status == event_complete : is_done_->load(std::memory_order_acquire))) break;
      const timespec pause{0, pause_us * 1000};
      (void)nanosleep(&pause, nullptr);
      if (slept % pauses != 0) continue;
      if (slept == pauses) began_ms = streams::now_ms() - pauses * pause_us / 1000;
      code = synchronize_own(1);
      if (code == code_ok) break;
      const bool is_over = options_.timeout_ms >= 0 && streams::now_ms() - began_ms >= options_.timeout_ms;
      if (may_go_on(code) && errc_of(code) == Errc::timed_out && !is_over) code = code_ok;
    }
    return code;
  }

  Identity identity_;
  const Options options_;
  Runtime& runtime_ = Runtime::instance();
  const Calls* calls_ = &runtime_.calls();
  std::unique_ptr<std::atomic<bool>> is_done_ = std::make_unique<std::atomic<bool>>(false);
  std::uint64_t token_;  ///< the device is open from here on, so no later initialiser throws
  std::uint64_t entry_;  ///< the token; with a caller's stream, `never`
  Stream stream_ = nullptr;
  Stream other_stream_ = options_.stream;  ///< the caller's, or the session's own while that is in use
  bool is_other_busy_ = false;
  Event done_ = nullptr;
  std::int32_t longest_wait_ms_ = options_.timeout_ms;  ///< the runtime's limit, which is longer than ours
  std::shared_ptr<Wait> wait_;                          ///< null: the watcher does not watch this device
  bool is_busy_ = false;
  mutable bool has_contents_ = false;
  bool is_stopped_ = false;
  bool has_failed_ = false;
  int timeouts_ = 0;
  Error::Text text_;
  rondo::detail::FixedText<256> kernel_;
};

}  // namespace rondo::platform::onboard
