// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/start_thread.hpp>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

/// The choice of the cores that threads run on.
namespace rondo::platform::host {

#if defined(__linux__)
using ThreadHandle = pthread_t;

namespace detail {

/// Restricts a thread to these cores. Returns whether they exist and the system allowed it.
inline bool set_cores(ThreadHandle thread, std::span<const std::uint32_t> cores) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::uint32_t core : cores) {
    if (core >= CPU_SETSIZE) return false;
    CPU_SET(core, &set);
  }
  return pthread_setaffinity_np(thread, sizeof set, &set) == 0;
}

}  // namespace detail
#else
using ThreadHandle = std::thread::native_handle_type;

namespace detail {

inline bool set_cores(ThreadHandle, std::span<const std::uint32_t>) noexcept { return false; }

}  // namespace detail
#endif

[[noreturn, gnu::cold]] inline void refuse_core(std::span<const std::uint32_t> cores, std::size_t which) {
  throw Error(Errc::invalid_argument,
              Error::Text{"options.cores[", which, "] is core ", cores[which],
                          ", which this machine does not have or the process may not use; `taskset -cp $$` in a shell "
                          "lists those that it may"});
}

/// Restricts a thread to the core cores[which]. @throws Error invalid_argument
inline void run_on(std::thread& thread, std::span<const std::uint32_t> cores, std::size_t which) {
  if (!detail::set_cores(thread.native_handle(), cores.subspan(which, 1))) refuse_core(cores, which);
}

/// Checks that threads may run on the cores, except on the first, which is the caller's. @throws Error
/// invalid_argument, out_of_resources
inline void check_cores([[maybe_unused]] std::span<const std::uint32_t> cores) {
#if defined(__linux__)
  std::size_t which = 1;
  if (cores.size() <= which) return;
  const auto try_each = [&]() noexcept {
    while (which < cores.size() && detail::set_cores(pthread_self(), cores.subspan(which, 1))) ++which;
  };
  start_thread(try_each, "a thread that tries the cores").join();
  if (which < cores.size()) refuse_core(cores, which);
#endif
}

}  // namespace rondo::platform::host
