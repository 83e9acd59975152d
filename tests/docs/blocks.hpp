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

/// For pages whose blocks stand in a source file that the tests compile and run.
namespace docs {

/// A file of the repository, its path from the root. clang-format may have broken lines that the page has whole, so
/// where white space lies is not looked at.
inline std::string read(const std::string& path) {
  const std::filesystem::path tests = std::filesystem::path(RONDO_TEST_DATA_DIR).parent_path();
  std::ifstream file(tests.parent_path() / path);
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

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

/// Does each block of the page, at least `least` of them, stand in the source?
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
