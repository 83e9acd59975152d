// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/binaries.hpp>
#include <rondo/platform/onboard/core_kernel.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace rondo::platform::onboard {

/// A program for the device's AICPU that builds the graph of each round, loaded and registered.
///
/// Lifetime: immovable; the device must outlive it. Thread safety: that of the session. Errors: the constructor throws.
/// Cost of a launch: one call of the runtime.
class Orchestrator {
 public:
  /// Loads the program, then calls `begin()`. @throws Error unsupported (the runtime cannot launch on the AICPU),
  /// invalid_argument (no binary, no such file), and errors of the runtime
  template <class Begin>
  Orchestrator(Device& device, const OrchestratorBinary& source, Begin begin) : Orchestrator(device) {
    check(source);
    device_.must("aclrtSetDevice", device_.enter());
    load(source);
    begin();
  }
  Orchestrator(const Orchestrator&) = delete;
  Orchestrator& operator=(const Orchestrator&) = delete;
  ~Orchestrator() { (void)release(); }

  /// Submits one launch of one block, after the cores' kernel if there is one. The args are on the device and on the
  /// host, and the launch uses those that the runtime can take.
  template <class Transfers>
  Status launch(Transfers& transfers, CoreKernel* cores, std::uint64_t round, DevicePtr<std::byte> args,
                std::byte* host_args, Bytes size) noexcept {
    if (const AclError code = transfers.begin_launch(); code != code_ok) [[unlikely]]
      return transfers.refused(code);
    const char* call = nullptr;
    if (cores != nullptr) {
      if (const AclError code = cores->launch(round, call); code != code_ok) [[unlikely]]
        return transfers.refused(code, call);
    }
    const auto* const at = reinterpret_cast<const void*>(args.address());  // NOLINT: an address for the runtime
    const AclError code = launch(at, host_args, size.value, call);
    if (code == code_ok) [[likely]]
      return {};
    if (cores != nullptr) cores->depart_and_wait();
    return transfers.refused(code, call);
  }

  /// Waits for the device, then unloads the program. @returns the first failure
  AclError release() noexcept {
    if (binary_ == nullptr) return code_ok;
    AclError first = device_.wait();
    keep_first(first, device_.enter_to_release());
    keep_first(first, calls().unload(binary_));
    binary_ = nullptr;
    return first;
  }

 private:
  /// @returns the runtime's code; `call` is the name of the call
  [[nodiscard]] AclError launch(const void* device_args, void* host_args, std::size_t bytes,
                                const char*& call) noexcept {
    if (calls().launch_device_args != nullptr) {
      call = "aclrtLaunchKernelV2";
      return calls().launch_device_args(function_, 1, device_args, bytes, nullptr, device_.stream());
    }
    call = "aclrtLaunchKernelWithHostArgs";
    return calls().launch_host_args(function_, 1, device_.stream(), nullptr, host_args, bytes, nullptr, 0);
  }
  explicit Orchestrator(Device& device) : device_{device} {}
  [[nodiscard]] const Calls& calls() const noexcept { return device_.calls(); }

  void check(const OrchestratorBinary& source) const {
    const char* const platform = device_.identity().platform;
    if (calls().register_cpu_function == nullptr || !calls().launches()) {
      throw Error(Errc::unsupported,
                  Error::Text{platform, ": the runtime has no ",
                              calls().register_cpu_function == nullptr ? "aclrtRegisterCpuFunc" : "aclrtLaunchKernelV2",
                              ", so nothing builds the graph on the device; install a newer runtime, or choose "
                              "runtime::HostBuildGraph"});
    }
    if (source.binary.file == nullptr && source.binary.data.empty()) {
      throw Error(Errc::invalid_argument,
                  Error::Text{platform,
                              ": Options::orchestrator names no binary; this runtime builds its graph on the "
                              "device, so it needs a program for the AICPU, see docs/onboard.md"});
    }
  }

  void load(const OrchestratorBinary& source) {
    std::string contents;
    std::span<const std::byte> data = source.binary.data;
    if (source.binary.file != nullptr) {
      contents = read(source.binary.file);
      data = std::as_bytes(std::span(contents));
    }
    const LoadOption option{load_option_cpu_kernel_mode, {cpu_kernels_from_data}};
    const LoadOptions options{&option, 1};
    device_.must("aclrtBinaryLoadFromData", calls().load_data(data.data(), data.size(), &options, &binary_));
    const AclError code = calls().register_cpu_function(binary_, source.entry, source.kernel, &function_);
    if (code != code_ok) (void)release();
    device_.must("aclrtRegisterCpuFunc", code);
  }
  [[nodiscard]] std::string read(const char* path) const {
    std::string contents = rondo::detail::contents_of(path);
    if (!contents.empty()) return contents;
    throw Error(Errc::invalid_argument, Error::Text{device_.identity().platform, ": the orchestrator's binary ", path,
                                                    " cannot be read; build it, see docs/onboard.md"});
  }

  Device& device_;
  BinHandle binary_ = nullptr;
  FuncHandle function_ = nullptr;
};

}  // namespace rondo::platform::onboard
