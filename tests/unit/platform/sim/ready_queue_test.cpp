// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/ready_queue.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

using rondo::platform::sim::ReadyQueue;

TEST_CASE("what goes in comes out in order, a full queue refuses, an empty one has nothing") {
  int values[4] = {0, 1, 2, 3};
  ReadyQueue<int> queue{4};
  for (int lap = 0; lap < 10; ++lap) {
    CHECK(queue.pop() == nullptr);
    for (int& value : values) CHECK(queue.push(&value));
    CHECK_FALSE(queue.push(&values[0]));
    for (int& value : values) CHECK(queue.pop() == &value);
  }
  CHECK(queue.popped() == 40);
  CHECK(queue.pushed() == 40);
}

TEST_CASE("with several threads on both sides each value comes out once") {
  constexpr int each = 20'000;
  std::vector<std::atomic<int>> seen(2 * each);
  std::vector<int> values(2 * each);
  ReadyQueue<int> queue{64};
  std::atomic<int> popped{0};
  std::vector<std::thread> threads;
  for (int side = 0; side < 2; ++side) {
    threads.emplace_back([&, side] {
      for (int i = side * each; i < (side + 1) * each; ++i) {
        values[static_cast<std::size_t>(i)] = i;
        while (!queue.push(&values[static_cast<std::size_t>(i)])) std::this_thread::yield();
      }
    });
    threads.emplace_back([&] {
      while (popped.load() < 2 * each) {
        if (int* const value = queue.pop(); value != nullptr) {
          ++seen[static_cast<std::size_t>(*value)];
          ++popped;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int wrong = 0;
  for (const auto& count : seen) wrong += count == 1 ? 0 : 1;
  CHECK(wrong == 0);
}
