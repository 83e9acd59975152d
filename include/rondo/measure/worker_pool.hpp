// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace rondo::measure {

/// A fixed number of threads with one queue, first in, first out; used by builders and runners.
///
/// Lifetime: the threads live as long as the pool. The destructor lets them finish their current jobs, then passes the
/// jobs left in the queue to `drop`, on its own thread. It must not run on a thread of the pool. Thread safety:
/// submit() from any thread, including those of the pool. Cost of submit(): a lock, and a system call if a thread
/// sleeps.
template <class Job>
class WorkerPool {
 public:
  /// Runs a job as worker `worker`, counted from 0. Must not throw.
  using Work = std::function<void(Job, std::size_t worker)>;
  /// Receives a job that will not be run. Must not throw.
  using Drop = std::function<void(Job)>;

  /// @throws Error invalid_argument if there are no workers, out_of_resources if a thread cannot be started
  WorkerPool(std::size_t workers, Work work, Drop drop) : work_{std::move(work)}, drop_{std::move(drop)} {
    if (workers == 0)
      throw Error(Errc::invalid_argument,
                  Error::Text("a pool without workers never finishes a job; ask for at least one worker"));
    threads_.reserve(workers);
    try {
      for (std::size_t w = 0; w < workers; ++w) threads_.emplace_back([this, w] { serve(w); });
    } catch (const std::bad_alloc&) {
      join();
      throw;
    } catch (const std::system_error& e) {
      join();
      throw Error(Errc::out_of_resources, Error::Text{"thread ", threads_.size() + 1, " of ", workers,
                                                      " could not be started: ", e.what(), "; ask for fewer"});
    }
  }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool() {
    join();
    // A callback may submit another job, which is dropped as well.
    while (!queue_.empty()) {
      Job job = std::move(queue_.front());
      queue_.pop_front();
      drop_(std::move(job));
    }
  }

  [[nodiscard]] std::size_t workers() const noexcept { return threads_.size(); }

  /// Adds a job. During the destructor, it is still accepted, but dropped.
  void submit(Job job) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(job));
    awake_.notify_one();
  }

 private:
  void serve(std::size_t worker) noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      awake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      Job job = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      work_(std::move(job), worker);
      lock.lock();
    }
  }
  void join() noexcept {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      awake_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
  }

  Work work_;
  Drop drop_;
  std::mutex mutex_;
  std::condition_variable awake_;
  std::deque<Job> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace rondo::measure
