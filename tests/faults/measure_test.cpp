// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Each allocation, thread, process, pipe, file and library of a measurer fails once: each candidate that was accepted
// gets one result, the results that say `none` are right, and nothing leaks, hangs or ends the program.

#include "faults/system_calls.hpp"
#include "folder.hpp"

#include <rondo/measure/callable.hpp>
#include <rondo/measure/local_runner.hpp>
#include <rondo/measure/program_measurer.hpp>
#include <rondo/measure/source_builder.hpp>

#include <doctest/doctest.h>

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

using namespace rondo;
using namespace rondo::measure;
using namespace rondo::test;

namespace {

constexpr int candidates = 2;  // each forks, which takes milliseconds under AddressSanitizer

/// Runs candidates from 0 on. The first is told to a callback, and the other is asked for.
/// Returns whether each has one result, and throws the text of the first fault, unless all were measured.
template <class B, class R, class Input>
bool measure_all(B& builder, R& runner, MeasurerOptions options, const Input& input, Fault expected = Fault::none) {
  int told[candidates] = {};
  Fault fault = Fault::none;
  Error::Text text;
  int accepted = 0;
  const auto note = [&](const Result& result) {
    ++told[result.ticket - 1];
    if (result.fault == expected && (expected != Fault::none || result.seconds.at(0) > 0)) return;
    if (result.fault == Fault::none || result.text.empty()) told[result.ticket - 1] = 100;  // is not right
    fault = result.fault;
    text = Error::Text(result.text.c_str());
  };
  {
    ProgramMeasurer<B, R> measurer(builder, runner, options);
    for (int c = 0; c < candidates; ++c) {
      try {
        if (c == 0) (void)measurer.submit(input(c), note);
        if (c != 0) (void)measurer.submit(input(c));
        ++accepted;
      } catch (const std::bad_alloc&) {
        text = Error::Text("out of memory");
        fault = Fault::unknown;
      }
    }
    for (const Result& result : measurer.results()) note(result);
    measurer.wait();
    const Tally tally = measurer.tally();
    if (tally.submitted != static_cast<std::uint64_t>(accepted) || tally.done() != tally.submitted) return false;
  }
  int results = 0;
  for (const int each : told) {
    if (each > 1) return false;
    results += each;
  }
  if (results != accepted) return false;
  if (fault != Fault::none) throw Error(Errc::out_of_resources, text);
  return true;
}

/// What callables measure in this process.
template <Mode mode>
bool measure_callables() {
  CallableBuilder<int, int> builder(2, [](const int& n) { return n + 1; });
  CallableRunner<int> runner(1, [](const int& n) { return std::vector<double>{static_cast<double>(n)}; });
  return measure_all(builder, runner, {.mode = mode, .batch = 1}, [](int c) { return c; });
}

/// The faults are the candidates' own: their compiler refuses each.
bool build_sources(const std::string& compiler, const std::string& folder) {
  SourceBuilder builder({.workers = 1, .compiler = compiler, .flags = {}, .time_limit = 1e6, .cache = folder});
  CallableRunner<SharedObject> runner(1, [](const SharedObject&) { return std::vector<double>{1}; });
  return measure_all(
      builder, runner, {}, [](int c) { return SourceCandidate{.source = std::to_string(c)}; }, Fault::build);
}

/// Processes that run candidates which are files of text.
bool run_in_processes(ArtifactStore& store, std::size_t candidates_per_process) {
  LocalRunner runner(
      [](Trial& trial) { trial.measured().seconds = {1}; },
      {.time_limit = 1e6, .repetition = {.repeat = 1}, .candidates_per_process = candidates_per_process});
  CallableBuilder<int, SharedObject> builder(1, [&](const int& n) { return store.put(std::to_string(n)); });
  return measure_all(builder, runner, {}, [](int c) { return c; });
}

}  // namespace

