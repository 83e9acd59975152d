// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace rondo::search::detail {

/// Runs task(index, cancelled) for the indices 0 to count - 1 on up to `threads` threads, including the caller's.
///
/// A task that returns true is a winner: tasks with a higher index are cancelled or not started; those with a lower
/// index run to their end, since one of them may also win. So the winner with the lowest index does not depend on the
/// timing of threads; its index is returned, or `count` if there is none. An exception from a task is rethrown on the
/// caller's thread.
template <class Task>
std::size_t first_winner(std::size_t count, unsigned threads, Task task) {
  std::vector<std::atomic<bool>> cancelled(count);
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> winner{count};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto cancel_from = [&](std::size_t first) {
    for (std::size_t k = first; k < count; ++k) cancelled[k].store(true, std::memory_order_relaxed);
  };
  const auto work = [&] {
    for (;;) {
      const std::size_t index = next.fetch_add(1);
      if (index >= count || index > winner.load()) return;
      try {
        if (!task(index, cancelled[index])) continue;
      } catch (...) {
        const std::lock_guard lock{mutex};
        if (!failure) failure = std::current_exception();
        cancel_from(0);
        next.store(count);
        return;
      }
      std::size_t best = winner.load();
      while (index < best && !winner.compare_exchange_weak(best, index)) {
      }
      cancel_from(index + 1);
    }
  };
  const std::size_t helpers = std::min<std::size_t>(threads == 0 ? 0 : threads - 1, count == 0 ? 0 : count - 1);
  std::vector<std::thread> team;
  team.reserve(helpers);
  try {
    for (std::size_t t = 0; t < helpers; ++t) team.emplace_back(work);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // No more threads can be started: the existing ones do the work.
  }
  work();
  for (std::thread& t : team) t.join();
  if (failure) std::rethrow_exception(failure);
  return winner.load();
}

}  // namespace rondo::search::detail
