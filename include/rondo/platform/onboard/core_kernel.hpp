// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/binaries.hpp>
#include <rondo/platform/onboard/device/mailbox.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace rondo::platform::onboard {

/// The time limits of a round whose tasks run on cores. Each is shorter than the next, so that the first that expires
/// tells what hangs.
struct CoreLimits {
  std::uint32_t scheduler_ms = 0;   ///< the AICPU's limit for a task; 0: none
  std::uint32_t probe_ms = 10'000;  ///< the limit of the cores' first launch, which loads the kernel
  std::uint64_t kernel_us = 0;      ///< the device's limit for the cores' kernel; 0: its default

  [[nodiscard]] static CoreLimits of(const Options& options) noexcept {
    CoreLimits limits;
    limits.scheduler_ms = options.task_timeout_ms;
    if (options.timeout_ms <= 0) return limits;
    const auto all_ms = static_cast<std::uint64_t>(options.timeout_ms);
    const auto most_ms = static_cast<std::uint32_t>(std::max<std::uint64_t>(all_ms * 8 / 10, 1));
    if (limits.scheduler_ms == 0 || limits.scheduler_ms > most_ms) limits.scheduler_ms = most_ms;
    limits.probe_ms = std::min(limits.probe_ms, most_ms);
    limits.kernel_us = all_ms * 900;
    return limits;
  }
};

/// The kernel on cube and vector cores that runs the tasks of graphs that the device builds (device/dispatch.hpp), and
/// the stream on which each round launches it.
///
/// Lifetime: immovable; the device outlives it, and the mailboxes outlive release(). Thread safety: the session's.
/// Errors: the constructor throws. Cost of a launch: one call of the runtime, or three with a caller's stream.
class CoreKernel {
 public:
  static constexpr std::string_view name = "rondo_dispatch";

  /// Returns null if no kernel is named, or the runtime cannot launch it; the platform then says so. @throws Error
  /// invalid_argument (no such file, no such kernel, more blocks than the chip has), and errors of the runtime
  template <class P>
  [[nodiscard]] static std::unique_ptr<CoreKernel> load(P& platform, const OrchestratorBinary& binary) {
    constexpr std::uint32_t most_blocks = P::Arch::max_blocks;
    Device& device = platform.device();
    Dispatch dispatch;
    dispatch.is_asked_for = binary.cores.file != nullptr || !binary.cores.data.empty();
    if (!dispatch.is_asked_for) {
      dispatch.reason = Error::Text("tasks run on the AICPU: Options::orchestrator names no kernel for the cores");
      platform.note_dispatch(dispatch);
      return nullptr;
    }
    if (binary.blocks > most_blocks) {
      throw Error(Errc::invalid_argument,
                  Error::Text{device.identity().platform, ": Options::orchestrator asks for ", binary.blocks,
                              " blocks; the chip has ", most_blocks, " cube cores"});
    }
    if (device.calls().launch_host_args == nullptr) {
      dispatch.reason = Error::Text("tasks run on the AICPU: the runtime has no aclrtLaunchKernelWithHostArgs");
      platform.note_dispatch(dispatch);
      return nullptr;
    }
    return std::make_unique<CoreKernel>(device, binary.cores, binary.blocks == 0 ? most_blocks : binary.blocks);
  }
  /// @throws Error as load()
  CoreKernel(Device& device, const KernelBinary& binary, std::uint32_t blocks)
      : device_{device},
        source_{binary},
        binaries_{device, {&source_, 1}},
        blocks_{blocks},
        limits_{CoreLimits::of(device.options())} {
    try {
      device_.must("aclrtSetDevice", device_.enter());
      function_ = binaries_.find(name, CoreType::cube);
      device_.must("aclrtCreateStreamWithConfig",
                   calls().create_stream(&stream_, 0, stream_flag_fast_launch | stream_flag_fast_sync));
      if (device_.callers_stream() != nullptr) {
        device_.must("aclrtCreateEventExWithFlag", calls().create_event(&turn_, event_flag_sync));
      }
    } catch (...) {
      (void)release(false);
      throw;
    }
  }
  CoreKernel(const CoreKernel&) = delete;
  CoreKernel& operator=(const CoreKernel&) = delete;
  ~CoreKernel() { (void)release(false); }

  /// Sets the device address of the mailboxes.
  void place(std::uint64_t mailboxes) noexcept { mailboxes_ = mailboxes; }
  [[nodiscard]] std::uint32_t blocks() const noexcept { return blocks_; }
  [[nodiscard]] const CoreLimits& limits() const noexcept { return limits_; }

