// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/artifact.hpp>

#include "unit/measure/process_support.hpp"
#include "unit/support.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>

using namespace rondo;
using rondo::measure::ArtifactStore;
using rondo::measure::SharedObject;

TEST_CASE("Bytes become files, each of its own, that go with their last user") {
  std::string folder, path;
  {
    std::optional<SharedObject> kept;
    {
      ArtifactStore store;
      const std::string bytes("a\0b", 3);
      const SharedObject first = store.put(bytes, "argument");
      kept = store.put("other");
      CHECK(first.path() != kept->path());
      CHECK(first.argument() == "argument");
      CHECK(test::read_file(first.path()) == bytes);
      path = first.path();
      folder = std::filesystem::path{path}.parent_path().string();
    }
    CHECK(!std::filesystem::exists(path));
    CHECK(test::read_file(kept->path()) == "other");
  }
  CHECK(!std::filesystem::exists(folder));
}

TEST_CASE("A folder of somebody's own is made if need be, and stays with what is in it") {
  const test::Folder folder;
  std::string path;
  {
    ArtifactStore store(folder / "a/b");
    path = store.put("bytes").path();
  }
  CHECK(path.starts_with(folder / "a/b/"));
  CHECK(test::read_file(path) == "bytes");
}

TEST_CASE("A folder that cannot be made says so") {
  const test::Folder folder;
  std::ofstream{folder / "file"} << "no folder";
  const auto raised = test::raised([&] { ArtifactStore store(folder / "file"); });
  CHECK(raised.code == Errc::out_of_resources);
  CHECK(test::says(raised.text, folder / "file"));
}

TEST_CASE("A folder for temporary files that does not exist is named as the reason") {
  const char* const variable = std::getenv("TMPDIR");
  const std::string before = variable != nullptr ? variable : "";
  ::setenv("TMPDIR", "/no/such/folder", 1);
  const auto raised = test::raised([] { ArtifactStore store; });
  if (variable != nullptr) ::setenv("TMPDIR", before.c_str(), 1);
  if (variable == nullptr) ::unsetenv("TMPDIR");
  CHECK(raised.code == Errc::out_of_resources);
  CHECK(test::says(raised.text, "TMPDIR"));
}

TEST_CASE("Two stores may have one folder, and an artifact that cannot be written whole leaves nothing there") {
  const test::Folder folder;
  ArtifactStore first(folder.path()), second(folder.path());
  const SharedObject a = first.put("a"), b = second.put("b");
  CHECK(test::read_file(a.path()) == "a");
  CHECK(test::read_file(b.path()) == "b");
  // No file of this process may be longer than this.
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit little{1000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &little) == 0);
  const auto raised = test::raised([&] { (void)first.put(std::string(100'000, 'x')); });
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  (void)std::signal(SIGXFSZ, handler);
  CHECK(raised.code == Errc::out_of_resources);
  CHECK(folder.files() == 2);
}
