// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/cuda/calls.hpp>
#include <rondo/platform/cuda/options.hpp>
#include <rondo/platform/cuda/runtime.hpp>
#include <rondo/platform/streams/cost_file.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace rondo::platform::cuda {

/// One device, open for one session, with the stream on which the session's work runs in order. Set-up runs on the
/// session's own stream, also if rounds run on a caller's.
///
/// Lifetime: immovable. Thread safety: one thread at a time, not always the same. Errors: the constructor throws; the
/// other members return codes, and failure_text() is the driver's description of the last failure. Cost on the hot
/// path: each call queries the thread's current context, and the capture mode of a caller's stream.
class Device {
 public:
  using Api = cuda::Api;

  /// @throws Error invalid_argument (an invalid time limit), no_such_device, not_open (a forked process), busy (the
  /// caller's stream is in capture mode), and errors of the driver
  Device(const char* platform, const Options& options)
      : platform_{platform},
        options_{checked(platform, options)},
        context_{runtime_.open(options.device, platform, id_)},
        calls_{runtime_.calls(), options.spins} {
    try {
      must(Api::enter, enter());
      must(Api::create_stream, calls().create_stream(&stream_, 0, stream_non_blocking));
      void* memory = nullptr;
      must(Api::malloc_host, calls().malloc_host(&memory, snapshot_bytes));
      snapshots_ = static_cast<std::byte*>(memory);
    } catch (...) {
      (void)close();
      throw;
    }
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { (void)close(); }

  [[nodiscard]] const StreamCalls& calls() const noexcept { return calls_; }
  [[nodiscard]] const Calls& driver() const noexcept { return calls_.driver(); }
  [[nodiscard]] const char* platform() const noexcept { return platform_; }
  [[nodiscard]] Stream stream() const noexcept { return stream_; }
  /// The device's primary context.
  [[nodiscard]] Context context() const noexcept { return context_; }
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return text_; }
  /// Returns an attribute of the device. @throws Error on errors of the driver
  [[nodiscard]] int attribute(DeviceAttribute which) const {
    int value = 0;
    must("cuDeviceGetAttribute", driver().device_attribute(&value, which, id_));
    return value;
  }
  /// Appends the device's name and compute capability to a message.
  void append_name(Error::Text& text) const noexcept {
    char name[96] = "?";
    int major = 0, minor = 0;
    (void)driver().device_name(name, sizeof(name), id_);
    (void)driver().device_attribute(&major, compute_major, id_);
    (void)driver().device_attribute(&minor, compute_minor, id_);
    text.append("device ");
    text.append(options_.device);
    text.append(", ");
    text.append(static_cast<const char*>(name));
    text.append(", compute capability ");
    text.append(major);
    text.append(".");
    text.append(minor);
  }

  /// Returns the host and the device, as cost files name them.
  [[nodiscard]] auto machine() const {
    char name[96] = "?";
    (void)driver().device_name(name, sizeof(name), id_);
    return rondo::detail::machine_of(name);
  }

  /// Makes the device's primary context the calling thread's. Call it before calls of the driver, because other code in
  /// the process may have changed the current context.
  [[nodiscard]] Result enter() noexcept {
    Result code = make_current();
    if (options_.stream != nullptr && code == success) [[unlikely]] {
      int mode = 0;
      code = driver().is_capturing(options_.stream, &mode);
      if (code == success && mode != 0) return stream_is_captured;
    }
    return code;
  }
  /// Does what enter() does, also while the caller's stream is in capture mode, for calls that release something.
  [[nodiscard]] Result enter_to_release() noexcept { return make_current(); }
  /// @throws Error unless the code is a success
  void must(const char* call, Result code) const {
    if (code != stream_is_captured) return check(driver(), platform_, call, code);
    throw Error(Errc::busy, Error::Text{platform_, ": Options::stream is in capture mode; end the capture first"});
  }

  // --- the caller's stream

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
  /// Makes the context the calling thread's, and queries whether the caller's stream is being captured; see
  /// streams::Capture. If it is, and the driver is too old for a round to become part of that capture, fails.
  [[nodiscard]] Result capture_state(int& state) noexcept {
    state = 0;
    if (!driver().can_be_captured()) return enter();
    const Result code = make_current();
    if (code != success) return code;
    return driver().capture_info(options_.stream, &state, &capture_, nullptr, nullptr, nullptr);
  }
  /// Notes that a round was recorded in the capture that capture_state() has found.
  void note_recorded() noexcept { recorded_in_ = capture_; }
  /// Whether the last round was recorded in the capture that capture_state() has found.
  [[nodiscard]] bool was_recorded_here(Event) const noexcept { return recorded_in_ == capture_; }
  /// Notes that the bytes that copy_snapshot() took have arrived, so that their buffer is free.
  void reuse_snapshots() noexcept { snapshots_used_ = 0; }

