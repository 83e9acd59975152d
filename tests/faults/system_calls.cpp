// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "system_calls.hpp"

#include "cuda_stand_in/control.hpp"
#include "stand_in/control.hpp"

#include <doctest/doctest.h>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>

namespace {

using rondo::test::SystemCall;

std::atomic<int> failing{-1};  ///< a SystemCall; -1: none
std::atomic<int> wanted_error{0};
std::atomic<std::int64_t> allocations{0};

/// What this process shares with those that it forks.
struct Uses {
  std::atomic<std::uint64_t> left{0};
  std::atomic<bool> has_failed{false};
};
Uses& uses() noexcept {
  static Uses& shared =
      *new (::mmap(nullptr, sizeof(Uses), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Uses;
  return shared;
}

/// Whether this use of a function is the one that fails. The stand-ins for a device's runtime are not under test.
bool fails_now(SystemCall call) noexcept {
  if (failing.load(std::memory_order_acquire) != static_cast<int>(call)) return false;
  if (rondo_stand_in_is_inside() || rondo_cuda_stand_in_is_inside()) return false;
  if (uses().left.fetch_sub(1) != 1) return false;
  uses().has_failed = true;
  return true;
}
bool fails_with_errno(SystemCall call) noexcept {
  if (!fails_now(call)) return false;
  errno = wanted_error;
  return true;
}

/// The function of that name in the system, or of a sanitizer that watches it.
template <class Function>
Function* next(const char* name) noexcept {
  const std::string watched = std::string{"__interceptor_"} + name;
  void* found = ::dlsym(RTLD_DEFAULT, watched.c_str());
  if (found == nullptr) found = ::dlsym(RTLD_NEXT, name);
  return reinterpret_cast<Function*>(found);
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (fails_now(SystemCall::allocate)) return nullptr;
  void* memory = nullptr;
  if (alignment == 0) {
    memory = std::malloc(size == 0 ? 1 : size);
  } else if (::posix_memalign(&memory, alignment < sizeof(void*) ? sizeof(void*) : alignment, size) != 0) {
    memory = nullptr;
  }
  if (memory != nullptr) allocations.fetch_add(1, std::memory_order_relaxed);
  return memory;
}
void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  if (void* const memory = allocate(size, alignment); memory != nullptr) return memory;
  throw std::bad_alloc();
}
void release(void* memory) noexcept {
  if (memory != nullptr) allocations.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

int entries_of(const char* folder) {
  int entries = 0;
  DIR* const all = ::opendir(folder);
  while (::readdir(all) != nullptr) ++entries;
  ::closedir(all);
  return entries;
}

}  // namespace

void* operator new(std::size_t size) { return allocate_or_throw(size, 0); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, 0); }
void* operator new(std::size_t size, std::align_val_t a) { return allocate_or_throw(size, std::size_t(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return allocate_or_throw(size, std::size_t(a)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 0); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(size, std::size_t(a));
}
void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(size, std::size_t(a));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }

// The libraries of this program call these functions, too.
extern "C" {

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  if (fails_with_errno(SystemCall::allocate)) return nullptr;
  static auto* const real = next<decltype(aligned_alloc)>("aligned_alloc");
  return real(alignment, size);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) noexcept {
  if (fails_now(SystemCall::thread)) return wanted_error;
  static auto* const real = next<decltype(pthread_create)>("pthread_create");
  return real(thread, attributes, body, argument);
}

int open(const char* path, int flags, ...) {
  if (fails_with_errno(SystemCall::open)) return -1;
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : mode_t{0};
  va_end(more);
  static auto* const real = next<int(const char*, int, ...)>("open");
  return real(path, flags, mode);
}

std::FILE* fopen(const char* path, const char* mode) {
  if (fails_with_errno(SystemCall::open)) return nullptr;
  static auto* const real = next<decltype(fopen)>("fopen");
  return real(path, mode);
}
std::FILE* fopen64(const char* path, const char* mode) {
  if (fails_with_errno(SystemCall::open)) return nullptr;
  static auto* const real = next<decltype(fopen)>("fopen64");
  return real(path, mode);
}

char* mkdtemp(char* path) noexcept {
  if (fails_with_errno(SystemCall::open)) return nullptr;
  static auto* const real = next<decltype(mkdtemp)>("mkdtemp");
  return real(path);
}

ssize_t read(int file, void* to, std::size_t size) {
  if (fails_with_errno(SystemCall::read)) return -1;
  static auto* const real = next<decltype(read)>("read");
  return real(file, to, size);
}
std::size_t fread(void* to, std::size_t size, std::size_t count, std::FILE* file) {
  if (fails_with_errno(SystemCall::read)) {
    file->_flags |= _IO_ERR_SEEN;
    return 0;
  }
  static auto* const real = next<decltype(fread)>("fread");
  return real(to, size, count, file);
}

ssize_t write(int file, const void* from, std::size_t size) {
  static auto* const real = next<decltype(write)>("write");
  if (!fails_with_errno(SystemCall::write)) return real(file, from, size);
  if (wanted_error != 0) return -1;
  wanted_error = ENOSPC;
  uses().left = 1;
  return real(file, from, size / 2);
}
ssize_t writev(int file, const iovec* parts, int count) {
  if (fails_with_errno(SystemCall::write)) {
    if (wanted_error == 0) errno = ENOSPC;
    return -1;
  }
  static auto* const real = next<decltype(writev)>("writev");
  return real(file, parts, count);
}

int fsync(int file) {
  if (fails_with_errno(SystemCall::sync)) return -1;
  static auto* const real = next<decltype(fsync)>("fsync");
  return real(file);
}

int rename(const char* from, const char* to) noexcept {
  if (fails_with_errno(SystemCall::rename)) return -1;
  static auto* const real = next<decltype(rename)>("rename");
  return real(from, to);
}

pid_t fork() noexcept {
  if (fails_with_errno(SystemCall::process)) return -1;
  static auto* const real = next<decltype(fork)>("fork");
  const pid_t child = real();
  if (child == 0 && failing != static_cast<int>(SystemCall::library)) failing = -1;
  return child;
}

int pipe2(int ends[2], int flags) noexcept {
  if (fails_with_errno(SystemCall::channel)) return -1;
  static auto* const real = next<decltype(pipe2)>("pipe2");
  return real(ends, flags);
}
int socketpair(int domain, int type, int protocol, int ends[2]) noexcept {
  if (fails_with_errno(SystemCall::channel)) return -1;
  static auto* const real = next<decltype(socketpair)>("socketpair");
  return real(domain, type, protocol, ends);
}

void* dlopen(const char* path, int flags) noexcept {
  static auto* const real = next<void*(const char*, int)>("dlopen");
  // dlerror() then has the reason, as it does for any library that is not there.
  const bool fails = (flags & RTLD_NOLOAD) == 0 && fails_now(SystemCall::library);
  return real(fails ? "/a library that fails" : path, flags);
}

}  // extern "C"

namespace rondo::test {

void fail_call(SystemCall call, std::uint64_t n, int error) noexcept {
  uses().has_failed = false;
  wanted_error = error;
  uses().left = n;
  failing.store(static_cast<int>(call), std::memory_order_release);
}

bool stop_failing() noexcept {
  failing = -1;
  return uses().has_failed;
}

Held held() { return {allocations, entries_of("/proc/self/fd"), entries_of("/proc/self/task")}; }

std::uint64_t fail_each_use(SystemCall call, std::initializer_list<int> errors, const std::function<bool()>& live,
                            const std::function<void(const Outcome&)>& judge, const std::function<void()>& prepare) {
  // This first life allocates the objects that a program makes only once, such as the memory for the first exception.
  prepare();
  REQUIRE(live());
  std::uint64_t failed = 0;
  for (const int error : errors) {
    for (std::uint64_t n = 1;; ++n) {
      prepare();
      Outcome outcome{n, error, true, {}};
      const Held before = held();
      {
        std::exception_ptr thrown;
        fail_call(call, n, error);
        try {
          outcome.is_right = live();
        } catch (...) {
          thrown = std::current_exception();
        }
        if (!stop_failing()) break;
        try {
          if (thrown) std::rethrow_exception(thrown);
        } catch (const Error& e) {
          outcome.told = e.what();
        } catch (const std::bad_alloc&) {
          outcome.told = "out of memory";
        }
      }
      ++failed;
      Held after = held();
      after.allocations -= outcome.told.capacity() > std::string{}.capacity() ? 1 : 0;
      // A thread that was joined is in the system's list for a moment longer.
      while (after.threads > before.threads) {
        std::this_thread::yield();
        after.threads = held().threads;
      }
      const auto use = n;
      CAPTURE(use);
      CAPTURE(error);
      CAPTURE(outcome.told);
      CHECK(after.allocations == before.allocations);
      CHECK(after.descriptors == before.descriptors);
      CHECK(outcome.is_right);
      judge(outcome);
    }
  }
  return failed;
}

}  // namespace rondo::test
