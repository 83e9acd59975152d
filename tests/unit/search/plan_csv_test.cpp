// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

#include <rondo/search/plan_csv.hpp>

#include <doctest/doctest.h>

#include <locale>
#include <sstream>
#include <string>

using namespace rondo;
using namespace rondo::memory;
using namespace rondo::search;

namespace {

std::string refusal(std::string_view text) {
  try {
    (void)read_lifetimes(text);
  } catch (const rondo::Error& error) {
    return error.what();
  }
  return "accepted";
}

bool mentions(const std::string& text, std::string_view a, std::string_view b) {
  return text.find(a) != std::string::npos && text.find(b) != std::string::npos;
}

/// A locale in which numbers look as in "1.048.576,5".
struct Grouping : std::numpunct<char> {
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("columns are found by name, optional ones may be absent or empty") {
  const NamedProblem p = read_lifetimes(
      "size,upper,id,lower,gaps,alignment,offset\n"
      "100,9,a,-3,,,\n"
      "64,20,b,2,3-5 8-10,32,96\n");
  REQUIRE(p.problem.size() == 2);
  CHECK(p.names == std::vector<std::string>{"a", "b"});
  CHECK(p.lines == std::vector<std::size_t>{2, 3});
  CHECK(p.problem.buffers[0] == Buffer{.lower = -3, .upper = 9, .size = 100});
  CHECK(p.problem.buffers[1] ==
        Buffer{.lower = 2, .upper = 20, .size = 64, .alignment = 32, .fixed_offset = 96, .gaps = {{3, 5}, {8, 10}}});
}

TEST_CASE("CRLF, a missing final newline, blank lines and a byte order mark are read") {
  const NamedProblem p = read_lifetimes("\xEF\xBB\xBFid,lower,upper,size\r\n\r\nx,0,1,5\r\ny,1,2,6");
  REQUIRE(p.problem.size() == 2);
  CHECK(p.names[1] == "y");
  CHECK(p.problem.buffers[1].size == 6);
  CHECK(p.lines[1] == 4);
}

TEST_CASE("gaps may be negative times") {
  const NamedProblem p = read_lifetimes("id,lower,upper,size,gaps\nx,-9,9,5,-7--5 -1-2\n");
  CHECK(p.problem.buffers[0].gaps == std::vector<Span>{{-7, -5}, {-1, 2}});
}

TEST_CASE("a header without buffers is an empty problem; an empty file is an error") {
  CHECK(read_lifetimes("id,lower,upper,size\n").problem.size() == 0);
  CHECK(mentions(refusal(""), "line 1", "empty"));
  CHECK(mentions(refusal("\n\n"), "line", "empty"));
}

TEST_CASE("every mistake is reported with its line and field") {
  const std::string header = "id,lower,upper,size\n";
  CHECK(mentions(refusal("id,lower,size\nx,0,1\n"), "line 1", "upper"));
  CHECK(mentions(refusal("id,lower,upper,size,colour\n"), "line 1", "colour"));
  CHECK(mentions(refusal("id,lower,upper,size,size\n"), "line 1", "size"));
  CHECK(mentions(refusal(header + "a,0,1,2\nb,0,1,x7\n"), "line 3, size", "x7"));
  CHECK(mentions(refusal(header + "a,0,1,7x\n"), "line 2, size", "7x"));
  CHECK(mentions(refusal(header + "a,0,1.5,7\n"), "line 2, upper", "1.5"));
  CHECK(mentions(refusal(header + "a,,1,7\n"), "line 2, lower", "nothing"));
  CHECK(mentions(refusal(header + "a,0,1,-7\n"), "line 2, size", "negative"));
  CHECK(mentions(refusal(header + "a,5,4,7\n"), "line 2, upper", "ends before"));
  CHECK(mentions(refusal(header + "a,0,1,9223372036854775808\n"), "line 2, size", "63 bits"));
  CHECK(mentions(refusal(header + "a,0,1,9223372036854775807\n"), "line 2, size", "2^62"));
  CHECK(mentions(refusal(header + "a,0,1,4000000000000000000\nb,0,1,4000000000000000000\n"), "line 3, size", "2^62"));
  CHECK(mentions(refusal(header + "a,0,1,7\nb,0,1,7\na,2,3,7\n"), "line 4, id", "line 2"));
  CHECK(mentions(refusal(header + ",0,1,7\n"), "line 2, id", "name"));
  CHECK(mentions(refusal(header + "a,0,1\n"), "line 2, size", "missing"));
  CHECK(mentions(refusal(header + "a,0,1,7,8\n"), "line 2", "more fields"));
}

TEST_CASE("mistakes of optional fields are reported as well") {
  const std::string aligned = "id,lower,upper,size,alignment\n";
  for (const char* value : {"0", "-8", "3", "12"}) {
    CHECK(mentions(refusal(aligned + "a,0,1,7," + value + "\n"), "line 2, alignment", "power of two"));
  }
  const std::string fixed = "id,lower,upper,size,offset,alignment\n";
  CHECK(mentions(refusal(fixed + "a,0,1,7,-1,\n"), "line 2, offset", "negative"));
  CHECK(mentions(refusal(fixed + "a,0,1,7,12,8\n"), "line 2, offset", "alignment"));
  CHECK(mentions(refusal(fixed + "a,0,2,7,0,\nb,0,2,7,,\nc,1,2,7,6,\n"), "line 4, offset", "\"a\" on line 2"));
  CHECK(mentions(refusal(fixed + "a,0,1,7,4611686018427387900,\n"), "line 2, offset", "2^62"));
  CHECK(refusal(fixed + "a,0,1,7,0,\nc,1,2,7,6,\n") == "accepted");
  const std::string gaps = "id,lower,upper,size,gaps\n";
  CHECK(mentions(refusal(gaps + "a,0,9,7,3\n"), "line 2, gaps", "lower-upper"));
  CHECK(mentions(refusal(gaps + "a,0,9,7,3-x\n"), "line 2, gaps", "integer"));
  CHECK(mentions(refusal(gaps + "a,0,9,7,5-4\n"), "line 2, gaps", "ends before"));
  CHECK(mentions(refusal(gaps + "a,0,9,7,3-12\n"), "line 2, gaps", "within the lifetime"));
  CHECK(mentions(refusal(gaps + "a,0,9,7,3-5 4-6\n"), "line 2, gaps", "disjoint"));
  CHECK(mentions(refusal(gaps + "a,0,9,7,3-5@2:4\n"), "line 2, gaps", "space"));
}

TEST_CASE("offsets are written under the names that were read") {
  const NamedProblem p = read_lifetimes("id,lower,upper,size\nx,0,2,5\ny,1,3,6\n");
  Plan plan;
  plan.offsets = {0, 5};
  std::ostringstream out;
  write_offsets(out, p, plan);
  CHECK(out.str() == "id,lower,upper,size,offset\nx,0,2,5,0\ny,1,3,6,5\n");
}

TEST_CASE("numbers are written as they are read, whatever the locale") {
  const NamedProblem p = read_lifetimes("id,lower,upper,size\na,-1000,2000,1048576\n");
  Plan plan;
  plan.offsets = {4096};
  std::ostringstream out;
  out.imbue(std::locale{std::locale::classic(), new Grouping});
  write_offsets(out, p, plan);
  CHECK(out.str() == "id,lower,upper,size,offset\na,-1000,2000,1048576,4096\n");
}
