// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For programs of one source file: replaces functions of the C library by functions that count and call the original.

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

inline std::atomic<long> allocations, locks, clock_reads, threads, libraries;

template <class F>
inline F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

// operator new calls malloc, so counting malloc covers it. dlsym allocates, so the C library's own entry points are
// used.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void __libc_free(void*);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t n) { return ++allocations, __libc_malloc(n); }
void* calloc(std::size_t n, std::size_t s) { return ++allocations, __libc_calloc(n, s); }
void* realloc(void* p, std::size_t n) { return ++allocations, __libc_realloc(p, n); }
void free(void* p) { return ++allocations, __libc_free(p); }
void* aligned_alloc(std::size_t a, std::size_t n) { return ++allocations, __libc_memalign(a, n); }
void* memalign(std::size_t a, std::size_t n) { return ++allocations, __libc_memalign(a, n); }

int pthread_mutex_lock(pthread_mutex_t* m) {
  static const auto real = next<int (*)(pthread_mutex_t*)>("pthread_mutex_lock");
  return ++locks, real(m);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* l) {
  static const auto real = next<int (*)(pthread_rwlock_t*)>("pthread_rwlock_wrlock");
  return ++locks, real(l);
}
int pthread_create(pthread_t* t, const pthread_attr_t* a, void* (*f)(void*), void* x) {
  static const auto real = next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return ++threads, real(t, a, f, x);
}
int clock_gettime(clockid_t c, timespec* t) {
  static const auto real = next<int (*)(clockid_t, timespec*)>("clock_gettime");
  return ++clock_reads, real(c, t);
}
void* dlopen(const char* name, int flags) {
  static const auto real = next<void* (*)(const char*, int)>("dlopen");
  return ++libraries, real(name, flags);
}
}

inline bool quiet = true;

template <class Round>
void expect_no_calls(const char* platform, const char* way, Round round, bool may_read_clock = false) {
  // In the first rounds, code is loaded, reserved memory is touched for the first time, and a pool learns.
  bool ok = true;
  for (int i = 0; i < 64; ++i) ok = round() && ok;
  const long before[] = {allocations, locks, clock_reads, threads, libraries};
  for (int i = 0; i < 1000; ++i) ok = round() && ok;
  const long after[] = {allocations, locks, clock_reads, threads, libraries};
  long calls[5];
  long sum = 0;
  for (int i = 0; i < 5; ++i) {
    calls[i] = after[i] - before[i];
    if (i != 2 || !may_read_clock) sum += calls[i];
  }
  quiet = quiet && ok && sum == 0;
  std::printf("%-9s %-9s %s: %ld allocations, %ld locks, %ld clock reads, %ld threads, %ld libraries in 1000 rounds\n",
              platform, way, ok ? "ok" : "FAILED", calls[0], calls[1], calls[2], calls[3], calls[4]);
}

/// Makes each kind of call once, to notice a replacement that is not linked.
inline bool the_counters_count() {
  const long before[] = {allocations, locks, clock_reads, libraries};
  int* volatile kept = new int;  // volatile, since otherwise the compiler leaves both calls out
  delete kept;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  (void)dlopen(nullptr, RTLD_LAZY);
  if (allocations != before[0] && locks != before[1] && clock_reads != before[2] && libraries != before[3]) return true;
  std::printf("the counters do not count: %ld allocations, %ld locks, %ld clock reads, %ld libraries\n",
              allocations - before[0], locks - before[1], clock_reads - before[2], libraries - before[3]);
  return false;
}
