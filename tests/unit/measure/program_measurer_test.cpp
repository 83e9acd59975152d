// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/callable.hpp>
#include <rondo/measure/program_measurer.hpp>

#include "unit/support.hpp"

#include <doctest/doctest.h>
#include <random.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <ranges>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace rondo;
using namespace rondo::measure;

/// A program is a number; what is below zero cannot be built, and what is odd fails when it runs.
using NumberBuilder = CallableBuilder<int, int>;
using NumberRunner = CallableRunner<int>;

int build_number(const int& n) {
  if (n < 0) throw std::runtime_error("below zero");
  return n;
}
std::vector<double> run_number(const int& n) {
  if (n % 2 != 0) throw std::runtime_error("odd");
  return {static_cast<double>(n), 2.0 * n};
}

/// A door that threads wait at until it is opened.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    arrived_.notify_all();
    opened_.wait(lock, [this] { return open_; });
  }
  void await(int count) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this, count] { return waiting_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_, arrived_;
  bool open_ = false;
  int waiting_ = 0;
};

/// Works within submit, on the caller's thread.
struct InlineBuilder {
  using Input = int;
  using Artifact = int;
  std::size_t room = 1;
  void submit_build(int input, OnBuilt<int> on_built) {
    if (input == 13) throw Failure(Fault::instantiation, "no such thing");
    Built<int> outcome;
    if (input != 14) outcome.artifact = input;
    on_built(std::move(outcome));
  }
  [[nodiscard]] std::size_t capacity() const { return room; }
};
struct InlineRunner {
  using Artifact = int;
  void submit_run(int artifact, OnMeasured on_measured) {
    if (artifact == 15) throw std::runtime_error("the runner is out of order");
    Measured outcome;
    if (artifact != 16) outcome.seconds = {static_cast<double>(artifact)};
    on_measured(std::move(outcome));
  }
  [[nodiscard]] std::size_t capacity() const { return 1; }
};
static_assert(check_builder<InlineBuilder>() && check_runner<InlineRunner>());

}  // namespace

TEST_CASE("Each candidate ends in one result, and a failed build is not run") {
  for (const Mode mode : {Mode::Async, Mode::Sync}) {
    std::atomic<int> runs = 0;
    NumberBuilder builder(2, build_number);
    NumberRunner runner(1, [&](int& n) {
      ++runs;
      CHECK(n >= 0);
      return run_number(n);
    });
    ProgramMeasurer measurer(builder, runner, {.mode = mode});
    std::mutex mutex;
    std::vector<Result> results;
    for (int n = -10; n < 10; ++n) {
      const auto ticket = measurer.submit(n, [&](const Result& r) {
        const std::lock_guard lock(mutex);
        results.push_back(r);
      });
      CHECK(ticket == static_cast<Ticket>(n + 11));
    }
    measurer.wait();
    REQUIRE(results.size() == 20);
    CHECK(runs == 10);
    std::vector<int> seen(20);
    for (const Result& r : results) {
      const int n = static_cast<int>(r.ticket) - 11;
      ++seen[r.ticket - 1];
      if (n < 0) {
        CHECK(r.fault == Fault::build);
        CHECK(r.text == "below zero");
      } else if (n % 2 != 0) {
        CHECK(r.fault == Fault::run);
        CHECK(r.text == "odd");
      } else {
        CHECK(r.ok());
        CHECK(r.best() == n);
      }
    }
    for (const int times : seen) CHECK(times == 1);
    const Tally tally = measurer.tally();
    CHECK(tally.submitted == 20);
    CHECK(tally.done() == 20);
    CHECK(tally.faults[static_cast<std::size_t>(Fault::build)] == 10);
  }
}

TEST_CASE("Results come as a range, those of candidates submitted meanwhile included") {
  NumberBuilder builder(2, build_number);
  NumberRunner runner(1, run_number);
  ProgramMeasurer measurer(builder, runner);
  static_assert(std::ranges::input_range<decltype(measurer.results())>);
  for (int n = 0; n < 10; ++n) measurer.submit(2 * n);
  std::uint64_t tickets = 0;
  int count = 0;
  for (const Result& r : measurer.results()) {
    tickets += r.ticket;
    if (++count == 5) measurer.submit(100);
  }
  CHECK(count == 11);
  CHECK(tickets == 66);
  CHECK(!measurer.next());
}