TEST_CASE("A temporary folder that cannot be made or locked is not left behind") {
  const Folder parent;
  ::setenv("TMPDIR", parent.path().c_str(), 1);
  const auto live = [] { return std::filesystem::exists(ArtifactStore().put("x").path()); };
  const auto is_told = [&](const Outcome& outcome) {
    CHECK(!outcome.told.empty());
    CHECK(parent.files() == 0);
  };
  CHECK(fail_each_use(SystemCall::open, {EMFILE}, live, is_told) >= 3);
  CHECK(fail_each_use(SystemCall::rename, {EACCES}, live, is_told) == 1);
  ::unsetenv("TMPDIR");
}

TEST_CASE("Each candidate of a measurer has one result although memory is short once") {
  CHECK(fail_each_use(SystemCall::allocate, {ENOMEM}, &measure_callables<Mode::Async>) > 10);
  CHECK(fail_each_use(SystemCall::allocate, {ENOMEM}, &measure_callables<Mode::Sync>) > 10);
}

TEST_CASE("A builder or a runner without a thread says so") {
  const auto is_told = [](const Outcome& outcome) {
    CHECK(outcome.told.find("could not be started") != std::string::npos);
  };
  CHECK(fail_each_use(SystemCall::thread, {EAGAIN}, &measure_callables<Mode::Async>, is_told) == 3);
}

TEST_CASE("Each call of a builder of sources fails once, and the reason is told") {
  const Folder folder;
  const std::string path = folder / "cache";
  const std::string compiler = folder / "refuses_all";
  std::ofstream{compiler} << "#!/bin/sh\n[ $1 = --version ] || { echo no; exit 1; }\n";
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  const auto live = [&] { return build_sources(compiler, path); };
  const auto is_told = [](const Outcome& outcome) { CHECK(!outcome.told.empty()); };
  const auto prepare = [&] { std::filesystem::remove_all(path); };
  for (const SystemCall call : {SystemCall::process, SystemCall::channel, SystemCall::write}) {
    CHECK(fail_each_use(call, {EAGAIN}, live, is_told, prepare) > 0);
  }
  CHECK(fail_each_use(SystemCall::open, {EMFILE}, live, [](const Outcome&) {}, prepare) > 0);
  CHECK(fail_each_use(SystemCall::allocate, {ENOMEM}, live, [](const Outcome&) {}, prepare) > 20);
}

TEST_CASE("Each call of a runner of processes fails once, and the reason is told") {
  // Made before: if memory is short, std::filesystem of g++ 12 ends the program when it opens a folder.
  ArtifactStore store;
  for (const std::size_t candidates_per_process : {std::size_t{1}, std::size_t{8}}) {
    const auto live = [&] { return run_in_processes(store, candidates_per_process); };
    const auto is_told = [](const Outcome& outcome) { CHECK(!outcome.told.empty()); };
    for (const SystemCall call : {SystemCall::process, SystemCall::channel, SystemCall::thread}) {
      CHECK(fail_each_use(call, {EAGAIN}, live, is_told) > 0);
    }
    if (candidates_per_process == 1) continue;
    CHECK(fail_each_use(SystemCall::open, {EMFILE}, live) > 0);
    CHECK(fail_each_use(SystemCall::allocate, {ENOMEM}, live) > 20);
  }
}

TEST_CASE("A candidate that cannot be loaded says why, and the process runs the next one") {
  // Any library does as a candidate: this one is the system's library of mathematics.
  Dl_info math{};
  REQUIRE(::dladdr(::dlsym(RTLD_DEFAULT, "cbrt"), &math) != 0);
  std::ifstream file{math.dli_fname, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  ArtifactStore store;
  const auto live = [&] {
    LocalRunner runner([](Trial& trial) { trial.measured().seconds = {trial.symbol<double(double)>("cbrt")(8.0)}; },
                       {.time_limit = 1e6, .candidates_per_process = 8});
    CallableBuilder<int, SharedObject> builder(1, [&](const int&) { return store.put(bytes); });
    return measure_all(builder, runner, {}, [](int c) { return c; });
  };
  const auto is_told = [](const Outcome& outcome) { CHECK(outcome.told.find("cannot open") != std::string::npos); };
  CHECK(fail_each_use(SystemCall::library, {0}, live, is_told) == candidates);
}
