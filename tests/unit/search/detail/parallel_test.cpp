// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/search/detail/parallel.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <thread>

using rondo::search::detail::first_winner;

TEST_CASE("the winner of lowest index wins however slow it is") {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const std::size_t winner = first_winner(8, 3, [](std::size_t k, const std::atomic<bool>&) {
      if (k == 2) std::this_thread::sleep_for(std::chrono::milliseconds{2});
      return k >= 2;
    });
    REQUIRE(winner == 2);
  }
}

TEST_CASE("without a winner every task runs once and the count is returned") {
  std::atomic<int> runs{0};
  CHECK(first_winner(10, 2, [&](std::size_t, const std::atomic<bool>&) {
          ++runs;
          return false;
        }) == 10);
  CHECK(runs == 10);
  CHECK(first_winner(0, 2, [](std::size_t, const std::atomic<bool>&) { return true; }) == 0);
}

TEST_CASE("tasks after a winner are cancelled") {
  std::atomic<bool> second_runs{false};
  std::atomic<bool> told{false};
  const auto wait_for = [](const std::atomic<bool>& flag) {
    while (!flag) std::this_thread::yield();
    return true;
  };
  const std::size_t winner = first_winner(2, 2, [&](std::size_t k, const std::atomic<bool>& cancelled) {
    if (k == 0) return wait_for(second_runs);
    second_runs = true;
    told = wait_for(cancelled);
    return true;
  });
  CHECK(winner == 0);
  CHECK(told);
}

TEST_CASE("an exception of a task reaches the caller") {
  CHECK_THROWS_AS(first_winner(4, 2,
                               [](std::size_t k, const std::atomic<bool>&) -> bool {
                                 if (k == 1) throw std::runtime_error{"task"};
                                 return false;
                               }),
                  std::runtime_error);
}
