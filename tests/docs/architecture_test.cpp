// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The architecture page names every folder of include/rondo, and what it names is there.

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

TEST_CASE("The architecture page names every folder of include/rondo") {
  const std::string page = docs::read("docs/architecture.md");
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(repository() / "include/rondo")) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    ++folders;
    CHECK(page.find("`" + name + "/`") != std::string::npos);
  }
  CHECK(folders >= 12);
}

TEST_CASE("The headers that the architecture page and its picture name exist") {
  for (const char* const file : {"docs/architecture.md", "docs/images/binding_to_copy.dot"}) {
    const std::string text = docs::read(file);
    const std::regex header("\\b[a-z]+(/[a-z0-9_]+)+\\.hpp");
    std::size_t headers = 0;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), header); at != std::sregex_iterator(); ++at) {
      const std::string path = at->str();
      CAPTURE(file);
      CAPTURE(path);
      CHECK(fs::exists(repository() / "include/rondo" / path));
      ++headers;
    }
    CHECK(headers > 10);
  }
}

TEST_CASE("The functions on the way from a binding to its copy stand where the architecture page says") {
  struct Place {
    const char* header;
    const char* text;
  };
  const Place places[] = {
      {"tensor/pair.hpp", "class CopiedPair"},
      {"session/round_session.hpp", "Status run_round("},
      {"session/in_flight.hpp", "RoundTicket submit_round("},
      {"session/shaped_session.hpp", "Status run_round("},
      {"session/instance.hpp", "Status run("},
      {"binding/bindings.hpp", "struct Binding "},
      {"binding/bindings.hpp", " sort_bindings("},
      {"binding/port_rules.hpp", "Status check("},
      {"session/executor.hpp", "struct Work "},
      {"session/executor.hpp", "Status run("},
      {"platform/channel.hpp", "struct Direct "},
      {"platform/channel.hpp", "struct QueueSlot "},
      {"platform/sim/hosted.hpp", "Status copy_in("},
      {"platform/streams/device_platform.hpp", "Status copy_in("},
      {"platform/streams/transfers.hpp", "Status copy_in("},
      {"platform/sim/device_queue.hpp", "Status copy_in("},
      {"platform/streams/device_queue.hpp", "Status copy_in("},
  };
  const std::string page = docs::read("docs/architecture.md");
  for (const Place& place : places) {
    CAPTURE(place.header);
    CAPTURE(place.text);
    CHECK(page.find(std::string("`") + place.header + "`") != std::string::npos);
    CHECK(docs::read(std::string("include/rondo/") + place.header).find(place.text) != std::string::npos);
  }
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
