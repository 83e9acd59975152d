// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/cuda/driver.hpp>
#include <rondo/platform/streams/library_fault.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

/// Functions that find the driver's library on the machine where the program runs.
namespace rondo::platform::cuda {

/// Fills the table by `find(name, symbol)`, which returns null if there is no such call. @throws Error unsupported if a
/// required call is missing
template <class Find>
void fill(Calls& calls, const char* library, Find find) {
  int version = 0;
  visit_required(calls, [&]<class F>(const char* name, const char* symbol, F*& slot) {
    slot = reinterpret_cast<F*>(find(name, symbol));
    if (slot == nullptr) {
      throw Error(Errc::unsupported,
                  Error::Text{library, ", driver version ", version / 1000, ".", version % 1000 / 10, ", has no ", name,
                              ", which Rondo cannot do without; install a newer driver"});
    }
    if (name == std::string_view("cuDriverGetVersion")) (void)calls.driver_version(&version);
  });
  visit_optional(calls, [&]<class F>(const char* name, const char* symbol, F*& slot) {
    slot = reinterpret_cast<F*>(find(name, symbol));
  });
}

/// Opens libcuda.so.1, or the library that the environment variable RONDO_CUDA_LIBRARY names. It stays open until the
/// process ends.
/// @throws Error no_such_device, with the places that were searched or with what is wrong with the library; unsupported
/// if the driver is too old
inline void open_library(Calls& calls) {
  const char* path = std::getenv("RONDO_CUDA_LIBRARY");
  if (path == nullptr || *path == '\0') path = "libcuda.so.1";
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    if (const Error::Text fault = streams::library_fault(path); !fault.empty())
      throw Error(Errc::no_such_device, fault);
    const char* where = std::getenv("LD_LIBRARY_PATH");
    if (where == nullptr || *where == '\0') where = "the system's library folders";
    throw Error(Errc::no_such_device,
                Error::Text{"no such device: ", path, " not found (looked in ", detail::FixedText<128>(where),
                            "); install the NVIDIA driver, or let RONDO_CUDA_LIBRARY name its library"});
  }
  // cuGetProcAddress returns the version of a call that a given version of the driver had. Drivers without it, and
  // later ones for calls that did not exist then, export each version of a call as a symbol of its own.
  using GetProcAddress = Result (*)(const char*, void**, int version, unsigned long long flags);
  constexpr int version = 11040;
  const auto get = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress"));
  fill(calls, path, [&](const char* name, const char* symbol) -> void* {
    void* found = nullptr;
    if (get != nullptr && get(name, &found, version, 0) == success && found != nullptr) return found;
    return dlsym(library, symbol);
  });
}

}  // namespace rondo::platform::cuda
