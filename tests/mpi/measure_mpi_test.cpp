// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "mpi/patient.hpp"

#include <rondo/measure/callable.hpp>
#include <rondo/measure/local_runner.hpp>
#include <rondo/measure/program_measurer.hpp>
#include <rondo/measure/source_builder.hpp>
#include <rondo/mpi/measure.hpp>
#include <unit/measure/process_support.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace rondo::measure;
using namespace rondo::mpi;
using rondo::Errc;
namespace mpi = rondo::mpi;

constexpr int tuner = 0;

/// A folder that the tuner made and all ranks know.
class SharedFolder {
 public:
  explicit SharedFolder(const mpi::Group& group) {
    char text[256] = {};
    if (group.rank() == tuner) {
      folder_ = std::make_unique<rondo::test::Folder>();
      folder_->path().copy(text, sizeof text - 1);
    }
    MPI_Bcast(text, sizeof text, MPI_CHAR, tuner, group.comm());
    path_ = text;
  }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::unique_ptr<rondo::test::Folder> folder_;
  std::string path_;
};

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// Writes a file that is whole as soon as it is there.
void write_file(const std::string& path, const std::string& text) {
  std::ofstream{path + ".new"} << text;
  REQUIRE(::rename((path + ".new").c_str(), path.c_str()) == 0);
}

/// A candidate whose workload gets `argument`.
SourceCandidate candidate(const std::string& argument, int value = 0) {
  return {.source = "extern \"C\" int value() { return " + std::to_string(value) + "; }", .argument = argument};
}

SourceBuilder::Options plain_builds() { return {.workers = 1, .flags = {"-O0"}, .time_limit = 1e6}; }

}  // namespace

TEST_CASE("candidates are built and run on other ranks and each ends in one result") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  if (group.rank() != tuner) {
    CallableBuilder<std::int64_t, std::int64_t> builder(2, [](std::int64_t& n) {
      if (n % 7 == 0) throw Failure(Fault::build, "seven divides it");
      return 2 * n;
    });
    CallableRunner<std::int64_t> runner(1, [](std::int64_t& n) {
      if (n % 5 == 0) throw Failure(Fault::wrong_answer, "five divides it");
      return std::vector<double>{static_cast<double>(n), 1e9};
    });
    serve(group, builder, runner);
    return;
  }
  RankBuilder<std::int64_t, std::int64_t> builder(group, {.join_seconds = long_join});
  RankRunner<std::int64_t> runner(group, {.join_seconds = long_join});
  const auto others = static_cast<std::size_t>(group.size() - 1);
  CHECK(builder.capacity() == 3 * others);
  CHECK(runner.capacity() == 2 * others);
  ProgramMeasurer measurer(builder, runner);
  std::mutex mutex;
  std::vector<int> results(201);
  for (std::int64_t n = 1; n <= 200; ++n) {
    (void)measurer.submit(n, [&, n](const Result& r) {
      const std::lock_guard lock(mutex);
      ++results[static_cast<std::size_t>(n)];
      if (n % 7 == 0) {
        CHECK(r.fault == Fault::build);
        CHECK(r.text == "seven divides it");
      } else if (n % 5 == 0) {
        CHECK(r.fault == Fault::wrong_answer);
        CHECK(r.text == "five divides it");
      } else {
        CHECK(r.fault == Fault::none);
        CHECK(r.seconds == std::vector<double>{static_cast<double>(2 * n), 1e9});
      }
    });
  }
  measurer.wait();
  CHECK(std::count(results.begin(), results.end(), 1) == 200);
  CHECK(builder.reissues() == 0);
  std::uint64_t answered = 0;
  for (int r = 0; r < group.size(); ++r) answered += runner.answered_by(r);
  CHECK(answered == 172);
  CHECK(runner.answered_by(tuner) == 0);
  for (const int no_rank : {-1, group.size()}) CHECK(runner.answered_by(no_rank) == 0);
}

