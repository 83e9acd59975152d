// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <dlfcn.h>

#include <string_view>

namespace rondo::platform::streams {

/// What is wrong with a library for which dlopen(path) has failed just now; empty if there is no such file.
[[nodiscard]] inline Error::Text library_fault(const char* path) noexcept {
  const char* const told = dlerror();
  if (told == nullptr) return {};
  const std::string_view name{path};
  const std::string_view reason{told};
  // Another name there is that of a library which this one needs.
  constexpr std::string_view no_file = ": cannot open shared object file: No such file or directory";
  if (reason.starts_with(name) && reason.substr(name.size()) == no_file) return {};
  return Error::Text{path, " cannot be opened: ", reason, "; install what is missing, or repair the installation"};
}

/// Returns the address of a symbol of an open library. @throws Error unsupported: the library has no such symbol
inline void* find_required(void* library, const char* name, const char* symbol) {
  void* const found = dlsym(library, symbol);
  if (found == nullptr) {
    throw Error(Errc::unsupported,
                Error::Text{name, " has no ", symbol, ", which Rondo cannot do without; install a newer version"});
  }
  return found;
}

}  // namespace rondo::platform::streams
