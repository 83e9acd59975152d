// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// A library to preload. RONDO_FAIL="<call> <n> <errno>" has the n-th use of a function of the system fail in the
// program; with the errno 0 the program is killed there. "failed\n" is then the contents of the file RONDO_FAILED.

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Wanted {
  char call[32] = {};
  long n = 0;
  int error = 0;
  Wanted() noexcept {
    const char* const text = std::getenv("RONDO_FAIL");
    if (text != nullptr && std::sscanf(text, "%31s %ld %d", call, &n, &error) != 3) std::abort();
  }
};

/// Whether this use of a function fails. If it does, errno is set.
bool fails(const char* call) noexcept {
  static const Wanted wanted;
  static std::atomic<long> uses{0};
  if (std::strcmp(call, wanted.call) != 0 || uses.fetch_add(1) + 1 != wanted.n) return false;
  const long file = ::syscall(SYS_openat, AT_FDCWD, std::getenv("RONDO_FAILED"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  (void)::syscall(SYS_write, file, "failed\n", 7);
  (void)::syscall(SYS_close, file);
  if (wanted.error == 0) (void)std::raise(SIGKILL);
  errno = wanted.error;
  return true;
}

template <class Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* from, size_t size) {
  return fails("write") ? -1 : next<decltype(write)>("write")(file, from, size);
}
int fsync(int file) { return fails("fsync") ? -1 : next<decltype(fsync)>("fsync")(file); }
/// Only a call that makes a file counts.
int open(const char* path, int flags, ...) {
  if ((flags & O_CREAT) == 0) return next<decltype(open)>("open")(path, flags);
  va_list more;
  va_start(more, flags);
  const auto mode = static_cast<mode_t>(va_arg(more, unsigned));
  va_end(more);
  return fails("open") ? -1 : next<decltype(open)>("open")(path, flags, mode);
}
int rename(const char* from, const char* to) noexcept {
  return fails("rename") ? -1 : next<decltype(rename)>("rename")(from, to);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) noexcept {
  return fails("pthread_create") ? errno
                                 : next<decltype(pthread_create)>("pthread_create")(thread, attributes, body, argument);
}

}  // extern "C"
