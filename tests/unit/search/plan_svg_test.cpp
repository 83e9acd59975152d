// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/search/plan_svg.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <locale>
#include <sstream>
#include <string>

using namespace rondo;
using namespace rondo::memory;
using namespace rondo::search;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// A locale in which numbers look as in "1.048.576,5".
struct Grouping : std::numpunct<char> {
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("there is a rectangle for each use of each buffer that has bytes, named on hover") {
  const Problem problem{{{.lower = 0, .upper = 9, .size = 8, .gaps = {{2, 4}}},
                         {.lower = 2, .upper = 4, .size = 8},
                         {.lower = 0, .upper = 4, .size = 0},
                         {.lower = 3, .upper = 3, .size = 5}},
                        {}};
  Plan plan;
  plan.offsets = {0, 0, 0, 0};
  plan.arena = plan.lower_bound = 8;
  std::ostringstream out;
  write_svg(out, problem, plan, {"a<b>&\"c\"", "y", "z", "w"});
  const std::string svg = out.str();
  CHECK(count(svg, "<rect") == 1 + 3);
  CHECK(count(svg, "<title>a&lt;b&gt;&amp;&quot;c&quot;: [0, 9), 8 bytes at 0</title>") == 2);
  CHECK(count(svg, "<title>y: [2, 4), 8 bytes at 0</title>") == 1);
  CHECK(svg.find("a<b>") == std::string::npos);
  CHECK(count(svg, "<svg") == 1);
  CHECK(svg.substr(svg.size() - 7) == "</svg>\n");
}

TEST_CASE("an empty plan is drawn as an empty picture") {
  std::ostringstream out;
  write_svg(out, {}, {});
  CHECK(count(out.str(), "<rect") == 1);
  CHECK(out.str().find("nan") == std::string::npos);
  CHECK(out.str().find("inf") == std::string::npos);
}

TEST_CASE("a picture is the same in each locale") {
  const Problem problem{{{.lower = 0, .upper = 9000, .size = 1048576}, {.lower = 3, .upper = 10'000, .size = 8}}, {}};
  Plan plan;
  plan.offsets = {0, 1048576};
  plan.arena = plan.lower_bound = 1048584;
  std::ostringstream plain, grouped;
  grouped.imbue(std::locale{std::locale::classic(), new Grouping});
  write_svg(plain, problem, plan);
  write_svg(grouped, problem, plan);
  CHECK(plain.str() == grouped.str());
  CHECK(count(plain.str(), "1048584 bytes") == 2);
}
