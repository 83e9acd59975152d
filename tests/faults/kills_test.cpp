// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// A tuner is killed at random moments and started again until it ends: each candidate is settled once, and is measured
// again only if it was under way when the tuner was killed.

#include "folder.hpp"
#include "unit/measure/process_support.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <random.hpp>
#include <rondo/measure/callable.hpp>
#include <rondo/measure/program_measurer.hpp>
#include <rondo/measure/records.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace rondo::measure;
using namespace rondo::test;

namespace {

constexpr int kills = 10;
constexpr int candidates = 400;

/// Appends a line with one write, so that a kill leaves all of it or nothing.
void append_line(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const std::string line = text + '\n';
  REQUIRE(::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  (void)::close(file);
}
[[nodiscard]] std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream in{read_file(path)};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

// Not a test: the program of the next one. In its folder are the log; `begun`, the candidates in the order in which
// they were measured; and `noted`, those that the log had accepted.
TEST_CASE("a tuner that may be killed" * doctest::skip()) {
  const std::string folder = std::getenv("RONDO_TEST_FOLDER");
  RecordLog log(folder + "/log", "task");
  CallableBuilder<int, int> builder(2, [](const int& n) { return n; });
  CallableRunner<int> runner(1, [&](const int& n) {
    append_line(folder + "/begun", std::to_string(n));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::vector<double>{1.0 + n};
  });
  {
    ProgramMeasurer measurer(builder, runner);
    for (int n = 0; n < candidates; ++n) {
      const std::string key = std::to_string(n);
      if (log.is_settled(key)) continue;
      (void)measurer.submit(n, [&, key](const Result& result) {
        log.append(key, result);
        append_line(folder + "/noted", key);
      });
    }
    measurer.wait();
  }
  while (std::getenv("RONDO_TEST_IS_LAST") == nullptr) (void)::pause();  // it is to be killed
}

TEST_CASE("A tuner that is killed at random moments measures each candidate, and again only what was under way") {
  auto random = make_random(1);
  const Folder folder;
  const std::string path = folder / "log";
  const std::vector<std::string> environment{"RONDO_TEST_FOLDER=" + folder.path()};
  for (int kill = 0; kill < kills; ++kill) {
    const std::size_t wanted = lines_of(path).size() + random() % 40;
    const pid_t tuner = start_program("a tuner that may be killed", environment);
    await([&] { return lines_of(path).size() >= wanted || lines_of(path).size() >= candidates; });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    REQUIRE(::kill(tuner, SIGKILL) == 0);
    int status = 0;
    REQUIRE(::waitpid(tuner, &status, 0) == tuner);
    CHECK(WIFSIGNALED(status));
    const RecordLog log(path, "task");
    for (const std::string& key : lines_of(folder / "noted")) CHECK(log.is_settled(key));
  }
  std::vector<std::string> last = environment;
  last.emplace_back("RONDO_TEST_IS_LAST=1");
  int status = 0;
  REQUIRE(::waitpid(start_program("a tuner that may be killed", last), &status, 0) > 0);
  CHECK(status == 0);

  std::map<std::string, int> settled;
  const RecordLog log(path, "task");
  for (const Record& record : log.records()) {
    ++settled[record.key];
    CHECK(record.seconds == std::vector<double>{1.0 + std::stoi(record.key)});
  }
  CHECK(settled.size() == candidates);
  for (const auto& [key, times] : settled) CHECK_MESSAGE(times == 1, key);
  CHECK(log.unreadable() <= kills);
  const std::size_t begun = lines_of(folder / "begun").size();
  CHECK(begun >= candidates);
  CHECK(begun <= candidates + kills);  // one at a time is under way
}
