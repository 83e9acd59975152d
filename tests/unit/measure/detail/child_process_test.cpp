// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/detail/child_process.hpp>

#include "unit/measure/process_support.hpp"
#include "unit/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

using namespace rondo;
using rondo::measure::detail::ChildOutcome;
using rondo::measure::detail::run_child;

namespace {

ChildOutcome shell(const std::string& script, double seconds = 1e6, std::size_t room = 4096) {
  return run_child({"sh", "-c", script}, {seconds, room});
}

}  // namespace

TEST_CASE("A child's output and status are what it wrote and how it ended") {
  const ChildOutcome good = shell("echo out; echo err >&2");
  CHECK(good.ok());
  CHECK(good.output == "out\nerr\n");
  const ChildOutcome bad = shell("echo why; exit 3");
  CHECK(!bad.ok());
  CHECK(WEXITSTATUS(bad.status) == 3);
  CHECK(bad.output == "why\n");
  const ChildOutcome killed = shell("kill -SEGV $$");
  CHECK(!killed.ok());
  CHECK(WTERMSIG(killed.status) == SIGSEGV);
}

TEST_CASE("It is an error that the system does not keep how a child ended") {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  CHECK_THROWS_WITH_AS((void)shell("exit 3"), doctest::Contains("this program ignores SIGCHLD"), Error);
  CHECK(run_child({"/no/such/program"}, {}).start_error == ENOENT);
  (void)std::signal(SIGCHLD, before);
}

TEST_CASE("A program that does not exist says so") {
  const ChildOutcome outcome = run_child({"/no/such/program"}, {});
  CHECK(!outcome.ok());
  CHECK(outcome.start_error == ENOENT);
}

TEST_CASE("A child that hangs is killed at its limit, and its children with it") {
  const test::Folder folder;
  ChildOutcome outcome;
  for (double limit = 1; outcome.output.empty(); limit *= 2) {  // on a busy machine it starts late
    outcome = shell("sleep 1000 & echo $! > " + folder / "pid" + "; echo started; wait", limit);
    CHECK(outcome.timed_out);
  }
  CHECK(!outcome.ok());
  CHECK(outcome.output == "started\n");
  const long pid = std::stol(test::read_file(folder / "pid"));
  test::await([&] { return !test::is_alive(pid); });
}

TEST_CASE("A grandchild that holds the output open keeps nobody waiting, and dies with the child") {
  const test::Folder folder;
  const ChildOutcome outcome = shell("sleep 1000 & echo $! > " + folder / "pid" + "; echo done");
  CHECK(outcome.ok());  // before its limit
  CHECK(outcome.output == "done\n");
  const long pid = std::stol(test::read_file(folder / "pid"));
  test::await([&] { return !test::is_alive(pid); });
}

TEST_CASE("A child may use all cores until its limit") {
  const ChildOutcome outcome = shell("ulimit -t", 100);
  REQUIRE(outcome.ok());
  CHECK(std::stoul(outcome.output) >= 100UL * std::max(1U, std::thread::hardware_concurrency()));
}

TEST_CASE("A flood of output is read to its end, and little of it kept") {
  const ChildOutcome outcome = shell("head -c 20000000 /dev/zero | tr '\\0' x; echo; exit 5", 1e6, 100);
  CHECK(WEXITSTATUS(outcome.status) == 5);
  CHECK(outcome.output == std::string(100, 'x') + "... (and 19999901 bytes more)");
}

TEST_CASE("A flood without end ends at the limit") {
  ChildOutcome outcome;
  for (double limit = 0.5; outcome.output.size() < 11; limit *= 2) {  // on a busy machine it starts late
    outcome = shell("exec yes", limit, 10);
    CHECK(outcome.timed_out);
  }
  CHECK(outcome.output.starts_with("y\ny\ny\ny\ny\n..."));
}

TEST_CASE("Many threads run children at once") {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 5; ++i) {
        const std::string word = std::to_string(100 * t + i);
        CHECK(shell("echo " + word).output == word + "\n");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
