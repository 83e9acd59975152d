// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Each use of a file fails once, with each error that the system may give. What is written is there as a whole, or the
// older file still is; the error names the file and the system's reason; nothing else is left in the folder.

#include "conformance/kernels.hpp"
#include "faults/system_calls.hpp"
#include "folder.hpp"

#include <rondo/measure/artifact.hpp>
#include <rondo/measure/records.hpp>
#include <rondo/observe/dump.hpp>
#include <rondo/observe/npy.hpp>
#include <rondo/observe/replay.hpp>
#include <rondo/observe/trace.hpp>
#include <rondo/observe/trace_json.hpp>
#include <rondo/platform/file.hpp>
#include <rondo/platform/streams/cost_file.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

using Floats = std::vector<float>;

std::string contents(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}
void put(const std::string& path, std::string_view text) { std::ofstream{path, std::ios::binary} << text; }

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// `write(path)` writes a file. `clause` is in the texts of its errors. The library of JSON ends the program if it gets
/// no memory while it releases a value, so allocations do not fail there.
void check_writing(const std::string& clause, const std::function<void(const std::string&)>& write,
                   bool writes_json = false) {
  CAPTURE(clause);
  const Folder folder;
  const std::string path = folder / "file";
  write(path);
  const std::string whole = contents(path);
  const auto live = [&] { return write(path), true; };
  const auto prepare = [&] { put(path, "older"); };
  const auto is_there = [&](const Outcome& outcome) {
    CHECK(contents(path) == (outcome.told.empty() ? whole : "older"));
    CHECK(folder.files() == 1);
  };
  const auto is_told = [&](const Outcome& outcome) {
    is_there(outcome);
    const int error = outcome.error == 0 ? ENOSPC : outcome.error;
    CHECK(has(outcome.told, path));
    CHECK(has(outcome.told, clause));
    CHECK(has(outcome.told, std::strerror(error)));
  };
  CHECK(fail_each_use(SystemCall::open, {EMFILE, EACCES}, live, is_told, prepare) > 0);
  CHECK(fail_each_use(SystemCall::write, {ENOSPC, EIO, 0}, live, is_told, prepare) > 0);
  CHECK(fail_each_use(SystemCall::sync, {EIO}, live, is_told, prepare) > 0);
  CHECK(fail_each_use(SystemCall::rename, {EACCES}, live, is_told, prepare) > 0);
  if (!writes_json) CHECK(fail_each_use(SystemCall::allocate, {ENOMEM}, live, is_there, prepare) > 0);
}

/// `read(path)` reads the file at `path` and returns whether it holds what it should.
void check_reading(const std::string& path, const std::function<bool()>& read, bool reads_json = false) {
  const auto is_told = [&](const Outcome& outcome) {
    CHECK(has(outcome.told, path));
    CHECK(has(outcome.told, std::strerror(outcome.error)));
  };
  CHECK(fail_each_use(SystemCall::open, {EMFILE, EACCES}, read, is_told) > 0);
  CHECK(fail_each_use(SystemCall::read, {EIO}, read, is_told) > 0);
  if (reads_json) return;
  fail_each_use(SystemCall::allocate, {ENOMEM}, read,
                [](const Outcome& outcome) { CHECK((outcome.told.empty() || has(outcome.told, "memory"))); });
}

struct Doubling {
  Doubling() { graph.add<kernels::Scale>(x, y, 2.0F); }
  template <class Session>
  bool runs_on(Session& session) const {
    Floats in(4, 3), out(4);
    return session.run_round(bind(x, in), bind(y, out)).ok() && out == Floats(4, 6);
  }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {4});
  Output<float> y = graph.output<float>("y", {4});
};

struct Tracing : DefaultPolicies {
  using Observe = observe::TraceWith<16, observe::TickClock>;
};

}  // namespace

TEST_CASE("A session is saved as a whole or not at all, and usable after that") {
  const Doubling g;
  auto session = open<A2A3Sim>(g.graph);
  check_writing("the session cannot be saved there", [&](const std::string& path) { session.save(path.c_str()); });
  CHECK(g.runs_on(session));
}

TEST_CASE("A saved session whose file cannot be read is refused with the reason, or opened without it") {
  const Folder folder;
  const std::string path = folder / "saved";
  const Doubling g;
  open<A2A3Sim>(g.graph).save(path.c_str());
  check_reading(path, [&] {
    auto session = open<A2A3Sim>(g.graph, {.saved = path.c_str()});
    return session.is_restored() && g.runs_on(session);
  });
  for (const SystemCall call : {SystemCall::open, SystemCall::read}) {
    const auto live = [&] {
      auto session = open<A2A3Sim>(g.graph, {.saved = {path.c_str(), IfUnusable::ignore}});
      return g.runs_on(session);
    };
    CHECK(fail_each_use(call, {EIO}, live, [](const Outcome& outcome) { CHECK(outcome.told.empty()); }) > 0);
  }
}

TEST_CASE("A file of costs is written as a whole, and one that cannot be read is refused") {
  MeasuredCosts costs;
  costs.platform = decltype(costs.platform)("a2a3_onboard");
  costs.machine = decltype(costs.machine)("a machine");
  costs.refresh.copy = 1234;
  check_writing("the costs cannot be written there",
                [&](const std::string& path) { write_costs(path.c_str(), costs); });
  const Folder folder;
  const std::string path = folder / "costs";
  write_costs(path.c_str(), costs);
  check_reading(path, [&] { return read_costs(path.c_str()) == costs; });
}