TEST_CASE("a rank has as many jobs as its workers can use and one more, and a slow one gets no others") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  const SharedFolder folder(group);
  const int slow = 1;
  if (group.rank() != tuner) {
    // Counts the jobs that it has; the slow rank answers none until it may, and has one more than it works at.
    struct Counting {
      using Artifact = std::int64_t;
      std::atomic<std::size_t> now = 0;
      std::atomic<std::size_t> most = 0;
      CallableRunner<std::int64_t> inner;
      explicit Counting(const std::function<void(Counting&)>& wait)
          : inner(1, [this, wait](std::int64_t&) {
              wait(*this);
              return std::vector<double>{1};
            }) {}
      void submit_run(std::int64_t n, OnMeasured on_measured) {
        most = std::max<std::size_t>(most, ++now);
        inner.submit_run(n, [this, on_measured](Measured m) {
          --now;
          on_measured(std::move(m));
        });
      }
      [[nodiscard]] std::size_t capacity() const { return inner.capacity(); }
    };
    bool has_waited = false;
    Counting runner([&](Counting& self) {
      if (group.rank() != slow || std::exchange(has_waited, true)) return;
      rondo::test::await([&] { return self.now == 2 && exists(folder / "go"); });
    });
    serve(group, runner);
    CHECK(runner.most <= 2);
    return;
  }
  RankRunner<std::int64_t> runner(group, {.join_seconds = long_join});
  const bool has_fast = group.size() > 2;
  std::atomic<std::uint64_t> done = 0;
  constexpr std::uint64_t all = 40;
  for (std::uint64_t n = 0; n < all; ++n) {
    runner.submit_run(static_cast<std::int64_t>(n), [&](Measured m) {
      CHECK(m.ok());
      ++done;
    });
  }
  // What the slow rank has taken is all that is missing: the other ranks have done the rest.
  if (has_fast) {
    rondo::test::await([&] { return done == all - 2; });
    CHECK(runner.answered_by(slow) == 0);
  }
  write_file(folder / "go", "");
  rondo::test::await([&] { return done == all; });
  CHECK(runner.answered_by(slow) >= 2);
}

TEST_CASE("compiled candidates travel, and a job whose worker was killed on a rank is given to a rank anew") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  const SharedFolder folder(group);
  if (group.rank() != tuner) {
    const auto workload = [&](Trial& trial) {
      const int value = trial.symbol<int()>("value")();
      if (trial.argument() == "killed" && !exists(folder / "killed")) {
        write_file(folder / "pid", std::to_string(::getpid()));
        for (;;) ::pause();
      }
      if (trial.argument() == "always killed") (void)::raise(SIGKILL);
      if (trial.argument() == "crashes") (void)::raise(SIGSEGV);
      trial.time_calls([&] {});
      trial.measured().seconds = {static_cast<double>(value)};
    };
    LocalRunner runner(workload, {.time_limit = 1e6});
    SourceBuilder builder(plain_builds());
    serve(group, builder, runner);
    return;
  }
  std::mutex mutex;
  std::vector<Reissue> told;
  RankBuilder<> builder(group, {.join_seconds = long_join});
  RankRunner<> runner(group, {.join_seconds = long_join, .attempts = 3, .on_reissue = [&](const Reissue& r) {
                                const std::lock_guard lock(mutex);
                                told.push_back(r);
                              }});
  ProgramMeasurer measurer(builder, runner);
  Result good, killed, always, crashes, refused;
  (void)measurer.submit(candidate("", 5), [&](const Result& r) { good = r; });
  (void)measurer.submit(candidate("killed", 6), [&](const Result& r) { killed = r; });
  (void)measurer.submit(candidate("crashes", 7), [&](const Result& r) { crashes = r; });
  (void)measurer.submit({.source = "this is no program"}, [&](const Result& r) { refused = r; });
  rondo::test::await([&] { return exists(folder / "pid"); });
  const int pid = std::stoi(rondo::test::read_file(folder / "pid"));
  write_file(folder / "killed", "");
  CHECK(::kill(pid, SIGKILL) == 0);
  measurer.wait();

  CHECK(good.fault == Fault::none);
  CHECK(good.seconds == std::vector<double>{5});
  CHECK(good.text.empty());
  CHECK(killed.fault == Fault::none);
  CHECK(killed.seconds == std::vector<double>{6});
  CHECK(killed.text.starts_with("another attempt, after rank "));
  CHECK(killed.text.find("the process was killed") != std::string::npos);
  CHECK(crashes.fault == Fault::run);  // its own doing: once is enough
  CHECK(refused.fault == Fault::build);
  CHECK(refused.text.find("error") != std::string::npos);
  CHECK(runner.reissues() == 1);
  rondo::test::await([&] {
    const std::lock_guard lock(mutex);
    return told.size() == 1;
  });
  CHECK(told[0].rank >= 1);
  CHECK(told[0].attempt == 1);
  CHECK(told[0].fault == Fault::unknown);

  (void)measurer.submit(candidate("always killed"), [&](const Result& r) { always = r; });
  measurer.wait();
  CHECK(always.fault == Fault::unknown);
  CHECK(always.text.starts_with("given up after 3 attempts: rank "));
  CHECK(runner.reissues() == 3);
}