TEST_CASE("Asynchronous candidates run while others are built; in synchronous mode neither overlaps the other") {
  for (const Mode mode : {Mode::Async, Mode::Sync}) {
    std::atomic<int> building = 0, running = 0, overlaps = 0;
    Gate run_began;
    NumberBuilder builder(2, [&](int& n) {
      ++building;
      if (running != 0) ++overlaps;
      // Asynchronous: the last build and the first run wait for each other.
      if (mode == Mode::Async && n == 14) run_began.pass();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      --building;
      return n;
    });
    NumberRunner runner(2, [&](int& n) {
      ++running;
      if (mode == Mode::Async) run_began.await(1);
      if (building != 0) ++overlaps;
      run_began.open();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      --running;
      return run_number(n);
    });
    ProgramMeasurer measurer(builder, runner, {.mode = mode, .batch = 3});
    for (int n = 0; n < 8; ++n) measurer.submit(2 * n, [](const Result& r) { CHECK(r.ok()); });
    measurer.wait();
    CHECK(measurer.tally().faults[0] == 8);
    if (mode == Mode::Sync) CHECK(overlaps == 0);
    if (mode == Mode::Async) CHECK(overlaps != 0);
  }
}

TEST_CASE("A synchronous batch is what was submitted until somebody waits, and what callbacks submit is the next") {
  std::mutex mutex;
  std::string log;
  const auto note = [&](char c) {
    const std::lock_guard lock(mutex);
    log += c;
  };
  NumberBuilder builder(1, [&](int& n) {
    note('b');
    return n;
  });
  NumberRunner runner(1, [&](int& n) {
    note('r');
    return run_number(n);
  });
  ProgramMeasurer measurer(builder, runner, {.mode = Mode::Sync});
  for (int n = 0; n < 3; ++n) {
    measurer.submit(0, [&](const Result&) { measurer.submit(2, [](const Result&) {}); });
  }
  CHECK(log.empty());
  measurer.wait();
  CHECK(log == "bbbrrrbbbrrr");
}

TEST_CASE("A callback may submit more, and waiting waits for that too") {
  for (const Mode mode : {Mode::Async, Mode::Sync}) {
    NumberBuilder builder(2, build_number);
    NumberRunner runner(2, run_number);
    ProgramMeasurer measurer(builder, runner, {.mode = mode, .batch = 2});
    std::atomic<int> done = 0;
    std::function<void(int)> submit = [&](int left) {
      measurer.submit(left, [&, left](const Result&) {
        ++done;
        if (left > -5) {
          submit(left - 1);
          submit(left - 2);
        }
      });
    };
    submit(6);
    measurer.wait();
    CHECK(done == static_cast<int>(measurer.tally().submitted));
    CHECK(done > 100);
  }
}

TEST_CASE("A callback that throws is counted, and waiting says what it threw") {
  NumberBuilder builder(2, build_number);
  NumberRunner runner(1, run_number);
  ProgramMeasurer measurer(builder, runner);
  for (int n = -2; n < 4; ++n) {
    measurer.submit(n, [n](const Result&) {
      if (n == -2 || n == 2) throw std::runtime_error("from a callback");
    });
  }
  CHECK_THROWS_WITH_AS(measurer.wait(), "from a callback", std::runtime_error);
  CHECK(measurer.tally().done() == 6);
  measurer.submit(0, [](const Result&) {});
  CHECK_NOTHROW(measurer.wait());
}

TEST_CASE("A callback cannot wait for its own measurer") {
  NumberBuilder builder(1, build_number);
  NumberRunner runner(1, run_number);
  ProgramMeasurer measurer(builder, runner);
  test::Raised waited, asked;
  measurer.submit(0, [&](const Result&) {
    waited = test::raised([&] { measurer.wait(); });
    asked = test::raised([&] { (void)measurer.next(); });
  });
  measurer.wait();
  CHECK(waited.code == Errc::busy);
  CHECK(asked.code == Errc::busy);
}

TEST_CASE("Stopped while busy, what is under way is finished and the rest ends as stopped") {
  for (const Mode mode : {Mode::Async, Mode::Sync}) {
    Gate gate;
    std::atomic<int> built = 0, run = 0;
    NumberBuilder builder(2, [&](int& n) {
      ++built;
      if (n < 4) gate.pass();
      return n;
    });
    NumberRunner runner(1, [&](int& n) {
      ++run;
      return run_number(n);
    });
    ProgramMeasurer measurer(builder, runner, {.mode = mode, .batch = 100});
    std::atomic<int> stopped = 0;
    for (int n = 0; n < 100; ++n) {
      measurer.submit(2 * n, [&](const Result& r) {
        CHECK(r.fault == Fault::stopped);
        CHECK(r.text == describe(Fault::stopped));
        ++stopped;
        CHECK(!measurer.submit(0));
        measurer.stop();
      });
    }
    gate.await(2);
    measurer.stop();
    CHECK(stopped >= 97);  // all but what the builder has: two at work and one at hand
    CHECK(measurer.stopped());
    gate.open();
    measurer.wait();
    CHECK(stopped == 100);
    CHECK(built <= 3);
    CHECK(run == 0);
  }
}