TEST_CASE("A new file may be used by those to whom the umask leaves it, and a replaced one by those who might before") {
  namespace fs = std::filesystem;
  const Folder folder;
  const std::string path = folder / "costs.json";
  const mode_t before = ::umask(077);
  write_costs(path.c_str(), {});
  const fs::perms fresh = fs::status(path).permissions();
  fs::permissions(path, fs::perms{0640});
  write_costs(path.c_str(), {});
  (void)::umask(before);
  CHECK(fresh == fs::perms{0600});
  CHECK(fs::status(path).permissions() == fs::perms{0640});
  CHECK(folder.files() == 1);
}

TEST_CASE("A tensor is written as a whole, and one that cannot be read is refused") {
  const Floats values(5000, 1.5F);
  const std::int64_t shape[] = {5000};
  check_writing("the tensor cannot be written there", [&](const std::string& path) {
    observe::write_npy(path, DataType::float32, shape, std::as_bytes(std::span(values)));
  });
  const Folder folder;
  const std::string path = folder / "x.npy";
  observe::write_npy(path, DataType::float32, shape, std::as_bytes(std::span(values)));
  check_reading(path, [&] { return observe::read_npy(path, DataType::float32).bytes.size() == 20000; });
}

TEST_CASE("A trace is written as a whole") {
  const Doubling g;
  auto session = open<A2A3Sim, Tracing>(g.graph);
  CHECK(g.runs_on(session));
  check_writing(
      "the trace cannot be written there",
      [&](const std::string& path) {
        std::ostringstream trace;
        observe::write_trace(trace, session);
        rondo::detail::write_file(path.c_str(), "the trace cannot be written there", trace.view());
      },
      true);
}

TEST_CASE("A dump in which a file fails has no manifest, says why, and leaves the round as it is") {
  const Doubling g;
  const Folder folder;
  const std::string to = folder / "dump";
  const auto live = [&] {
    auto session = open<A2A3SimOn<observe::Dumping<Inline>>>(g.graph);
    auto& engine = session.platform().engine();
    engine.dump_next(to);
    const bool is_right = g.runs_on(session);
    if (!engine.dump_failure().empty()) throw Error(Errc::invalid_argument, engine.dump_failure());
    return is_right;
  };
  const auto prepare = [&] { std::filesystem::remove_all(to); };
  const observe::KernelTable kernels = observe::kernels<kernels::Scale>();
  const auto is_whole_or_none = [&](const Outcome& outcome) {
    CHECK(std::filesystem::exists(to + "/manifest.json") == outcome.told.empty());
    if (!outcome.told.empty()) return;
    CHECK(observe::replay<A2A3Sim>(to, kernels).tasks.at(0).outcome == observe::TaskReplay::Outcome::same);
  };
  for (const SystemCall call : {SystemCall::open, SystemCall::write, SystemCall::sync, SystemCall::rename}) {
    CHECK(fail_each_use(call, {EIO}, live, is_whole_or_none, prepare) >= 4);
  }

  prepare();
  CHECK(live());
  check_reading(to, [&] { return !observe::read_manifest(to).tasks.empty(); }, true);
}

TEST_CASE("A log of records loses no record but the one that could not be written") {
  const Folder folder;
  const std::string path = folder / "log";
  measure::Result good;
  good.seconds = {0.5};
  const auto live = [&] {
    measure::RecordLog log(path, "task");
    try {
      log.append("second", good);
    } catch (...) {
      (void)stop_failing();
      log.append("after it", good);
      throw;
    }
    return true;
  };
  const auto prepare = [&] {
    std::filesystem::remove(path);
    measure::RecordLog(path, "task").append("first", good);
  };
  const auto is_kept = [&](const Outcome& outcome) {
    measure::RecordLog log(path, "task");
    CHECK(log.is_settled("first"));
    if (outcome.told.empty()) CHECK(log.is_settled("second"));
    log.append("third", good);
    measure::RecordLog again(path, "task");
    CHECK(again.is_settled("first"));
    CHECK(again.is_settled("third"));
    CHECK(again.unreadable() <= (outcome.error == 0 ? 1 : 0));
  };
  const auto is_told = [&](const Outcome& outcome) {
    is_kept(outcome);
    CHECK(has(outcome.told, path));
    CHECK(has(outcome.told, std::strerror(outcome.error == 0 ? ENOSPC : outcome.error)));
  };
  const auto is_continued = [&](const Outcome& outcome) {
    CHECK(measure::RecordLog(path, "task").is_settled("after it"));
    is_told(outcome);
  };
  CHECK(fail_each_use(SystemCall::open, {EMFILE}, live, is_told, prepare) > 0);
  CHECK(fail_each_use(SystemCall::read, {EIO}, live, is_told, prepare) > 0);
  CHECK(fail_each_use(SystemCall::write, {ENOSPC, EIO, 0}, live, is_continued, prepare) > 0);
}

TEST_CASE("An artifact that cannot be written leaves nothing") {
  const Folder folder;
  const auto live = [&] {
    measure::ArtifactStore store(folder.path());
    const auto artifact = store.put(std::string(20000, 'x'));
    return contents(artifact.path()).size() == 20000;
  };
  const auto is_told = [&](const Outcome& outcome) { CHECK(has(outcome.told, "cannot be written")); };
  const auto prepare = [&] {
    for (const auto& each : std::filesystem::directory_iterator{folder.path()}) std::filesystem::remove(each.path());
  };
  CHECK(fail_each_use(SystemCall::write, {ENOSPC, EIO}, live, is_told, prepare) > 0);
}