  void note_contents() const noexcept {}  ///< Does nothing: a graph is not run when it is opened.
  /// Notes that work is on the stream, or is about to be.
  void work_begins() noexcept { is_busy_ = true; }
  [[nodiscard]] bool is_busy() const noexcept { return is_busy_; }

  /// Waits until all work is done. If work does not finish in time, waits once more, then abandons the device, because
  /// only the end of the process ends such work.
  [[nodiscard]] Result wait() noexcept {
    if (!is_busy_) return success;
    Result code = enter();
    if (code == success) code = calls().synchronize(stream_, options_.timeout_ms);
    if (code == waited_too_long) [[unlikely]] {
      if (++timeouts_ == 2) give_up();
      return code;
    }
    is_busy_ = may_go_on(code);
    if (!is_busy_ && stream_ == snapshots_on_) snapshots_used_ = 0;
    return code;
  }
  /// Waits for a stream, up to the time limit of the options.
  [[nodiscard]] Result synchronize(Stream stream) noexcept { return calls().synchronize(stream, options_.timeout_ms); }
  /// Waits once more for a stream that did not finish in time.
  [[nodiscard, gnu::cold]] Result synchronize_again(Stream stream) noexcept {
    return is_gone() ? waited_too_long : calls().synchronize(stream, options_.timeout_ms);
  }
  /// Abandons the device, because the work on a stream cannot be ended.
  [[gnu::cold]] void end_by_force(Stream& stream) noexcept {
    give_up();
    stream = nullptr;
  }
  /// Whether the device was abandoned: its memory, streams and events stay until the process ends.
  [[nodiscard]] bool is_gone() const noexcept { return &driver() != &runtime_.calls(); }

  /// Waits until nothing is in flight and returns the status of a refused call; a status that poisons if waiting fails.
  [[gnu::cold, gnu::noinline]] Status failed(const char* call, Result code) noexcept {
    note(call, code);
    const Status status = status_of(code);
    if (status.poisoned() || code == stream_is_captured) return status;
    const Result waited = wait();
    if (waited == success) return status;
    return Status{errc_of(waited)}.poisoning();
  }
  /// Keeps the driver's description of a failure.
  [[gnu::cold]] void note(const char* call, Result code) noexcept {
    text_ = Error::Text{call, " returned ", code};
    append_words(text_, driver(), code);
    if (code == waited_too_long) text_ = Error::Text("the device did not finish within Options::timeout_ms");
    if (code == stream_is_captured) text_ = Error::Text("Options::stream is in capture mode; end the capture first");
    if (streams::is_own_text(code)) text_ = Error::Text(call);
    if (code == forked)
      text_ = Error::Text("this process was forked from one that uses CUDA; CUDA does not survive that");
  }

  /// Puts a text before the text of the failure, whose end is lost if the whole is too long.
  [[gnu::cold]] void begin_failure(const Error::Text& text) noexcept {
    text_ = Error::Text{text.c_str(), text_.c_str()};
  }

  /// Creates nothing, since the stream exists from the beginning.
  [[nodiscard]] Result create_stream(const char*&) const noexcept {
    return stream_ == nullptr ? not_initialised : success;
  }

  /// Allocates and releases device memory for the platform's own use.
  [[nodiscard]] Result take(void** memory, std::uint64_t size) const noexcept {
    Pointer address = 0;
    const Result code = driver().malloc(&address, size);
    *memory = reinterpret_cast<void*>(address);  // NOLINT: an address for the driver
    return code;
  }
  [[nodiscard]] Result give_back(void* memory) const noexcept {
    return released(driver().free(reinterpret_cast<std::uintptr_t>(memory)));
  }
  /// Copies and waits. The stream must be idle. Null stands for the session's own stream, because the caller's may be
  /// in a capture.
  [[nodiscard]] Result copy_now(void* to, const void* from, std::uint64_t size, int kind,
                                Stream stream) const noexcept {
    if (stream == nullptr) stream = stream_ == options_.stream ? other_stream_ : stream_;
    const Result code = calls().copy_async(to, size, from, size, kind, stream);
    return code == success ? calls().synchronize(stream, options_.timeout_ms) : code;
  }
  /// The size of the pinned buffer for snapshots.
  static constexpr std::uint64_t snapshot_bytes = std::uint64_t{1} << 20;
  /// The most bytes that copy_snapshot() can take now.
  [[nodiscard]] std::uint64_t snapshot_room() const noexcept { return snapshot_bytes - snapshots_used_; }
  /// Starts a copy on the device's stream; reads the host's bytes before it returns. They are copied to pinned
  /// memory first: the driver itself would do so for pageable memory only, and only its owner knows whether it is.
  [[nodiscard]] Result copy_snapshot(void* to, const void* from, std::uint64_t size) noexcept {
    std::byte* const staged = snapshots_ + snapshots_used_;
    __builtin_memcpy(staged, from, size);
    snapshots_used_ = align_up(snapshots_used_ + size, 64);
    if (snapshots_used_ > snapshot_bytes) snapshots_used_ = snapshot_bytes;
    snapshots_on_ = stream_;
    return calls().copy_async(to, size, staged, size, streams::host_to_device, stream_);
  }