TEST_CASE("Callbacks that stop at each fault recurse no deeper with more candidates, also if they stop two measurers") {
  Gate gate;
  NumberBuilder builder(1, [&](int& n) {
    gate.pass();
    return n;
  });
  NumberRunner runner(1, run_number);
  ProgramMeasurer first(builder, runner), second(builder, runner);
  int depth = 0, deepest = 0, stopped = 0;
  std::mutex mutex;
  const auto stop_both = [&](const Result& r) {
    CHECK(r.fault == Fault::stopped);
    {
      const std::lock_guard lock(mutex);
      deepest = std::max(deepest, ++depth);
    }
    first.stop();
    second.stop();
    const std::lock_guard lock(mutex);
    --depth;
    ++stopped;
  };
  for (int n = 0; n < 100; ++n) {
    first.submit(0, stop_both);
    second.submit(0, stop_both);
  }
  first.stop();
  CHECK(stopped >= 195);  // all but what the builder has
  CHECK(deepest <= 4);
  gate.open();
  first.wait();
  second.wait();
  CHECK(stopped == 200);
}

TEST_CASE("Measurer, builder and runner may be destroyed before first use") {
  for (int i = 0; i < 50; ++i) {
    NumberBuilder builder(2, build_number);
    NumberRunner runner(2, run_number);
    ProgramMeasurer measurer(builder, runner, {.mode = i % 2 == 0 ? Mode::Async : Mode::Sync});
  }
}

TEST_CASE("A measurer destroyed while busy calls each callback once, before it is gone") {
  for (int i = 0; i < 50; ++i) {
    std::atomic<int> calls = 0;
    NumberBuilder builder(2, build_number);
    NumberRunner runner(2, run_number);
    {
      ProgramMeasurer measurer(builder, runner, {.mode = i % 2 == 0 ? Mode::Async : Mode::Sync});
      for (int n = 0; n < 20; ++n) measurer.submit(n, [&](const Result&) { ++calls; });
    }
    CHECK(calls == 20);
  }
}

TEST_CASE("One builder and one runner serve several measurers at once") {
  NumberBuilder builder(2, build_number);
  NumberRunner runner(1, run_number);
  ProgramMeasurer first(builder, runner);
  ProgramMeasurer second(builder, runner, {.mode = Mode::Sync, .batch = 4});
  for (int n = 0; n < 50; ++n) {
    first.submit(2 * n, [](const Result& r) { CHECK(r.ok()); });
    second.submit(-1, [](const Result& r) { CHECK(r.fault == Fault::build); });
  }
  first.wait();
  second.wait();
  CHECK(first.tally().faults[0] == 50);
  CHECK(second.tally().done() == 50);
}

TEST_CASE("Builders and runners that work within submit recurse no deeper with more candidates") {
  for (const Mode mode : {Mode::Async, Mode::Sync}) {
    InlineBuilder builder;
    InlineRunner runner;
    ProgramMeasurer measurer(builder, runner, {.mode = mode, .batch = 7});
    int left = 100'000;  // one call each would need more than the stack
    std::function<void(const Result&)> again = [&](const Result& r) {
      CHECK(r.ok());
      if (--left > 0) measurer.submit(left % 10, again);
    };
    measurer.submit(1, again);
    measurer.wait();
    CHECK(left == 0);
  }
}

TEST_CASE("What submit throws, and success without an artifact or a time, are faults of the candidate") {
  InlineBuilder builder;
  InlineRunner runner;
  ProgramMeasurer measurer(builder, runner);
  for (const int n : {12, 13, 14, 15, 16}) measurer.submit(n);
  std::vector<Fault> faults(6);
  std::vector<std::string> texts(6);
  for (const Result& r : measurer.results()) {
    faults[r.ticket] = r.fault;
    texts[r.ticket] = r.text;
  }
  CHECK(faults ==
        std::vector{Fault::none, Fault::none, Fault::instantiation, Fault::unknown, Fault::unknown, Fault::unknown});
  CHECK(texts[2] == "no such thing");
  CHECK(test::says(texts[3], "no artifact"));
  CHECK(texts[4] == "the runner is out of order");
  CHECK(test::says(texts[5], "no time"));
}

