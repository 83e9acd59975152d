// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/graph/lanes.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/onboard/binaries.hpp>
#include <rondo/platform/streams/host_loops.hpp>
#include <rondo/platform/streams/library_calls.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rondo::platform::onboard {

/// The tasks of a graph as launches of the runtime, in an order that edges and lanes allow, with the binaries of their
/// kernels.
///
/// Lifetime: immovable; device, options, args table and graph outlive it. Thread safety: the session's. Errors: place()
/// throws. Cost on the hot path: one call for each launch.
class Launches {
 public:
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  /// A kernel on its blocks, or a library call.
  struct Launch {
    FuncHandle function = nullptr;
    const void* device_args = nullptr;
    void* host_args = nullptr;
    std::size_t bytes = 0;
    std::uint32_t blocks = 1;
    std::uint32_t position = 0;
    bool is_cooperative = false;
    std::uint32_t library_call = streams::LibraryCalls::none;
  };
  /// The task that fills the zeroed workspaces, which is no launch.
  struct Fill {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;  ///< 0: there is none
    std::uint32_t position = 0;
    const void* args = nullptr;
    std::uint64_t args_bytes = 0;
  };

  Launches(Device& device, const Options& options, const graph::GraphView& view)
      : device_{device}, options_{options}, view_{view}, binaries_{device, options.kernels} {}
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;

  /// Finds the kernels, and writes the fill to `fill`. @throws Error invalid_argument (a kernel is in no binary),
  /// unsupported, and errors of the runtime
  void place(args::ArgsTable& args, Fill& fill) {
    std::size_t kernels = 0;
    for (std::uint32_t t = 0; t < view_.tasks.size(); ++t) kernels += is_launch(t) ? 1 : 0;
    launches_.reserve(kernels);
    if (kernels != 0 && !calls().launches()) {
      throw Error(Errc::unsupported, Error::Text{device_.identity().platform,
                                                 ": the runtime has neither aclrtLaunchKernelV2 nor "
                                                 "aclrtLaunchKernelWithHostArgs; install a newer one"});
    }
    for (std::uint32_t i = 0; i < view_.tasks.size(); ++i) {
      // The order of the lanes is the one that the plan of the memory allows, on one stream as well.
      const std::uint32_t t = view_.lanes == nullptr ? i : view_.lanes->order[i];
      const graph::TaskRecord& task = view_.tasks[t];
      if (task.block_bytes == 0) {
        throw Error(Errc::unsupported, Error::Text{device_.identity().platform, ": kernel '", view_.name(task.name),
                                                   "' takes no argument, so it could do nothing; leave it out"});
      }
      const ArgWord* const block = args.block(t, 0);
      const auto offset = static_cast<std::size_t>(block - args.words()) * sizeof(ArgWord);
      if (task.fills) {
        ArgWord words[2] = {};  // copied, since on some platforms the image is not an array of words
        __builtin_memcpy(words, args.bytes() + offset, sizeof(words));
        fill = {static_cast<std::uint64_t>(words[0]), static_cast<std::uint64_t>(words[1]), t, block, task.block_bytes};
        continue;
      }
      if (!is_launch(t)) continue;
      const std::size_t bytes = std::size_t{task.blocks} * task.block_bytes;
      if (const std::uint32_t call = library_calls_.add(view_, t, args); call != streams::LibraryCalls::none) {
        launches_.push_back({.device_args = block, .bytes = bytes, .position = t, .library_call = call});
        continue;
      }
      const std::string_view kernel = view_.name(task.name);
      FuncHandle const function = binaries_.find(kernel, task.core);
      launches_.push_back({function, block, args.bytes() + offset, bytes, task.blocks, t, meets(kernel)});
    }
    if (calls().args_of_exception != nullptr) binaries_.on_exception(&note_exception, this);
  }

  [[nodiscard]] const std::vector<Launch>& all() const noexcept { return launches_; }
  [[nodiscard]] bool empty() const noexcept { return launches_.empty(); }

