// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/file.hpp>
#include <rondo/platform/onboard/device.hpp>

#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::platform::onboard {

/// The loaded kernel binaries of a program, and the search for kernels in them.
///
/// A kernel's compiler may write the type of cores into the binary, or into a .json of the same name next to it. The
/// runtime takes all other kernels for kernels of cube cores. Therefore Rondo tells the runtime the type that the
/// graph's tasks state. The type applies to a whole binary; a binary with kernels for both types is loaded once for
/// each type.
///
/// Lifetime: the device outlives it; release() unloads. Thread safety: none. Errors: find() throws. Cost: set-up only.
class Binaries {
 public:
  Binaries(Device& device, std::span<const KernelBinary> sources) : device_{device}, sources_{sources} {}
  Binaries(const Binaries&) = delete;
  Binaries& operator=(const Binaries&) = delete;

  /// Finds the kernel of this name for these cores, by its name or else by its number. @throws Error invalid_argument
  /// (no such file, no such kernel, a kernel for other cores), and errors of the runtime
  [[nodiscard]] FuncHandle find(std::string_view name, CoreType core) {
    load_all(core);
    char text[256];
    if (name.size() >= sizeof(text)) fail(name, code_bad_parameter, false);
    for (std::size_t i = 0; i < name.size(); ++i) text[i] = name[i];
    text[name.size()] = '\0';
    AclError last = code_bad_parameter;
    const std::vector<BinHandle>& handles = handles_[static_cast<std::size_t>(core)];
    for (const BinHandle& binary : handles) {
      FuncHandle function = nullptr;
      last = calls().get_function(binary, text, &function);
      if (last == code_ok && function != nullptr) return checked(function, name, core);
    }
    // The code is the same whether the runtime cannot search by name or finds no such name, so try numbers in both
    // cases.
    bool has_number = false;
    for (std::size_t b = 0; b < handles.size(); ++b) {
      std::uint64_t number = 0;
      if (!number_of(name, sources_[b], number)) continue;
      has_number = true;
      if (calls().get_function_by_entry == nullptr) break;
      FuncHandle function = nullptr;
      last = calls().get_function_by_entry(handles[b], number, &function);
      if (last == code_ok && function != nullptr) return checked(function, name, core);
    }
    fail(name, last, has_number);
  }

  /// Makes the runtime call `callback(info, user)` for each kernel that fails, on a thread of its own.
  void on_exception(void (*callback)(ExceptionInfo*, void*), void* user) const noexcept {
    if (calls().on_exception == nullptr) return;
    for (const std::vector<BinHandle>& handles : handles_) {
      for (const BinHandle& binary : handles) (void)calls().on_exception(binary, callback, user);
    }
  }

  /// Unloads the binaries. @returns the first failure
  AclError release() noexcept {
    AclError first = code_ok;
    for (std::vector<BinHandle>& handles : handles_) {
      for (BinHandle& binary : handles) {
        if (binary == nullptr) continue;
        keep_first(first, calls().unload(binary));
      }
      handles = {};
    }
    return first;
  }
  [[nodiscard]] std::span<const KernelBinary> sources() const noexcept { return sources_; }
  [[nodiscard]] bool empty() const noexcept { return handles_[0].empty() && handles_[1].empty(); }

 private:
  [[nodiscard]] const Calls& calls() const noexcept { return device_.calls(); }