TEST_CASE("A flood of faults is counted, and ends the search only if asked") {
  NumberBuilder builder(1, build_number);
  NumberRunner runner(1, run_number);
  {
    ProgramMeasurer measurer(builder, runner);
    for (int n = 0; n < 50; ++n) measurer.submit(-1, [](const Result&) {});
    measurer.wait();
    CHECK(measurer.tally().in_a_row == 50);
    measurer.submit(0, [](const Result&) {});
    measurer.wait();
    CHECK(measurer.tally().in_a_row == 0);
    for (int n = 0; n < 49; ++n) measurer.submit(-1, [](const Result&) {});
    measurer.wait();
    CHECK(measurer.tally().faults[static_cast<std::size_t>(Fault::build)] == 99);
    CHECK(measurer.tally().in_a_row == 49);
    CHECK(!measurer.stopped());
  }
  ProgramMeasurer measurer(builder, runner, {.stop_after_faults = 10});
  for (int n = 0; n < 100; ++n) measurer.submit(-1, [](const Result&) {});
  measurer.wait();
  CHECK(measurer.stopped());
  CHECK(measurer.tally().done() == measurer.tally().submitted);
  CHECK(measurer.tally().faults[static_cast<std::size_t>(Fault::build)] >= 10);
  CHECK(measurer.tally().faults[static_cast<std::size_t>(Fault::build)] <= 13);
}

TEST_CASE("What a callback holds is released before its candidate counts as done") {
  NumberBuilder builder(1, build_number);
  NumberRunner runner(1, run_number);
  ProgramMeasurer measurer(builder, runner);
  const auto token = std::make_shared<int>(1);
  for (int n = 0; n < 20; ++n) measurer.submit(n, [token](const Result&) {});
  measurer.wait();
  CHECK(token.use_count() == 1);
}

TEST_CASE("A thousand random schedules: every candidate ends exactly once, whoever is fast or slow") {
  auto random = rondo::test::make_random(20261120);
  const auto below = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
  for (int schedule = 0; schedule < 1000; ++schedule) {
    const unsigned seed = static_cast<unsigned>(random());
    const auto pause = [seed](int n, unsigned salt) {
      switch ((static_cast<unsigned>(n) * 2654435761U + seed + salt) >> 29) {
        case 0: std::this_thread::yield(); break;
        case 1: std::this_thread::sleep_for(std::chrono::microseconds(30)); break;
        default: break;
      }
    };
    NumberBuilder builder(1 + below(3), [&](int& n) {
      pause(n, 1);
      return build_number(n);
    });
    NumberRunner runner(1 + below(2), [&](int& n) {
      pause(n, 2);
      return run_number(n);
    });
    const int count = static_cast<int>(below(24));
    const bool streamed = below(3) == 0;
    const int stop_at = below(4) == 0 ? static_cast<int>(below(24)) : -1;
    std::vector<std::atomic<int>> ended(100);
    std::atomic<int> extra = 0, calls = 0, refused = 0;
    const MeasurerOptions options{below(2) == 0 ? Mode::Async : Mode::Sync, below(4), 0};
    int streamed_results = 0;
    const bool waits = below(2) == 0;  // else the destructor does, and stops first
    {
      ProgramMeasurer measurer(builder, runner, options);
      const auto on_result = [&](const Result& r) {
        ++ended[r.ticket];
        pause(static_cast<int>(r.ticket), 3);
        if (++calls == stop_at) measurer.stop();
        if (r.ticket % 5 == 0 && extra.fetch_add(1) < 4) {
          if (!measurer.submit(2, [&](const Result& more) {
                ++ended[more.ticket];
                ++calls;
              })) {
            ++refused;
          }
        }
      };
      for (int n = 0; n < count; ++n) {
        const bool accepted =
            streamed && n % 2 == 0 ? measurer.submit(n - 4).has_value() : measurer.submit(n - 4, on_result).has_value();
        if (!accepted) ++refused;
      }
      if (streamed) {
        for (const Result& r : measurer.results()) {
          ++ended[r.ticket];
          ++streamed_results;
        }
      }
      if (waits) {
        measurer.wait();
        CHECK(measurer.tally().done() == measurer.tally().submitted);
      }
    }
    int total = 0;
    for (const auto& times : ended) {
      REQUIRE(times <= 1);
      total += times;
    }
    REQUIRE(total >= calls + streamed_results);
    if (stop_at < 0) REQUIRE(total >= (streamed && !waits ? streamed_results : count));
    if (stop_at < 0 && waits) REQUIRE(refused == 0);
    if (waits || !streamed) REQUIRE(total == calls + streamed_results);
  }
}