TEST_CASE("a job that a rank could not finish goes to another rank even if that has less room") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() < 3) return;
  const SharedFolder folder(group);
  if (group.rank() != tuner) {
    CallableRunner<std::int64_t> runner(2, [&](std::int64_t& n) {
      if (n < 0) throw Failure(Fault::device, "out of order");
      rondo::test::await([&] { return exists(folder / "go"); });
      return std::vector<double>{1};
    });
    return serve(group, runner);
  }
  std::atomic<int> first_rank = 0;
  RankRunner<std::int64_t> runner(
      group, {.join_seconds = long_join, .attempts = 2, .on_reissue = [&](const Reissue& r) { first_rank = r.rank; }});
  // One for each rank but one, which so has most room; the job that fails goes there first.
  for (int r = 2; r < group.size(); ++r) runner.submit_run(1, [](const Measured& m) { CHECK(m.ok()); });
  std::atomic<bool> is_over = false;
  std::string text;
  runner.submit_run(-1, [&](const Measured& m) {
    CHECK(m.fault == Fault::device);
    text = m.text;
    is_over = true;
  });
  rondo::test::await([&] { return is_over.load(); });
  rondo::test::await([&] { return first_rank != 0; });
  const std::string first = "rank " + std::to_string(first_rank) + ": out of order; rank ";
  CHECK(text.starts_with("given up after 2 attempts: " + first));
  CHECK_FALSE(text.starts_with("given up after 2 attempts: " + first + std::to_string(first_rank) + ":"));
  write_file(folder / "go", "");
}

TEST_CASE("the next job goes to a rank with most room") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() < 3) return;
  const SharedFolder folder(group);
  if (group.rank() != tuner) {
    CallableRunner<std::int64_t> runner(2, [&](std::int64_t& n) {
      if (n == 0) rondo::test::await([&] { return exists(folder / "go"); });
      return std::vector<double>{1};
    });
    return serve(group, runner);
  }
  RankRunner<std::int64_t> runner(group, {.join_seconds = long_join});
  runner.submit_run(0, [](const Measured& m) { CHECK(m.ok()); });
  // The others have their turns, and then one of them again: rank 1 has a job, though room for more.
  for (std::uint64_t n = 1; n < static_cast<std::uint64_t>(group.size()); ++n) {
    std::atomic<bool> is_done = false;
    runner.submit_run(1, [&](const Measured&) { is_done = true; });
    rondo::test::await([&] { return is_done.load(); });
  }
  CHECK(runner.answered_by(1) == 0);
  write_file(folder / "go", "");
}

TEST_CASE("what was compiled here runs on other ranks, and what was compiled there runs here") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  const auto workload = [](Trial& trial) {
    const int value = trial.symbol<int()>("value")();
    trial.time_calls([] {});
    trial.measured().seconds = {static_cast<double>(value)};
  };
  SourceBuilder local_builder(plain_builds());
  LocalRunner local_runner(workload);
  if (group.rank() != tuner) {
    serve(group, local_runner);
    return serve(group, local_builder);
  }
  Result result;
  {
    RankRunner<> runner(group, {.join_seconds = long_join});
    ProgramMeasurer measurer(local_builder, runner, {.mode = Mode::Sync});
    (void)measurer.submit(candidate("", 8), [&](const Result& r) { result = r; });
    measurer.wait();
    CHECK(result.text.empty());
    CHECK(result.best() == 8);
  }
  RankBuilder<> builder(group, {.join_seconds = long_join});
  ProgramMeasurer measurer(builder, local_runner);
  (void)measurer.submit(candidate("", 9), [&](const Result& r) { result = r; });
  measurer.wait();
  CHECK(result.best() == 9);
  CHECK(local_builder.compilations() == 1);
}

