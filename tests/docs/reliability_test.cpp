// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "docs/blocks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <string>

namespace {

/// Whether a name of the page is a file or folder of the repository, a file of tests, or a test of
/// tools/CMakeLists.txt.
bool names_something(const std::string& name) {
  const std::filesystem::path tests = std::filesystem::path(RONDO_TEST_DATA_DIR).parent_path();
  const std::array places{tests.parent_path() / name, tests / name, tests / (name + "_test.cpp"),
                          tests / (name + ".sh"), tests.parent_path() / "include/rondo" / name};
  if (std::any_of(places.begin(), places.end(), [](const auto& place) { return std::filesystem::exists(place); })) {
    return true;
  }
  return docs::read("tools/CMakeLists.txt").find("NAME " + name + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("The tests and tools that the reliability page names exist") {
  const std::string page = docs::read("docs/reliability.md");
  std::size_t names = 0;
  for (std::size_t at = page.find('`'); at != std::string::npos; at = page.find('`', at)) {
    const std::size_t end = page.find('`', ++at);
    REQUIRE(end != std::string::npos);
    const std::string name = page.substr(at, end - at);
    at = end + 1;
    const bool is_path = name.find('/') != std::string::npos && std::none_of(name.begin(), name.end(), [](char c) {
                           return std::isspace(static_cast<unsigned char>(c)) != 0 || c == '(' || c == ':';
                         });
    if (!is_path) continue;
    ++names;
    CHECK_MESSAGE(names_something(name), name);
  }
  CHECK(names > 20);
}
