// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/records.hpp>

#include "unit/measure/process_support.hpp"
#include "unit/support.hpp"

#include <sys/resource.h>
#include <sys/wait.h>

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace rondo;
using namespace rondo::measure;

Result measured(double seconds) {
  Result r;
  r.seconds = {seconds, 2 * seconds};
  r.build_seconds = 0.5;
  r.run_seconds = 0.25;
  return r;
}
Result failed(Fault fault, const std::string& text) {
  Result r;
  r.fault = fault;
  r.text = text;
  return r;
}

}  // namespace

TEST_CASE("A record is one line, and reads back as it was") {
  Record r;
  static_cast<Measured&>(r) = {Fault::build, "line one\nline \"two\"\t\x01", {1e-9, 0.1}, {0.3}, 2.5};
  r.task = "matmul 256";
  r.key = "i8 j8";
  r.build_seconds = 1.0 / 3;
  r.at = 1.7e9;
  const std::string line = to_line(r);
  CHECK(line.find('\n') == line.size() - 1);
  const auto back = from_line(line);
  REQUIRE(back);
  CHECK(back->task == r.task);
  CHECK(back->key == r.key);
  CHECK(back->fault == r.fault);
  CHECK(back->text == r.text);
  CHECK(back->seconds == r.seconds);
  CHECK(back->device_seconds == r.device_seconds);
  CHECK(back->build_seconds == r.build_seconds);
  CHECK(back->run_seconds == r.run_seconds);
  CHECK(back->at == r.at);
}

TEST_CASE("Text that is no UTF-8 is written all the same") {
  Record r;
  r.text = "before \xff\xfe after";
  const auto back = from_line(to_line(r));
  REQUIRE(back);
  CHECK(test::says(back->text, "before ", " after"));
}

TEST_CASE("What is no record is refused, whatever it is") {
  const std::string line = to_line({});
  for (std::size_t size = 0; size + 2 < line.size(); ++size) CHECK(!from_line(line.substr(0, size)));
  CHECK(!from_line("[1, 2]"));
  CHECK(!from_line(R"({"task": "t", "key": 3, "fault": "none", "seconds": []})"));
  CHECK(!from_line(R"({"task": "t", "key": "k", "fault": "none", "seconds": ["x"]})"));
  CHECK(from_line(R"({"task": "t", "key": "k", "fault": "none", "seconds": [], "new": 1})"));
}

TEST_CASE("A log that is opened again knows what was measured, and what is to be measured again") {
  const test::Folder folder;
  {
    RecordLog log(folder / "log", "task");
    CHECK(!log.best());
    log.append("slow", measured(3));
    log.append("fast", measured(1));
    log.append("bad", failed(Fault::build, "no"));
    log.append("unlucky", failed(Fault::unknown, "killed"));
    log.append("late", failed(Fault::stopped, ""));
    CHECK(log.best()->key == "fast");
    RecordLog other(folder / "log", "another task");
    CHECK(other.records().empty());
    other.append("fast", measured(0.001));
  }
  RecordLog log(folder / "log", "task");
  CHECK(log.records().size() == 4);
  CHECK(log.unreadable() == 0);
  CHECK(log.best()->key == "fast");
  CHECK(log.best()->best() == 1);
  CHECK(log.is_settled("slow"));
  CHECK(log.is_settled("bad"));
  CHECK(!log.is_settled("unlucky"));
  CHECK(!log.is_settled("late"));
  CHECK(!log.is_settled("never seen"));
  log.append("unlucky", measured(0.5));
  CHECK(log.is_settled("unlucky"));
  CHECK(log.best()->key == "unlucky");
  CHECK(log.find("unlucky")->build_seconds == 0.5);
}

TEST_CASE("Nothing is appended to a line that another program left unfinished after the log was opened") {
  const test::Folder folder;
  const std::string path = folder / "log.jsonl";
  RecordLog log(path, "task");
  log.append("a", measured(1));
  std::ofstream(path, std::ios::app) << "{\"task\": \"ta";
  log.append("b", measured(2));
  const RecordLog again(path, "task");
  CHECK(again.is_settled("a"));
  CHECK(again.is_settled("b"));
  CHECK(again.unreadable() == 1);
}

