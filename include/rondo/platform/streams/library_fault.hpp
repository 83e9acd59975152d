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

}  // namespace rondo::platform::streams
