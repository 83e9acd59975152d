// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/observe/log_to.hpp>

#include "spdlog.hpp"

#include <rondo/platform/null.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

struct Logger {
  std::string text;
  void info(std::string_view line) { text += "info | " + std::string{line} + '\n'; }
  void warn(std::string_view line) { text += "warn | " + std::string{line} + '\n'; }
  void error(std::string_view line) { text += "error | " + std::string{line} + '\n'; }
};
Logger& the_logger() {
  static Logger logger;
  return logger;
}

struct Thrower {
  void info(std::string_view) { throw std::runtime_error("full"); }
  void warn(std::string_view) { throw std::runtime_error("full"); }
  void error(std::string_view) { throw std::runtime_error("full"); }
};
Thrower* the_thrower() {
  static Thrower thrower;
  return &thrower;
}

template <auto get>
struct Logged : DefaultPolicies {
  static constexpr observe::LogTo<get> log{};
};

template <class P, class Policies>
void fail_a_round() {
  TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  graph.add<Fragile>(x, y);
  auto session = open<P, Policies>(graph);
  std::vector<float> hx{-1, 0}, hy(2);
  (void)session.run_round(bind(x, hx), bind(y, hy));
}

}  // namespace

TEST_CASE("A session's log reaches a logger, each line with its level") {
  fail_a_round<A2A3Sim, Logged<&the_logger>>();
  CHECK(says(the_logger().text, "info | rondo opened: a2a3_sim: 1 tasks", "info | rondo planned: ",
             "error | rondo poisoned: a2a3_sim, round 0: task 0 'fragile'", "info | rondo closed: "));
  the_logger().text.clear();
  fail_a_round<NullPlatform, Logged<&the_logger>>();
  CHECK(says(the_logger().text, "warn | rondo missing: null: "));
}

TEST_CASE("A logger that throws fails no session") { CHECK_NOTHROW(fail_a_round<A2A3Sim, Logged<&the_thrower>>()); }

#ifdef RONDO_TEST_HAS_SPDLOG
TEST_CASE("A session's log reaches spdlog") {
  std::ostringstream out;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out)));
  spdlog::set_pattern("%l | %v");
  fail_a_round<A2A3Sim, Logged<&spdlog::default_logger_raw>>();
  spdlog::set_default_logger(before);
  CHECK(says(out.str(), "info | rondo opened: a2a3_sim: 1 tasks", "info | rondo planned: ",
             "error | rondo poisoned: a2a3_sim, round 0: task 0 'fragile'", "info | rondo closed: "));
}
#endif
