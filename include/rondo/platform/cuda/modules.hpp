// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/cuda/device.hpp>
#include <rondo/platform/file.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::platform::cuda {

/// The loaded modules of a program, in which kernels are found: first the modules of the options, then those embedded
/// in the program.
///
/// Lifetime: the device outlives it; release() unloads. Thread safety: none. Errors: find() throws. Cost: set-up only;
/// the driver compiles PTX when it is loaded, and caches the result on disk.
class Modules {
 public:
  Modules(Device& device, std::span<const CudaModule> sources) : device_{device}, sources_{sources} {}
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  /// The kernel of this name. @throws Error as read_file() does, invalid_argument (an empty file, no such kernel),
  /// unsupported (a module for another chip or a newer driver), and errors of the driver
  [[nodiscard]] Function find(std::string_view name) {
    std::vector<char> entry(name.begin(), name.end());
    entry.push_back('\0');
    Function found = nullptr;
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      if (modules_.size() == s) load(sources_[s]);
      if (has(modules_[s], entry.data(), found)) return found;
    }
    std::size_t next = sources_.size();
    for (const EmbeddedPtx* ptx = EmbeddedPtx::first(); ptx != nullptr; ptx = ptx->next(), ++next) {
      if (modules_.size() == next) load(CudaModule::from_text(ptx->text()));
      if (has(modules_[next], entry.data(), found)) return found;
    }
    throw Error(Errc::invalid_argument,
                Error::Text{device_.platform(), ": kernel '", name, "' is in none of the ", modules_.size(),
                            " modules of Options::kernels and of the program; compile it with "
                            "rondo_add_cuda_kernels(), see docs/cuda.md"});
  }

  /// @returns the first failure
  Result release() noexcept {
    Result first = success;
    for (const Module module : modules_) {
      keep_first(first, released(device_.driver().unload_module(module)));
    }
    modules_ = {};
    return first;
  }
  [[nodiscard]] bool empty() const noexcept { return modules_.empty(); }

 private:
  [[nodiscard]] bool has(Module module, const char* entry, Function& found) const {
    const Result code = device_.driver().get_function(&found, module, entry);
    if (code == not_found) return false;
    device_.must("cuModuleGetFunction", code);
    return true;
  }

  /// The bytes of a module. They are followed by a 0, which ends PTX.
  [[nodiscard]] std::string bytes_of(const CudaModule& source) const {
    if (source.file == nullptr) return {reinterpret_cast<const char*>(source.data.data()), source.data.size()};
    std::string contents = rondo::detail::read_file(source.file, "the kernel module cannot be read; see docs/cuda.md");
    if (!contents.empty()) return contents;
    throw Error(Errc::invalid_argument, Error::Text{device_.platform(), ": the kernel module ", source.file,
                                                    " is empty; compile it, see docs/cuda.md"});
  }

  void load(const CudaModule& source) {
    const std::string bytes = bytes_of(source);
    char log[512] = "";
    int options[] = {jit_error_log, jit_error_log_bytes};
    void* values[] = {static_cast<char*>(log), reinterpret_cast<void*>(sizeof(log))};  // NOLINT: as the driver wants it
    Module module = nullptr;
    modules_.reserve(modules_.size() + 1);
    const Result code = device_.driver().load_module(&module, bytes.data(), 2, options, values);
    if (code == success) {
      modules_.push_back(module);
      return;
    }
    log[sizeof(log) - 1] = '\0';
    const Errc errc = errc_of(code);
    Error::Text text{device_.platform(), ": the kernel module ", source.file == nullptr ? "in memory" : source.file,
                     " cannot be loaded on "};
    device_.append_name(text);
    text.append(": cuModuleLoadDataEx returned ");
    text.append(code);
    append_words(text, device_.driver(), code);
    if (errc == Errc::unsupported) text.append("; compile it as PTX for that capability or an older one");
    if (log[0] != '\0') text.append("; the compiler said: "), text.append(static_cast<const char*>(log));
    throw Error(errc, text);
  }

  Device& device_;
  std::span<const CudaModule> sources_;
  std::vector<Module> modules_;  ///< in the order of the sources, then in that of EmbeddedPtx
};

}  // namespace rondo::platform::cuda