TEST_CASE("A result that could not be read back is refused, and the log is as before") {
  const test::Folder folder;
  const std::string path = folder / "log.jsonl";
  RecordLog log(path, "task");
  log.append("a", measured(1));
  const std::string before = test::read_file(path);
  const auto refused = [&](RecordLog& by, const std::string& key, double seconds, const char* why) {
    try {
      by.append(key, measured(seconds));
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.code() == Errc::invalid_argument);
      CHECK(test::says(error.what(), path, why));
    }
  };
  refused(log, "key \xff", 1, "must be UTF-8");
  refused(log, "b", std::numeric_limits<double>::quiet_NaN(), "finite");
  refused(log, "b", std::numeric_limits<double>::infinity(), "finite");
  RecordLog other(path, "task \xff");
  refused(other, "b", 1, "must be UTF-8");
  CHECK(test::read_file(path) == before);
  CHECK(log.records().size() == 1);
  CHECK(!log.is_settled("b"));
}

TEST_CASE("The best is none as long as all fail") {
  const test::Folder folder;
  RecordLog log(folder / "log", "task");
  log.append("a", failed(Fault::run, ""));
  log.append("b", failed(Fault::run, ""));
  CHECK(!log.best());
  log.append("c", measured(9));
  log.append("d", failed(Fault::run, ""));
  CHECK(log.best()->key == "c");
}

TEST_CASE("A line that was cut short costs itself alone") {
  const test::Folder folder;
  for (const std::size_t cut : {1U, 10U, 40U}) {
    const std::string path = folder / ("log" + std::to_string(cut));
    {
      RecordLog log(path, "task");
      log.append("first", measured(1));
      log.append("second", measured(2));
    }
    const std::string text = test::read_file(path);
    std::ofstream{path, std::ios::binary} << text.substr(0, text.size() - cut);
    {
      RecordLog log(path, "task");
      CHECK(log.is_settled("first"));
      CHECK(log.is_settled("second") == (cut == 1));  // only its newline is missing
      log.append("third", measured(3));
    }
    RecordLog log(path, "task");
    CHECK(log.is_settled("first"));
    CHECK(log.is_settled("third"));
    CHECK(log.unreadable() == (cut == 1 ? 0 : 1));
  }
}

TEST_CASE("Threads append whole lines") {
  const test::Folder folder;
  {
    RecordLog log(folder / "log", "task");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&log, t] {
        for (int i = 0; i < 100; ++i) {
          log.append(std::to_string(100 * t + i), failed(Fault::build, std::string(static_cast<std::size_t>(i), 'x')));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const RecordLog log(folder / "log", "task");
  CHECK(log.records().size() == 400);
  CHECK(log.unreadable() == 0);
}

// Not a test: the program of the next one.
TEST_CASE("a program that appends until it is killed" * doctest::skip()) {
  RecordLog log(std::getenv("RONDO_TEST_LOG"), "task");
  for (int i = 0; i < 10'000; ++i) log.append(std::to_string(i), failed(Fault::build, std::string(5000, 'x')));
  for (;;) (void)::pause();  // it must not end by itself, nor fill the disk if nobody kills it
}

TEST_CASE("A program that is killed loses no measurement that it had noted") {
  const test::Folder folder;
  for (int round = 0; round < 5; ++round) {
    const std::string path = folder / std::to_string(round);
    const pid_t program = test::start_program("a program that appends until it is killed", {"RONDO_TEST_LOG=" + path});
    test::await([&] {
      std::error_code ignored;  // not there yet
      const auto size = std::filesystem::file_size(path, ignored);
      return !ignored && size > 100'000;
    });
    (void)::kill(program, SIGKILL);
    (void)::waitpid(program, nullptr, 0);
    const RecordLog log(path, "task");
    const std::vector<Record> records = log.records();
    CHECK(records.size() >= 19);
    for (std::size_t i = 0; i < records.size(); ++i) CHECK(records[i].key == std::to_string(i));
    CHECK(log.unreadable() <= 1);
  }
}

TEST_CASE("A log that cannot be written says so") {
  const auto raised = test::raised([] { RecordLog("/no/such/folder/log", "task"); });
  CHECK(raised.code == Errc::invalid_argument);
  CHECK(test::says(raised.text, "/no/such/folder/log"));
}

TEST_CASE("What a full disk cuts short is told, and costs itself alone") {
  const test::Folder folder;
  {
    RecordLog log(folder / "log", "task");
    log.append("first", measured(1));
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit little{std::filesystem::file_size(folder / "log") + 10, before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &little) == 0);
    const auto raised = test::raised([&] { log.append("second", measured(2)); });
    (void)::setrlimit(RLIMIT_FSIZE, &before);
    (void)std::signal(SIGXFSZ, handler);
    CHECK(raised.code == Errc::out_of_resources);
    CHECK(!log.is_settled("second"));
    log.append("third", measured(3));
  }
  const RecordLog log(folder / "log", "task");
  CHECK(log.is_settled("first"));
  CHECK(!log.is_settled("second"));
  CHECK(log.is_settled("third"));
  CHECK(log.unreadable() == 1);
}
