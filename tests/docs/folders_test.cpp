// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Each folder of include/rondo has a page, and what the page says to begin with is there.

#include <docs/blocks.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <regex>
#include <string>

namespace {

namespace fs = std::filesystem;

fs::path repository() { return fs::path(RONDO_TEST_DATA_DIR).parent_path().parent_path(); }

}  // namespace

TEST_CASE("Each folder has a page that names three of its types and the headers that declare them") {
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(repository() / "include/rondo")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || name == "detail") continue;
    CAPTURE(name);
    ++folders;
    const std::string page = docs::read("docs/folders/" + name + ".md");
    const std::regex line("- `(\\w+)` \\(`(rondo/" + name + "/[^`]+)`\\)");
    std::size_t types = 0;
    for (auto at = std::sregex_iterator(page.begin(), page.end(), line); at != std::sregex_iterator(); ++at, ++types) {
      const std::string type = (*at)[1];
      CAPTURE(type);
      const std::string header = docs::read("include/" + (*at)[2].str());
      const std::regex declared("(class|struct|concept|using) " + type + "\\b");
      CHECK(std::regex_search(header, declared));
    }
    CHECK(types == 3);
    CHECK(page.find("**Cost.**") != std::string::npos);
    CHECK(page.find("**Thread safety.**") != std::string::npos);
    CHECK(docs::read("docs/README.md").find("(folders/" + name + ".md)") != std::string::npos);
  }
  CHECK(folders >= 12);
}

TEST_CASE("Links between pages lead somewhere") {
  std::size_t links = 0;
  for (const auto& entry : fs::recursive_directory_iterator(repository() / "docs")) {
    if (entry.path().extension() != ".md") continue;
    const std::string path = fs::relative(entry.path(), repository()).string();
    CAPTURE(path);
    const std::string page = docs::read(path);
    const std::regex link("\\]\\(([^)#: &]+\\.(md|png|svg|hpp|cpp))\\)");
    for (auto at = std::sregex_iterator(page.begin(), page.end(), link); at != std::sregex_iterator(); ++at, ++links) {
      const std::string target = (*at)[1];
      CAPTURE(target);
      CHECK(fs::exists(entry.path().parent_path() / target));
    }
  }
  CHECK(links > 60);
}