  /// Begins a round on all cores, after the previous round has ended on them. On a caller's stream, whose earlier work
  /// may need the cores, after that work, too. @returns the runtime's code; `call` is the name of the call
  [[nodiscard]] AclError launch(std::uint64_t round, const char*& call) noexcept {
    AclError code = code_ok;
    if (turn_ != nullptr) {
      call = "aclrtRecordEvent";
      code = calls().record_event(turn_, device_.stream());
      if (code == code_ok) call = "aclrtStreamWaitEvent", code = calls().wait_event(stream_, turn_);
      if (code != code_ok) return code;
    }
    call = "aclrtLaunchKernelWithHostArgs, for rondo_dispatch";
    std::uint64_t words[] = {mailboxes_, round};
    LaunchAttr limit{
        launch_timeout_us,
        {static_cast<std::int32_t>(limits_.kernel_us), static_cast<std::int32_t>(limits_.kernel_us >> 32)}};
    const LaunchConfig config{&limit, 1};
    code = calls().launch_host_args(function_, blocks_, stream_, limits_.kernel_us == 0 ? nullptr : &config, words,
                                    sizeof(words), nullptr, 0);
    if (code == code_ok) round_ = round;
    return code;
  }

  /// Ends the kernel on all cores that poll, even if the AICPU has stopped.
  [[gnu::cold]] void depart() noexcept {
    if (round_ != 0) let_depart(round_);
  }

  /// Ends the kernel as depart() does, and waits until it has ended, so that it cannot run into another round.
  [[gnu::cold]] void depart_and_wait() noexcept {
    depart();
    (void)device_.synchronize(stream_);
    let_depart(0);  // the next launch is for the same round
  }

  /// Returns why an exchange failed, as far as the memory shows. Waits for the kernel. `seen`: the number of cores that
  /// the AICPU has seen start
  [[gnu::cold]] const char* failed_side(std::uint64_t seen) {
    const std::uint64_t cores = 3 * std::uint64_t{blocks_};
    std::vector<mailbox::Mailbox> all(cores);
    (void)device_.synchronize(stream_);
    if (device_.copy_now(all.data(), pointer(mailbox::place_of(0)), cores * sizeof(mailbox::Mailbox), device_to_host,
                         nullptr) != code_ok) {
      return "";
    }
    const bool have_come = std::all_of(all.begin(), all.end(), [](const mailbox::Mailbox& each) {
      return each.answer.code != 0 || each.answer.state != mailbox::gone;
    });
    if (!have_come) return "the cores have not run rondo_dispatch";
    const bool have_answered = std::all_of(all.begin(), all.end(), [](const mailbox::Mailbox& each) {
      return each.request.number != 0 && each.request.number == each.answer.number;
    });
    return have_answered || seen < cores ? "the AICPU does not see what the cores write"
                                         : "the cores do not see what the AICPU writes";
  }

  /// Waits for the kernel, or ends it by force; destroys the stream and unloads the binary. @returns the first failure
  AclError release(bool by_force) noexcept {
    if (binaries_.empty()) return code_ok;
    AclError first = device_.enter_to_release();
    if (!by_force && round_ != 0) {
      const AclError waited = device_.synchronize(stream_);
      by_force = errc_of(waited) == Errc::timed_out;
      keep_first(first, waited);
    }
    if (by_force) device_.end_by_force(stream_);
    if (stream_ != nullptr) keep_first(first, calls().destroy_stream(stream_));
    if (turn_ != nullptr) keep_first(first, calls().destroy_event(turn_));
    stream_ = nullptr;
    turn_ = nullptr;
    keep_first(first, binaries_.release());
    return first;
  }

 private:
  [[nodiscard]] const Calls& calls() const noexcept { return device_.calls(); }
  [[nodiscard]] void* pointer(std::uint64_t at) const noexcept {
    return reinterpret_cast<void*>(mailboxes_ + at);  // NOLINT: an address for the runtime
  }

  void let_depart(std::uint64_t launch) noexcept {
    const mailbox::Departure departure{launch, {}};
    if (device_.is_gone() || device_.enter() != code_ok) return;
    (void)device_.copy_now(pointer(0), &departure, sizeof(departure), host_to_device, nullptr);
  }

  Device& device_;
  KernelBinary source_;
  Binaries binaries_;
  FuncHandle function_ = nullptr;
  Stream stream_ = nullptr;
  Event turn_ = nullptr;  ///< comes after what is on the caller's stream; null if there is none
  std::uint32_t blocks_;
  CoreLimits limits_;
  std::uint64_t mailboxes_ = 0;
  std::uint64_t round_ = 0;  ///< the round of the last launch
};

}  // namespace rondo::platform::onboard