  /// Submits one launch. @returns the runtime's code; `call` is the name of the call
  [[nodiscard]] AclError submit(const Launch& l, const char*& call, Stream stream) noexcept {
    if (l.library_call != streams::LibraryCalls::none) return library_calls_.run(l.library_call, stream, call);
    // The time limit comes first, so that a shorter count leaves out the other attribute.
    LaunchAttr attrs[2];
    LaunchAttr* end = attrs;
    if (const std::uint64_t limit_us = std::uint64_t{options_.task_timeout_ms} * 1000; limit_us != 0) {
      *end++ = {launch_timeout_us, {static_cast<std::int32_t>(limit_us), static_cast<std::int32_t>(limit_us >> 32)}};
    }
    *end = {launch_schedule_mode, {schedule_all_at_once}};
    const LaunchConfig config{attrs, static_cast<std::size_t>(end - attrs) + (l.is_cooperative ? 1 : 0)};
    const LaunchConfig* const attributes = config.count == 0 ? nullptr : &config;
    if (calls().launch_device_args != nullptr) {
      call = "aclrtLaunchKernelV2";
      return calls().launch_device_args(l.function, l.blocks, l.device_args, l.bytes, attributes, stream);
    }
    call = "aclrtLaunchKernelWithHostArgs";
    return calls().launch_host_args(l.function, l.blocks, stream, attributes, l.host_args, l.bytes, nullptr, 0);
  }

  /// The position of the task that failed: the one whose args the device reported; else the only one that runs the
  /// kernel that the runtime's message names. `none` if neither is known.
  [[nodiscard]] std::uint32_t failed() const noexcept {
    const void* const args = failed_args_.load(std::memory_order_acquire);
    for (const Launch& launch : launches_) {
      if (args != nullptr && launch.device_args == args) return launch.position;
    }
    if (device_.failed_kernel().empty()) return none;
    std::uint32_t found = none;
    for (const Launch& launch : launches_) {
      if (device_.failed_kernel() != view_.name(view_.tasks[launch.position].name)) continue;
      if (found != none) return none;
      found = launch.position;
    }
    return found;
  }

  [[nodiscard]] const streams::LibraryCalls& library_calls() const noexcept { return library_calls_; }

  /// Whether there is nothing to unload. Library calls alone need no binary.
  [[nodiscard]] bool has_nothing() const noexcept { return launches_.empty() && binaries_.empty(); }
  /// Unloads the kernels. @returns the first failure
  AclError release() noexcept {
    launches_ = {};
    return binaries_.release();
  }

 private:
  [[nodiscard]] const Calls& calls() const noexcept { return device_.calls(); }
  [[nodiscard]] bool is_launch(std::uint32_t position) const noexcept {
    return !view_.tasks[position].fills && !streams::HostLoops<Device>::is_decision(view_, position);
  }
  [[nodiscard]] bool meets(std::string_view kernel) const noexcept {
    for (const char* const name : options_.cooperative_kernels) {
      if (kernel == name) return true;
    }
    return false;
  }
  /// Keeps the args of the first task that failed.
  static void note_exception(ExceptionInfo* info, void* self) noexcept {
    Launches& launches = *static_cast<Launches*>(self);
    void* args = nullptr;
    std::uint32_t size = 0;
    if (launches.calls().args_of_exception(info, &args, &size) != code_ok) return;
    const void* nothing_yet = nullptr;
    (void)launches.failed_args_.compare_exchange_strong(nothing_yet, args, std::memory_order_release,
                                                        std::memory_order_relaxed);
  }

  Device& device_;
  const Options& options_;
  graph::GraphView view_;
  Binaries binaries_;
  std::vector<Launch> launches_;
  streams::LibraryCalls library_calls_;
  std::atomic<const void*> failed_args_{nullptr};
};

}  // namespace rondo::platform::onboard
