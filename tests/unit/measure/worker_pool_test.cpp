// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/worker_pool.hpp>

#include "unit/support.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace rondo;
using rondo::measure::WorkerPool;

TEST_CASE("Every job is done once or dropped once, on a fixed set of threads") {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::vector<int> times(1000);
  std::atomic<int> dropped = 0;
  {
    WorkerPool<std::unique_ptr<int>> pool(
        3,
        [&](std::unique_ptr<int> job, std::size_t worker) {
          CHECK(worker < 3);
          const std::lock_guard lock(mutex);
          threads.insert(std::this_thread::get_id());
          ++times[static_cast<std::size_t>(*job)];
        },
        [&](std::unique_ptr<int> job) {
          ++times[static_cast<std::size_t>(*job)];
          ++dropped;
        });
    CHECK(pool.workers() == 3);
    for (int n = 0; n < 1000; ++n) pool.submit(std::make_unique<int>(n));
  }
  for (const int n : times) CHECK(n == 1);
  CHECK(threads.size() <= 3);
}

TEST_CASE("A pool that is destroyed finishes what it is at and drops the rest") {
  int done = 0, dropped = 0;
  {
    std::unique_ptr<WorkerPool<int>> pool;
    std::mutex mutex;
    std::condition_variable changed;
    bool at_work = false, go = false;
    pool = std::make_unique<WorkerPool<int>>(
        1,
        [&](int, std::size_t) {
          std::unique_lock lock(mutex);
          at_work = true;
          changed.notify_all();
          changed.wait(lock, [&] { return go; });
          ++done;
        },
        [&](int) { ++dropped; });
    for (int n = 0; n < 5; ++n) pool->submit(n);
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return at_work; });
    std::thread releaser([&] {
      const std::lock_guard inner(mutex);
      go = true;
      changed.notify_all();
    });
    lock.unlock();
    pool.reset();
    releaser.join();
  }
  CHECK(done >= 1);
  CHECK(done + dropped == 5);
}

TEST_CASE("A pool of no worker is refused") {
  const auto raised = test::raised([] { WorkerPool<int>(0, [](int, std::size_t) {}, [](int) {}); });
  CHECK(raised.code == Errc::invalid_argument);
  CHECK(test::says(raised.text, "ask for at least one worker"));
}