TEST_CASE("a source that cannot be made is a fault of the candidate and never leaves the tuner") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  if (group.rank() != tuner) {
    SourceBuilder builder(plain_builds());
    return serve(group, builder);
  }
  RankBuilder<> builder(group, {.join_seconds = long_join});
  Built<SharedObject> built;
  builder.submit_build({.source = {}, .generate = []() -> std::string { throw std::runtime_error("no such tile"); }},
                       [&](Built<SharedObject> b) { built = std::move(b); });
  CHECK(built.fault == Fault::instantiation);
  CHECK(built.text == "no such tile");
  for (int r = 0; r < group.size(); ++r) CHECK(builder.answered_by(r) == 0);
}

TEST_CASE("what waits for a rank when the tuner stops is told so, and the ranks are let go") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  const SharedFolder folder(group);
  if (group.rank() != tuner) {
    CallableRunner<std::int64_t> runner(1, [&](std::int64_t&) {
      rondo::test::await([&] { return exists(folder / "go"); });
      return std::vector<double>{1};
    });
    return serve(group, runner);
  }
  std::atomic<int> measured = 0, stopped = 0, late = 0;
  {
    auto runner = std::make_unique<RankRunner<std::int64_t>>(group, RankOptions{.join_seconds = long_join});
    RankRunner<std::int64_t>* const again = runner.get();
    for (std::int64_t n = 0; n < 50; ++n) {
      runner->submit_run(n, [&, again](Measured m) {
        ++(m.fault == Fault::stopped ? stopped : measured);
        if (m.fault == Fault::stopped && late == 0) {
          ++late;
          again->submit_run(1, [&](Measured second) { late += second.fault == Fault::stopped ? 1 : 100; });
        }
        write_file(folder / "go", "");
      });
    }
    // Until the first is told, ranks are at work and the others wait.
    std::thread end([&] { runner.reset(); });
    end.join();
  }
  CHECK(measured + stopped == 50);
  CHECK(measured <= 2 * (group.size() - 1));
  CHECK(stopped > 0);
  CHECK(late == 2);
}

TEST_CASE("a job or an answer that is too large for MPI fails alone") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  struct Limit {
    std::size_t before = std::exchange(mpi::detail::Mailbox::most_bytes, 1000);
    ~Limit() { mpi::detail::Mailbox::most_bytes = before; }
  } const limit;
  if (group.rank() != tuner) {
    CallableRunner<std::string> runner(
        1, [](std::string& job) { return std::vector<double>(job == "many times" ? 500 : 1, 1.0); });
    serve(group, runner);
    return;
  }
  std::vector<Measured> results(4);
  std::atomic<int> done = 0;
  {
    RankRunner<std::string> runner(group, {.join_seconds = long_join});
    const std::string jobs[] = {"one", std::string(2000, 'x'), "many times", "another"};
    for (std::size_t i = 0; i < 4; ++i) {
      runner.submit_run(jobs[i], [&results, &done, i](Measured measured) {
        results[i] = std::move(measured);
        ++done;
      });
    }
    rondo::test::await([&] { return done == 4; });
  }
  CHECK(results[0].ok());
  CHECK(results[3].ok());
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    CHECK(results[i].fault == Fault::instantiation);
    CHECK(results[i].text.find("at most 1000 can be sent") != std::string::npos);
  }
}

TEST_CASE("a tuner without ranks, or with a rank that does not serve, is told which") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) {
    CHECK_THROWS_WITH_AS(RankBuilder<>{group},
                         "there is no other rank to measure on; start two or more, as by mpirun -n 2", rondo::Error);
    return;
  }
  const int absent = group.size() - 1;
  int token = 0;
  if (group.rank() == tuner) {
    const std::string text = "rank " + std::to_string(absent) +
                             " does not serve after 300 ms; call mpi::serve on every rank but the tuner's";
    try {
      RankRunner<std::int64_t> runner(group, {.join_seconds = 0.3});
      CHECK(false);
    } catch (const rondo::Error& e) {
      CHECK(e.code() == Errc::timed_out);
      CHECK(std::string{e.what()} == text);
    }
    MPI_Send(&token, 1, MPI_INT, absent, 0, MPI_COMM_WORLD);
  } else if (group.rank() == absent) {
    MPI_Recv(&token, 1, MPI_INT, tuner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    CallableRunner<std::int64_t> runner(1, [](std::int64_t&) { return std::vector<double>{1}; });
    serve(group, runner);  // returns: who came is let go
  }
}
