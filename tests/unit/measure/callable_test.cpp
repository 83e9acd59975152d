// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/callable.hpp>

#include <doctest/doctest.h>

#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace rondo::measure;

TEST_CASE("A callable builder hands over what its function returns, which may be movable only") {
  CallableBuilder<int, std::unique_ptr<int>> builder(1, [](int& n) { return std::make_unique<int>(n + 1); });
  std::promise<Built<std::unique_ptr<int>>> promise;
  builder.submit_build(41, [&](Built<std::unique_ptr<int>> b) { promise.set_value(std::move(b)); });
  const auto built = promise.get_future().get();
  CHECK(built.fault == Fault::none);
  REQUIRE(built.artifact);
  CHECK(**built.artifact == 42);
  CHECK(built.seconds >= 0);
}

TEST_CASE("An exception in a worker is the candidate's fault, and the worker goes on") {
  CallableBuilder<int, int> builder(1, [](int& n) -> int {
    if (n == 0) throw std::runtime_error("no");
    if (n == 1) throw 7;
    if (n == 2) throw Failure(Fault::build_timeout, "late");
    return n;
  });
  std::vector<Fault> faults;
  std::promise<void> last;
  for (int n = 0; n < 4; ++n) {
    builder.submit_build(n, [&, n](Built<int> b) {
      faults.push_back(b.fault);
      if (n == 3) last.set_value();
      throw std::runtime_error("a callback must not, but may not end the worker either");
    });
  }
  last.get_future().get();
  CHECK(faults == std::vector{Fault::build, Fault::build, Fault::build_timeout, Fault::none});
}

TEST_CASE("The artifact is gone when the runner calls back") {
  CallableRunner<std::shared_ptr<int>> runner(1, [](std::shared_ptr<int>& p) { return std::vector{double(*p)}; });
  auto artifact = std::make_shared<int>(5);
  const std::weak_ptr<int> seen = artifact;
  std::promise<bool> gone;
  runner.submit_run(std::move(artifact), [&](Measured m) {
    CHECK(m.seconds == std::vector{5.0});
    gone.set_value(seen.expired());
  });
  CHECK(gone.get_future().get());
}

namespace {
using IntBuilder = CallableBuilder<int, int>;
using IntRunner = CallableRunner<int>;

/// The faults of three candidates of a builder or runner that is destroyed while it has the first one, which ends
/// `pause` later.
template <class Pool>
std::vector<Fault> destroy_while_busy(std::chrono::milliseconds pause) {
  constexpr bool builds = std::is_same_v<Pool, IntBuilder>;
  std::vector<Fault> faults;
  std::mutex mutex;
  std::promise<void> began, go;
  auto going = go.get_future().share();
  std::thread opener;
  {
    Pool pool(1, [&](int& n) {
      if (n == 0) began.set_value();
      going.wait();
      if constexpr (builds) {
        return n;
      } else {
        return std::vector<double>{1};
      }
    });
    for (int n = 0; n < 3; ++n) {
      const auto note = [&](const auto& outcome) {
        const std::lock_guard lock(mutex);
        faults.push_back(outcome.fault);
      };
      if constexpr (builds) {
        pool.submit_build(n, note);
      } else {
        pool.submit_run(n, note);
      }
    }
    began.get_future().get();
    opener = std::thread([&] {
      std::this_thread::sleep_for(pause);
      go.set_value();
    });
  }
  opener.join();
  return faults;
}
}  // namespace

TEST_CASE_TEMPLATE("What is left when builder or runner is destroyed ends as stopped", Pool, IntBuilder, IntRunner) {
  std::vector<Fault> faults;
  // If the destructor begins too late, all have their turn: then there is more time for it.
  for (int ms = 20; faults.empty() || faults[2] != Fault::stopped; ms *= 2) {
    faults = destroy_while_busy<Pool>(std::chrono::milliseconds(ms));
    REQUIRE(faults.size() == 3);
    CHECK(faults[0] == Fault::none);
  }
}
