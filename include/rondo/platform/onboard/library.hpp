// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/onboard/acl.hpp>
#include <rondo/platform/streams/library_fault.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>

/// Functions that find the runtime's library on the machine where the program runs.
namespace rondo::platform::onboard {

/// Fills the table from an open library. @throws Error unsupported: the library lacks a required symbol
inline void fill(Calls& calls, void* library, const char* name) {
  visit_required(calls, [&]<class Function>(const char* symbol, Function*& slot) {
    slot = reinterpret_cast<Function*>(streams::find_required(library, name, symbol));
  });
  visit_optional(calls, [&]<class Function>(const char* symbol, Function*& slot) {
    slot = reinterpret_cast<Function*>(dlsym(library, symbol));
  });
}

/// Opens libacl_rt.so, else libascendcl.so (of older packages), else the file that the environment variable
/// RONDO_ACL_LIBRARY names. The library stays open until the process ends. @throws Error no_such_device, with the
/// places that were searched or with what is wrong with the first library that is there
inline void open_library(Calls& calls) {
  Error::Text looked;
  Error::Text fault;
  for (const char* const name : {"libacl_rt.so", "libascendcl.so", static_cast<const char*>(nullptr)}) {
    const char* const path = name != nullptr ? name : std::getenv("RONDO_ACL_LIBRARY");
    if (path == nullptr || *path == '\0') continue;
    if (void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL); library != nullptr)
      return fill(calls, library, path);
    if (fault.empty()) fault = streams::library_fault(path);
    if (!looked.empty()) looked.append(", ");
    looked.append(path);
  }
  if (!fault.empty()) throw Error(Errc::no_such_device, fault);
  const char* where = std::getenv("LD_LIBRARY_PATH");
  if (where == nullptr || *where == '\0') where = "the system's library folders";
  throw Error(Errc::no_such_device,
              Error::Text{"no such device: libacl_rt.so not found (looked in ", detail::FixedText<128>(where), " for ",
                          looked, "); install the vendor's runtime, or let RONDO_ACL_LIBRARY name it"});
}

/// The calls of the profiler, which is looked for once; null if there is none.
inline const ProfilerCalls& profiler_calls() noexcept {
  static const ProfilerCalls found = [] {
    ProfilerCalls calls;
    void* const library = dlopen("libms_tools_ext.so", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return calls;
    calls.range_start = reinterpret_cast<decltype(calls.range_start)>(dlsym(library, "mstxRangeStartA"));
    calls.range_end = reinterpret_cast<decltype(calls.range_end)>(dlsym(library, "mstxRangeEnd"));
    return calls.range_start != nullptr && calls.range_end != nullptr ? calls : ProfilerCalls{};
  }();
  return found;
}

}  // namespace rondo::platform::onboard