  void load_all(CoreType core) {
    std::vector<BinHandle>& handles = handles_[static_cast<std::size_t>(core)];
    if (!handles.empty()) return;
    handles = std::vector<BinHandle>(sources_.size());
    for (std::size_t b = 0; b < handles.size(); ++b) {
      if (sources_[b].file == nullptr) {
        load(sources_[b].data, core, handles[b]);
      } else {
        load_file(sources_[b].file, core, handles[b]);
      }
    }
  }
  void load(std::span<const std::byte> bytes, CoreType core, BinHandle& handle) {
    const LoadOption option{load_option_magic, {core == CoreType::vector ? magic_vector_core : magic_cube_core}};
    const LoadOptions options{&option, 1};
    AclError code = calls().load_data(bytes.data(), bytes.size(), &options, &handle);
    // A runtime without this option may still load the binary; find() checks the result.
    if (errc_of(code) == Errc::invalid_argument || errc_of(code) == Errc::unsupported) {
      code = calls().load_data(bytes.data(), bytes.size(), nullptr, &handle);
    }
    device_.must("aclrtBinaryLoadFromData", code);
  }
  /// The option exists for binaries in memory only, so a file is read first, unless a .json next to it states the type
  /// of cores or it is no device binary.
  void load_file(const char* file, CoreType core, BinHandle& handle) {
    // The runtime takes absolute paths only.
    const std::unique_ptr<char, decltype(&std::free)> path{realpath(file, nullptr), &std::free};
    if (path == nullptr) {
      throw Error(Errc::invalid_argument, Error::Text{device_.identity().platform, ": there is no kernel binary ", file,
                                                      "; build it, see docs/onboard.md"});
    }
    const std::string contents = has_json(path.get()) ? std::string{} : rondo::detail::contents_of(path.get());
    const auto bytes = std::as_bytes(std::span(contents));
    if (is_of_a_device(bytes)) return load(bytes, core, handle);
    device_.must("aclrtBinaryLoadFromFile", calls().load_file(path.get(), nullptr, &handle));
  }
  [[nodiscard]] static bool has_json(std::string_view path) {
    std::string_view stem = path;
    if (const std::size_t dot = path.rfind('.'); dot != std::string_view::npos && dot > path.rfind('/')) {
      stem = path.substr(0, dot);
    }
    std::vector<char> name(stem.begin(), stem.end());
    for (const char c : {'.', 'j', 's', 'o', 'n', '\0'}) name.push_back(c);
    return access(name.data(), R_OK) == 0;
  }
  /// Whether the bytes are an ELF file for another machine than this host.
  [[nodiscard]] static bool is_of_a_device(std::span<const std::byte> bytes) noexcept {
    constexpr std::size_t machine_at = 18;
    constexpr std::uint16_t x86_64 = 62, aarch64 = 183;
    if (bytes.size() < machine_at + 2 || std::memcmp(bytes.data(), "\177ELF", 4) != 0) return false;
    std::uint16_t machine = 0;
    std::memcpy(&machine, bytes.data() + machine_at, sizeof(machine));
    return machine != x86_64 && machine != aarch64;
  }

  /// Checks that a kernel is for the cores that its task states, if the runtime reports a kernel's cores.
  [[nodiscard]] FuncHandle checked(FuncHandle function, std::string_view name, CoreType core) const {
    std::int64_t kind = 0;
    if (calls().function_attribute == nullptr ||
        calls().function_attribute(function, function_kernel_type, &kind) != code_ok) {
      return function;
    }
    const std::int64_t other = core == CoreType::vector ? kernel_on_cube_cores : kernel_on_vector_cores;
    if (kind != other) return function;
    throw Error(Errc::invalid_argument,
                Error::Text{device_.identity().platform, ": kernel '", name, "' is for ",
                            to_string(core == CoreType::vector ? CoreType::cube : CoreType::vector),
                            " cores in its binary, and for ", to_string(core),
                            " cores in the graph; build it for those, or change the kernel's `core`"});
  }

  [[nodiscard]] static bool number_of(std::string_view name, const KernelBinary& binary,
                                      std::uint64_t& number) noexcept {
    for (const KernelNumber& known : binary.numbers) {
      if (name != known.kernel) continue;
      number = known.number;
      return true;
    }
    const std::size_t bar = name.rfind('_');
    if (bar == std::string_view::npos || bar + 1 == name.size() || name.size() - bar > 19) return false;
    for (const char c : name.substr(bar + 1)) {
      if (c < '0' || c > '9') return false;
      number = 10 * number + static_cast<std::uint64_t>(c - '0');
    }
    return true;
  }

  [[noreturn]] void fail(std::string_view name, AclError last, bool has_number) const {
    const Errc errc = last == code_ok ? Errc::invalid_argument : errc_of(last);
    Error::Text text{device_.identity().platform, ": kernel '", name, "' was found in none of the ", sources_.size()};
    text.append({" binaries of Options::kernels (the last said ", last, "); "});
    if (errc != Errc::unsupported) {
      text.append("build it with the vendor's compiler, see docs/onboard.md");
    } else if (!has_number) {
      text.append("this runtime finds no kernel by name, so say which has which number: KernelBinary::with_numbers");
    } else {
      text.append("this runtime finds kernels neither by name nor by number; install a newer one");
    }
    throw Error(errc, text);
  }

  Device& device_;
  std::span<const KernelBinary> sources_;
  std::vector<BinHandle> handles_[core_type_count];  ///< by core, then in the order of the sources
};

}  // namespace rondo::platform::onboard
