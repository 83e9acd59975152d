// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

/// Helpers for pages whose blocks of code are part of a source file that the tests compile and run.
namespace docs {

/// The text of a file, by its path from the root of the repository.
inline std::string read(const std::string& path) {
  const std::filesystem::path tests = std::filesystem::path(RONDO_TEST_DATA_DIR).parent_path();
  std::ifstream file(tests.parent_path() / path);
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The text without white space: clang-format may break lines that the page does not.
inline std::string without_space(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ' && c != '\n') result += c;
  }
  return result;
}

/// The blocks of C++ on a page.
inline std::vector<std::string> cpp_blocks(const std::string& page) {
  const std::string begin = "```cpp\n";
  std::vector<std::string> blocks;
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at)) {
    at += begin.size();
    blocks.push_back(page.substr(at, page.find("```", at) - at));
  }
  return blocks;
}

/// Checks that the page has at least `least` blocks, and that each is part of the source.
inline void check_blocks(const std::string& page, const std::string& source, std::size_t least) {
  const std::string text = without_space(read(source));
  const std::vector<std::string> blocks = cpp_blocks(read(page));
  REQUIRE(blocks.size() >= least);
  for (const std::string& block : blocks) {
    CAPTURE(block);
    CHECK(text.find(without_space(block)) != std::string::npos);
  }
}

}  // namespace docs
