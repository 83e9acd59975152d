// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/sim/worker_team.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

using namespace rondo::platform::sim;

namespace {

/// Reads what the caller wrote for the epoch, and says that it has.
struct Readers {
  std::uint32_t written = 0;  ///< by the caller, before each epoch
  std::vector<std::uint32_t> read = std::vector<std::uint32_t>(4);
  std::atomic<std::uint32_t> done{0};
  std::atomic<std::uint32_t> wrong{0};

  void work(std::size_t worker, std::uint32_t epoch) noexcept {
    if (written != epoch || read[worker] + 1 != epoch) wrong.fetch_add(1, std::memory_order_relaxed);
    read[worker] = epoch;
    done.fetch_add(1, std::memory_order_release);
  }
};

}  // namespace

TEST_CASE("each thread of a team works once for each epoch, whether it spins, sleeps or is kept awake") {
  for (const unsigned spins : {0U, 20U, 1000U}) {
    CAPTURE(spins);
    Readers readers;
    TeamSleep sleep;
    WorkerTeam<Readers> team(3, readers, sleep, {.spins = {.between_rounds = spins}});
    const std::uint32_t epochs = 600;
    for (std::uint32_t epoch = 1; epoch <= epochs; ++epoch) {
      if (epoch % 100 == 0) sleep.is_kept_awake = epoch % 200 == 0;
      readers.written = epoch;
      team.start(epoch);
      while (readers.done.load(std::memory_order_acquire) != 3 * epoch) std::this_thread::yield();
    }
    CHECK(readers.wrong.load() == 0);
    CHECK(readers.read == std::vector<std::uint32_t>{0, epochs, epochs, epochs});
    if (spins == 0) CHECK(sleep.parks.load() > 0);
  }
}

TEST_CASE("a team ends at any moment: before its threads run, while they fall asleep, while they are kept awake") {
  struct Nothing {
    void work(std::size_t, std::uint32_t) noexcept {}
  } nothing;
  TeamSleep sleep;
  for (std::uint32_t i = 0; i < 100; ++i) {
    WorkerTeam<Nothing> team(2, nothing, sleep, {.spins = {.between_rounds = i % 7 * 30}});
    sleep.is_kept_awake = i % 3 == 0;
    for (std::uint32_t epoch = 1; epoch <= i % 4; ++epoch) team.start(epoch);
    if (i % 5 == 0) std::this_thread::yield();
  }
  CHECK(sleep.parks.load() <= 100 * 2 * 5);  // no thread parks more often than epochs change, and once before
}
