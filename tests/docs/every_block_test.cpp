// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Every line of C++ that a page shows is part of something that is compiled and run. A line that says "…" stands for
// code that is left out; comments, and where white space lies, are the page's own.

#include <docs/blocks.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

fs::path root() { return fs::path(RONDO_TEST_DATA_DIR).parent_path().parent_path(); }

/// Without comments and white space.
std::string bare(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t cut = line.find("//");
    while (cut != std::string::npos && cut != 0 && line[cut - 1] == ':') cut = line.find("//", cut + 2);
    result += docs::without_space(line.substr(0, cut));
  }
  return result;
}

/// Where the programs of a page stand, beside the test that is called like it.
const std::map<std::string, std::vector<std::string>> sources = {
    {"README.md", {"examples/01_saxpy.cpp"}},
    {"docs/callers_stream.md", {"tests/onboard/callers_stream_test.cpp"}},
    {"docs/cuda.md", {"tests/cuda/kernels/saxpy.hpp", "tests/cuda/kernels/saxpy.cu", "tests/cuda/kernels_test.cpp"}},
    {"docs/library_calls.md", {"examples/09_library_calls/main.cpp"}},
    {"docs/loops.md",
     {"examples/03_decode_loop/model.hpp", "examples/03_decode_loop/main.cpp", "tests/conformance/counting_loop.hpp",
      "tests/conformance/loops_test.cpp"}},
    {"docs/mpi.md", {"tests/mpi/docs_mpi_test.cpp", "tests/mpi/main.cpp", "examples/05_digits_mpi/main.cpp"}},
    {"docs/onboard.md",
     {"examples/06_onboard_saxpy/main.cpp", "examples/06_onboard_saxpy/device/saxpy.cpp",
      "examples/06_onboard_saxpy/stand_in/saxpy.cpp"}},
    {"docs/platforms.md", {"examples/07_toy_platform/toy_platform.hpp"}},
    {"docs/recovery.md", {"tests/conformance/recovery_test.cpp"}},
    {"docs/c.md", {"tests/c/saxpy.c"}},
    {"docs/python.md", {"examples/python/kernels/rondo_kernels.cpp", "python/tests/my_kernels.cpp"}},
};

std::vector<std::string> pages() {
  std::vector<std::string> found = {"README.md", "packaging/README.md"};
  for (const auto& entry : fs::directory_iterator(root() / "docs")) {
    if (entry.path().extension() == ".md") found.push_back("docs/" + entry.path().filename().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The lines of a page's C++ that stand in none of its sources.
std::vector<std::string> missing_lines(const std::string& page) {
  std::string code;
  std::vector<std::string> files;
  if (const auto known = sources.find(page); known != sources.end()) files = known->second;
  const std::string test = "tests/docs/" + fs::path(page).stem().string() + "_test.cpp";
  if (fs::exists(root() / test)) files.push_back(test);
  files.emplace_back("tests/docs/shown_test.cpp");
  for (const std::string& file : files) code += bare(docs::read(file)) + '\n';
  std::vector<std::string> missing;
  for (const std::string& block : docs::cpp_blocks(docs::read(page))) {
    std::istringstream lines(block);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("…") != std::string::npos) continue;
      if (const std::string text = bare(line); code.find(text) == std::string::npos) missing.push_back(line);
    }
  }
  return missing;
}

}  // namespace

TEST_CASE("Every line of C++ on every page stands in a program that the tests compile and run") {
  REQUIRE(pages().size() > 15);
  std::size_t blocks = 0;
  for (const std::string& page : pages()) {
    blocks += docs::cpp_blocks(docs::read(page)).size();
    for (const std::string& line : missing_lines(page)) {
      CAPTURE(page);
      CAPTURE(line);
      CHECK_MESSAGE(false, "stands nowhere");
    }
  }
  CHECK(blocks > 30);
}

TEST_CASE("A comment is no code, and an address is no comment") {
  CHECK(bare("a = 1;  // so\n  b = \"http://x\"; // there\n") == "a=1;b=\"http://x\";");
}
