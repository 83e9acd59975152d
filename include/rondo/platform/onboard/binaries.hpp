// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/device.hpp>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

namespace rondo::platform::onboard {

/// The kernel binaries of a program, loaded, and what is found in them.
///
/// Lifetime: the device outlives it; release() unloads. Thread safety: none. Errors: load() and find() throw. Cost:
/// set-up only.
class Binaries {
 public:
  explicit Binaries(Device& device) : device_{device} {}
  Binaries(const Binaries&) = delete;
  Binaries& operator=(const Binaries&) = delete;

  /// @throws Error invalid_argument (no such file), and what the runtime reports
  void load(std::span<const KernelBinary> binaries) {
    sources_ = binaries;
    handles_ = std::vector<BinHandle>(binaries.size());
    for (std::size_t b = 0; b < handles_.size(); ++b) {
      const KernelBinary& binary = binaries[b];
      if (binary.file == nullptr) {
        device_.must("aclrtBinaryLoadFromData",
                     calls().load_data(binary.data.data(), binary.data.size(), nullptr, &handles_[b]));
        continue;
      }
      char* const path = realpath(binary.file, nullptr);  // the runtime takes absolute paths only
      if (path == nullptr) {
        throw Error(Errc::invalid_argument, Error::Text(device_.identity().platform, ": there is no kernel binary ",
                                                        binary.file, "; build it, see docs/onboard.md"));
      }
      const AclError code = calls().load_file(path, nullptr, &handles_[b]);
      std::free(path);
      device_.must("aclrtBinaryLoadFromFile", code);
    }
  }

  /// The kernel of this name, by its name, or else by its number. @throws Error invalid_argument, and what the runtime
  /// reports
  [[nodiscard]] FuncHandle find(std::string_view name) {
    char text[256];
    if (name.size() >= sizeof(text)) fail(name, code_bad_parameter, false);
    for (std::size_t i = 0; i < name.size(); ++i) text[i] = name[i];
    text[name.size()] = '\0';
    AclError last = code_bad_parameter;
    for (const BinHandle& binary : handles_) {
      FuncHandle function = nullptr;
      last = calls().get_function(binary, text, &function);
      if (last == code_ok && function != nullptr) return function;
    }
    // A refusal means that this runtime finds no names; an unknown name is told likewise. So numbers are tried for
    // both.
    bool has_number = false;
    for (std::size_t b = 0; b < handles_.size(); ++b) {
      std::uint64_t entry = 0;
      if (!entry_of(name, sources_[b], entry)) continue;
      has_number = true;
      if (calls().get_function_by_entry == nullptr) break;
      FuncHandle function = nullptr;
      last = calls().get_function_by_entry(handles_[b], entry, &function);
      if (last == code_ok && function != nullptr) return function;
    }
    fail(name, last, has_number);
  }

  /// @returns the first failure
  AclError release() noexcept {
    AclError first = code_ok;
    for (BinHandle& binary : handles_) {
      if (binary == nullptr) continue;
      const AclError code = calls().unload(binary);
      if (first == code_ok) first = code;
    }
    handles_ = {};
    return first;
  }
  [[nodiscard]] bool empty() const noexcept { return handles_.empty(); }

 private:
  [[nodiscard]] const Calls& calls() const noexcept { return device_.calls(); }

  [[nodiscard]] static bool entry_of(std::string_view name, const KernelBinary& binary, std::uint64_t& entry) noexcept {
    for (std::size_t i = 0; i < binary.entries.size(); ++i) {
      if (name == binary.entries[i]) {
        entry = i;
        return true;
      }
    }
    if (!binary.entries.empty()) return false;
    const std::size_t bar = name.rfind('_');
    if (bar == std::string_view::npos || bar + 1 == name.size() || name.size() - bar > 19) return false;
    for (const char c : name.substr(bar + 1)) {
      if (c < '0' || c > '9') return false;
      entry = 10 * entry + static_cast<std::uint64_t>(c - '0');
    }
    return true;
  }

  [[noreturn]] void fail(std::string_view name, AclError last, bool has_number) const {
    const Errc errc = last == code_ok ? Errc::invalid_argument : errc_of(last);
    Error::Text text(device_.identity().platform, ": kernel '", name, "' was found in none of the ", handles_.size(),
                     " binaries of Options::kernels (the last said ", last, "); ");
    if (errc != Errc::unsupported) {
      text.append("build it with the vendor's compiler, see docs/onboard.md");
    } else if (!has_number) {
      text.append("this runtime finds no kernel by name, so say which has which number: KernelBinary::with_entries");
    } else {
      text.append("this runtime finds kernels neither by name nor by number; install a newer one");
    }
    throw Error(errc, text);
  }

  Device& device_;
  std::span<const KernelBinary> sources_;
  std::vector<BinHandle> handles_;
};

}  // namespace rondo::platform::onboard
