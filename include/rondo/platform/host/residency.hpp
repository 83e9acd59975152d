// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/types.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace rondo::platform::host {

/// When the pages of the device memory are brought into memory.
enum class Residency : std::uint8_t {
  on_demand,   ///< each page at its first use
  prefaulted,  ///< all pages at the allocation; the system may evict them later
  locked,      ///< all pages at the allocation; they stay
};

#if defined(__linux__)

/// The size of a page, the unit in which memory is locked. Locks do not nest, so locked memory must not share a page
/// with other memory.
[[nodiscard]] inline Bytes page_size() noexcept { return Bytes{static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))}; }

/// Locks whole pages into memory. It makes the system call directly, since sanitizers turn mlock() into a no-op.
/// @throws Error out_of_memory
inline void lock_pages(void* first, Bytes size) {
  if (syscall(SYS_mlock, first, size.value) == 0) return;
  const int error = errno;
  rlimit allowed{};
  (void)getrlimit(RLIMIT_MEMLOCK, &allowed);
  throw Error(Errc::out_of_memory,
              Error::Text{"host: options.memory = locked: the system does not lock ", size.value, " bytes (error ",
                          error, "); RLIMIT_MEMLOCK allows this process ", static_cast<std::uint64_t>(allowed.rlim_cur),
                          ". Raise it by `ulimit -l` or `memlock` in /etc/security/limits.conf, or choose prefaulted"});
}
inline void unlock_pages(void* first, Bytes size) noexcept { (void)syscall(SYS_munlock, first, size.value); }

#else

[[nodiscard]] inline Bytes page_size() noexcept { return Bytes{4096}; }
inline void lock_pages(void*, Bytes) {
  throw Error(Errc::unsupported, Error::Text("host: options.memory = locked needs Linux; choose prefaulted here"));
}
inline void unlock_pages(void*, Bytes) noexcept {}

#endif

/// Touches each page, so that the system provides it now.
inline void touch_pages(void* first, Bytes size) noexcept {
  volatile auto* const bytes = static_cast<volatile unsigned char*>(first);
  for (std::uint64_t at = 0; at < size.value; at += page_size().value) bytes[at] = 0;
}

}  // namespace rondo::platform::host