  /// Abandons the device if a collective waits there for ever, so that releasing what is there does not wait for that.
  void give_up_if_stuck() noexcept {
    if (!is_gone() && runtime_.is_stuck(options_.device)) give_up();
  }
  /// Waits, and destroys the stream; there will be no other. @returns the first failure
  Result stop() noexcept {
    give_up_if_stuck();
    Result first = wait_to_end();
    use_callers_stream(false);
    keep_first(first, wait_to_end());
    if (stream_ == nullptr && snapshots_ == nullptr) return first;
    keep_first(first, enter_to_release());
    if (stream_ != nullptr) keep_first(first, calls().destroy_stream(stream_));
    if (snapshots_ != nullptr) keep_first(first, calls().free_host(snapshots_));
    forget_streams();
    return first;
  }
  /// Releases the device, which must not be used afterwards.
  Result close() noexcept {
    if (context_ == nullptr) return success;
    Result first = stop();
    if (!is_gone()) {
      keep_first(first, runtime_.close(id_));
    }
    context_ = nullptr;
    return first;
  }

 private:
  [[nodiscard]] Result make_current() noexcept {
    if (runtime_.is_child()) [[unlikely]]
      return forked;
    Context current = nullptr;
    const Result code = driver().context_get(&current);
    if (code != success || current == context_) [[likely]]
      return code;
    return driver().context_set(context_);
  }
  [[nodiscard]] static const Options& checked(const char* platform, const Options& options) {
    if (options.timeout_ms > 0 || options.timeout_ms == -1) return options;  // NOLINT: refers to the caller's object
    throw Error(Errc::invalid_argument, Error::Text{platform, ": Options::timeout_ms is ", options.timeout_ms,
                                                    "; set the time limit of a round, or -1 for none"});
  }
  /// The calls for a device that was abandoned. They do nothing: releasing succeeds, everything else fails.
  [[nodiscard]] static const Calls& no_calls() noexcept {
    static const Calls calls = [] {
      Calls c;
      const auto fill = []<class... A>(const char*, const char*, Result (*&slot)(A...)) {
        slot = [](A...) { return not_initialised; };
      };
      visit_required(c, fill);
      visit_optional(c, fill);
      c.free = [](Pointer) { return success; };
      c.free_host = c.destroy_stream = c.destroy_event = c.unload_module =
          c.destroy_graph = [](void*) { return success; };
      c.destroy_exec = Runtime::instance().calls().destroy_exec;  // does not wait, and NCCL's communicators wait for it
      return c;
    }();
    return calls;
  }
  [[gnu::cold]] void give_up() noexcept {
    runtime_.lose(options_.device);
    calls_ = StreamCalls{no_calls(), 0};
    forget_streams();
  }
  void forget_streams() noexcept {
    stream_ = other_stream_ = nullptr;
    snapshots_ = nullptr;
    is_busy_ = is_other_busy_ = false;
  }
  /// Waits, and once more if the work is late. If it is late again, the device is abandoned.
  [[nodiscard]] Result wait_to_end() noexcept {
    const Result code = wait();
    return code == waited_too_long && !is_gone() ? wait() : code;
  }

  const char* platform_;
  const Options options_;
  Runtime& runtime_ = Runtime::instance();
  DeviceId id_ = 0;
  Context context_;
  StreamCalls calls_;
  Stream stream_ = nullptr;
  Stream other_stream_ = options_.stream;  ///< the caller's, or the session's own while that is in use
  bool is_other_busy_ = false;
  std::uint64_t capture_ = 0;       ///< of the caller's stream: the number of the capture that was found last
  std::uint64_t recorded_in_ = 0;   ///< the number of the capture with the last round; 0: none
  std::byte* snapshots_ = nullptr;  ///< pinned; free again when the device is idle
  std::uint64_t snapshots_used_ = 0;
  Stream snapshots_on_ = nullptr;  ///< the stream of the last snapshot
  bool is_busy_ = false;
  int timeouts_ = 0;
  Error::Text text_;
};

}  // namespace rondo::platform::cuda
