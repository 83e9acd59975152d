// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/progress.hpp>

#include "unit/support.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <limits>
#include <string>

using namespace rondo::measure;

namespace {

Result result(Fault fault, double seconds = 0, const std::string& text = {}) {
  Result r;
  r.fault = fault;
  r.text = text;
  if (fault == Fault::none) r.seconds = {seconds};
  return r;
}

}  // namespace

TEST_CASE("A line has count, rate, best, errors and what is left") {
  const auto start = Progress::Clock::now();
  Progress progress(10, start);
  CHECK(progress.line(start) == "0 of 10, 0.0/s, no best yet");
  progress.add("slow", result(Fault::none, 2e-3));
  progress.add("fast", result(Fault::none, 1.2345e-3));
  progress.add("x", result(Fault::build));
  progress.add("y", result(Fault::run_timeout));
  progress.add("y", result(Fault::stopped));
  progress.add("z", result(Fault::build));
  CHECK(progress.line(start + std::chrono::seconds(2)) ==
        "5 of 10, 2.5/s, best 1.23 ms (fast), 3 errors (2 build, 1 run_timeout), 2 s left");
}

TEST_CASE("Without a total nothing is said of what is left, and an earlier best counts") {
  const auto start = Progress::Clock::now();
  Progress progress(0, start);
  progress.resume("older", 0.5);
  progress.add("newer", result(Fault::none, 0.6));
  CHECK(progress.line(start + std::chrono::seconds(1)) == "1, 1.0/s, best 500 ms (older)");
}

TEST_CASE("A flood of errors is shown, with what the last one says, until one candidate is measured") {
  Progress progress(100);
  for (int i = 0; i < 9; ++i) progress.add("x", result(Fault::build, 0, "no such header\nand more"));
  CHECK(!rondo::test::says(progress.line(), "all failed"));
  progress.add("x", result(Fault::build, 0, "no such header\nand more"));
  CHECK(progress.line().ends_with("; the last 10 all failed, with build: no such header"));
  progress.add("x", result(Fault::none, 1));
  CHECK(!rondo::test::says(progress.line(), "all failed"));
}

TEST_CASE("Durations have three figures and a unit that suits them") {
  CHECK(format_seconds(417e-9) == "417 ns");
  CHECK(format_seconds(1.234e-6) == "1.23 us");
  CHECK(format_seconds(12.34e-3) == "12.3 ms");
  CHECK(format_seconds(0.99996) == "1.00 s");
  CHECK(format_seconds(1234) == "1234 s");
  CHECK(format_seconds(std::numeric_limits<double>::infinity()) == "none");
}
