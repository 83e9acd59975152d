// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Counts what rounds ask of the C library and the kernel: allocations, locks, clock reads, new threads. Every one of
// these functions is replaced by one that counts and passes on; in a thousand rounds, on each engine and in each way of
// running a round, none may be called, by any thread.

#include <rondo/rondo.hpp>

#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

std::atomic<long> allocations, locks, clock_reads, threads;

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// operator new calls malloc, so malloc covers it; the C library's own entry points are what dlsym itself needs.
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
}

namespace {

using namespace rondo;

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
struct Sum {
  static constexpr std::string_view name = "sum";
  static constexpr auto core = CoreType::cube;
  static void run(In<float> x, InOut<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
  }
};

bool quiet = true;

template <class Round>
void expect_no_calls(const char* platform, const char* way, Round round) {
  bool ok = round();  // the first round may still load code
  const long before[] = {allocations, locks, clock_reads, threads};
  for (int i = 0; i < 1000; ++i) ok = round() && ok;
  const long after[] = {allocations, locks, clock_reads, threads};
  const long calls[] = {after[0] - before[0], after[1] - before[1], after[2] - before[2], after[3] - before[3]};
  quiet = quiet && ok && calls[0] + calls[1] + calls[2] + calls[3] == 0;
  std::printf("%-9s %-9s %s: %ld allocations, %ld locks, %ld clock reads, %ld threads in 1000 rounds\n", platform, way,
              ok ? "ok" : "FAILED", calls[0], calls[1], calls[2], calls[3]);
}

template <class P>
void check(const char* engine) {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  const auto y = graph.inout<float>("y", {64});
  const auto t = graph.workspace<float>("t", {64});
  graph.add<Twice>(x, t);
  graph.add<Sum>(t, y);
  auto session = open<P>(graph);
  std::vector<float> hx(64, 1.0F), hy(64);

  expect_no_calls(engine, "checked", [&] { return session.run_round(bind(x, hx), bind(y, hy)).ok(); });
  expect_no_calls(engine, "any order", [&] { return session.run_round(bind(y, hy), bind(x, hx)).ok(); });
  const auto binding = session.prebind(bind(x, hx), bind(y, hy));
  expect_no_calls(engine, "prebound", [&] { return session.run_round(binding).ok(); });
  expect_no_calls(engine, "stepwise",
                  [&] { return session.begin_round(bind(x, hx), bind(y, hy)).launch().finish().status().ok(); });
  expect_no_calls(engine, "refused", [&] { return session.run_round(bind(x, hx)).code() == Errc::unbound_tensor; });
}

}  // namespace

int main() {
  // The counters count: each kind of call is seen once, so that a replacement that is not linked in shows.
  const long before[] = {allocations, locks, clock_reads};
  delete new volatile int;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (allocations == before[0] || locks == before[1] || clock_reads == before[2]) {
    std::puts("the counters do not count");
    return 2;
  }
  check<A2A3SimOn<Inline>>("inline");
  check<A2A3SimOn<Pool>>("pool");
  check<A2A3SimOn<Model>>("model");
  check<A2A3SimOn<Checked<Pool>>>("checked");
  check<NullPlatform>("null");
  return quiet ? 0 : 1;
}
