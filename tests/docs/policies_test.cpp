// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The program of docs/policies.md, and its table.

#include <rondo/observe/counters.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Negate {
  static constexpr std::string_view name = "negate";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = -x[i];
  }
};

struct MyPolicies : rondo::DefaultPolicies {
  using Update = rondo::update::ModelIo;
  using Observe = rondo::observe::Counters;
};

std::string contents(const std::string& path) {
  const std::string tests = RONDO_TEST_DATA_DIR;
  std::ifstream in(tests.substr(0, tests.rfind("/tests/")) + "/" + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("The policies of the page work") {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto y = graph.output<float>("y", {4});
  graph.add<Negate>(x, y);
  auto session = rondo::open<rondo::A2A3Sim, MyPolicies>(graph);
  const std::vector<float> hx{1, 2, 3, 4};
  std::vector<float> hy(4);
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy == std::vector<float>{-1, -2, -3, -4});
  CHECK(session.observer().snapshot().rounds == 1);
}

TEST_CASE("The page lists every policy") {
  const std::string page = contents("docs/policies.md");
  const std::string header = contents("include/rondo/session/policies.hpp");
  const std::size_t begin = header.find("struct DefaultPolicies {");
  const std::string defaults = header.substr(begin, header.find("\n};", begin) - begin);
  int policies = 0;
  for (std::size_t at = 0; (at = defaults.find("\n  using ", at)) != std::string::npos; ++policies) {
    at += 9;
    const std::string name = defaults.substr(at, defaults.find(' ', at) - at);
    CHECK_MESSAGE(page.find("| `" + name + "` |") != std::string::npos, name);
  }
  CHECK(policies == 10);  // Check twice, for Debug
  for (const char* const function : {"log(", "system_address(", "report_unclosed("}) {
    CHECK(page.find(std::string("| `") + function) != std::string::npos);
  }
}
