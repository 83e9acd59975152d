// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/binaries.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rondo::platform::onboard {

/// A vector kernel of Rondo's own, which users compile from its source in device/ and list among the session's kernels.
///
/// Lifetime: device and kernels outlive it; release() unloads. Thread safety: the session's. Errors: load() and
/// try_out() throw errors of the runtime; a missing kernel is no error. Cost: one call for each launch.
class OwnKernel {
 public:
  /// Searches for the kernel, and loads nothing. `name` is a literal. @throws std::bad_alloc
  OwnKernel(Device& device, std::span<const KernelBinary> kernels, const char* name)
      : device_{device}, name_{name}, binaries_{device, first_with(kernels, name)} {}
  OwnKernel(const OwnKernel&) = delete;
  OwnKernel& operator=(const OwnKernel&) = delete;
  ~OwnKernel() = default;

  /// Loads the kernel, if there is one. @throws Error on errors of the runtime
  void load() {
    if (!is_there() || calls().launch_host_args == nullptr) return;
    try {
      function_ = binaries_.find(name_, CoreType::vector);
    } catch (const Error& e) {
      (void)binaries_.release();
      if (e.code() != Errc::invalid_argument && e.code() != Errc::unsupported) throw;
    } catch (...) {
      (void)binaries_.release();
      throw;
    }
  }

  /// Whether a binary names the kernel.
  [[nodiscard]] bool is_there() const noexcept { return !binaries_.sources().empty(); }
  [[nodiscard]] bool is_loaded() const noexcept { return function_ != nullptr; }

  /// Launches the kernel with parameters, which are read before this returns, and the data that they point to.
  [[nodiscard]] AclError launch(std::uint32_t blocks, std::span<std::uint64_t> words, Stream stream,
                                std::span<const Placeholder> places = {}) const noexcept {
    return calls().launch_host_args(function_, blocks, stream, nullptr, words.data(), words.size_bytes(), places.data(),
                                    places.size());
  }

  /// Runs the kernel over a copy of `image` on the device, and replaces the image by what the copy then contains.
  /// `prepare(copy)` may write the copy's address into the image, and throws nothing; `launch(copy)` launches, and
  /// returns a code.
  template <class Prepare, class Launch>
  void try_out(std::vector<std::byte>& image, Prepare prepare, Launch launch) {
    const Error::Text launching{"aclrtLaunchKernelWithHostArgs, for ", name_};
    const Error::Text waiting{"aclrtSynchronizeStreamWithTimeout, for ", name_};
    void* memory = nullptr;
    device_.must("aclrtMalloc", calls().malloc(&memory, image.size(), huge_first));
    const DevicePtr<std::byte> copy{reinterpret_cast<std::uintptr_t>(memory)};
    prepare(copy);
    const char* call = "aclrtMemcpy";
    AclError code = device_.copy_now(memory, image.data(), image.size(), host_to_device, nullptr);
    if (code == code_ok) {
      call = launching.c_str();
      device_.work_begins();
      code = launch(copy);
    }
    if (code == code_ok) {
      call = waiting.c_str();
      code = device_.wait();
    }
    if (code == code_ok) {
      call = "aclrtMemcpy";
      code = device_.copy_now(image.data(), memory, image.size(), device_to_host, nullptr);
    }
    if (code != code_ok) (void)device_.wait();  // nothing that was launched may still use the copy
    const AclError freed = calls().free(memory);
    device_.must(call, code);
    device_.must("aclrtFree", freed);
  }

  /// @returns the first failure
  AclError release() noexcept {
    function_ = nullptr;
    return binaries_.release();
  }

 private:
  [[nodiscard]] const Calls& calls() const noexcept { return device_.calls(); }

  /// Most binaries do not contain the kernel; this finds out without loading them.
  [[nodiscard]] static std::span<const KernelBinary> first_with(std::span<const KernelBinary> kernels,
                                                                std::string_view name) {
    for (std::size_t b = 0; b < kernels.size(); ++b) {
      if (names(kernels[b], name)) return kernels.subspan(b, 1);
    }
    return {};
  }
  [[nodiscard]] static bool names(const KernelBinary& binary, std::string_view name) {
    for (const KernelNumber& known : binary.numbers) {
      if (name == known.kernel) return true;
    }
    const auto contains = [name](std::string_view bytes) { return bytes.find(name) != std::string_view::npos; };
    if (binary.file != nullptr) return contains(rondo::detail::contents_of(binary.file));
    return contains({reinterpret_cast<const char*>(binary.data.data()), binary.data.size()});
  }

  Device& device_;
  const char* name_;
  Binaries binaries_;
  FuncHandle function_ = nullptr;
};

}  // namespace rondo::platform::onboard
