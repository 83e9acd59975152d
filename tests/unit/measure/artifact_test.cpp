// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/artifact.hpp>

#include "unit/measure/process_support.hpp"
#include "unit/support.hpp"

#include <doctest/doctest.h>

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
