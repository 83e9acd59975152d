// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The programs that docs/measuring.md shows: they compile, and measure.

#include <rondo/measure/callable.hpp>
#include <rondo/measure/local_runner.hpp>
#include <rondo/measure/program_measurer.hpp>
#include <rondo/measure/progress.hpp>
#include <rondo/measure/records.hpp>
#include <rondo/measure/source_builder.hpp>
#include <rondo/rondo.hpp>

#include "unit/measure/process_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string source_of(int factor) {
  return "#include <cstdint>\nextern \"C\" void scale(std::int64_t* words) {\n"
         "  const float* x = reinterpret_cast<const float*>(words[0]);\n"
         "  float* y = reinterpret_cast<float*>(words[1]);\n"
         "  for (int i = 0; i < 1024; ++i) y[i] = " +
         std::to_string(factor) + " * x[i];\n}\n";
}

struct Program {
  explicit Program(int n) : n_{n} {}
  void run() { n_ = n_ * 3 + 1; }

 private:
  int n_;
};

/// Lines of a text, without the blanks around them.
std::vector<std::string> trimmed_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) {
    const auto begin = line.find_first_not_of(' ');
    if (begin != std::string::npos) lines.push_back(line.substr(begin));
  }
  return lines;
}

}  // namespace

TEST_CASE("The tuner of the documentation measures, and finds all settled the second time") {
  const rondo::test::Folder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const std::vector<int> factors{2, 3};
  const std::vector<float> input(1024, 1.5F);
  const std::vector<float> reference(1024, 3.0F);
  for (int run = 0; run < 2; ++run) {
    // clang-format off
    const auto workload = [&](rondo::measure::Trial& trial) {
      rondo::TaskGraph graph;
      const auto x = graph.input<float>("x", {1024});
      const auto y = graph.output<float>("y", {1024});
      graph.add_raw("scale", rondo::CoreType::vector, trial.symbol<void(rondo::ArgWord*)>("scale"), rondo::reads(x),
                    rondo::writes(y));
      auto session = rondo::open<rondo::SelectedPlatform>(graph);
      std::vector<float> result(1024);
      trial.time_rounds(session, rondo::bind(x, input), rondo::bind(y, result));
      trial.check("y", result, reference, {.relative = 1e-5});
    };

    using namespace rondo::measure;

    LocalRunner runner(workload, {.time_limit = 60, .repetition = {.number = 1, .repeat = 5, .min_repeat_ms = 10}});
    SourceBuilder builder({.workers = 2, .time_limit = 120});
    RecordLog log("scale.jsonl", "scale 1024");
    Progress progress(factors.size());

    ProgramMeasurer measurer(builder, runner);
    for (const int factor : factors) {
      const std::string key = std::to_string(factor);
      if (log.is_settled(key)) continue;  // by an earlier run
      measurer.submit({.source = source_of(factor)}, [&, key](const Result& result) {
        log.append(key, result);
        progress.add(key, result);
      });
    }
    measurer.wait();
    std::puts(progress.line().c_str());
    // clang-format on
    CHECK(log.find("2")->ok());
    CHECK(log.find("3")->fault == Fault::wrong_answer);
    CHECK(builder.compilations() == (run == 0 ? 2 : 0));
  }
  std::filesystem::current_path(before);
}

TEST_CASE("The range and the functions of the documentation measure") {
  using namespace rondo::measure;
  CallableBuilder<int, Program> builder(2, [](const int& n) { return Program(n); });
  CallableRunner<Program> runner(1, [](Program& p) { return time_calls({.repeat = 3}, [&] { p.run(); }); });
  ProgramMeasurer measurer(builder, runner);
  for (int n = 0; n < 5; ++n) measurer.submit(n);
  int count = 0;
  for (const Result& result : measurer.results()) {
    std::printf("%llu: %s\n", static_cast<unsigned long long>(result.ticket),
                result.ok() ? format_seconds(result.best()).c_str() : to_string(result.fault));
    ++count;
  }
  CHECK(count == 5);
  CHECK(measurer.tally().faults[0] == 5);
}

TEST_CASE("Every line of code in the documentation stands in this file") {
  const std::filesystem::path tests = std::filesystem::path{RONDO_TEST_DATA_DIR}.parent_path();
  const std::string here = rondo::test::read_file((tests / "docs" / "measuring_test.cpp").string());
  const std::string page = rondo::test::read_file((tests.parent_path() / "docs" / "measuring.md").string());
  const std::vector<std::string> compiled = trimmed_lines(here);
  std::size_t count = 0;
  bool is_code = false;
  for (const std::string& line : trimmed_lines(page)) {
    if (line.starts_with("```")) {
      is_code = line == "```cpp";
    } else if (is_code) {
      INFO(line);
      CHECK(std::find(compiled.begin(), compiled.end(), line) != compiled.end());
      ++count;
    }
  }
  CHECK(count > 30);
}
