// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/file_stream.hpp>

#include "folder.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <ostream>
#include <string>

using namespace rondo;

TEST_CASE("A file that is larger than the buffer is written whole, by characters and by texts") {
  const test::Folder folder;
  const std::string path = folder / "file";
  const std::string text = "0123456789abcdefg";
  std::string expected;
  detail::write_file(path, "the file cannot be written there", [&](std::ostream& out) {
    for (int i = 0; i < 3000; ++i) {
      out << text;
      out.put('\n');
      expected += text + '\n';
    }
  });
  std::ifstream in{path, std::ios::binary};
  CHECK(std::string{std::istreambuf_iterator<char>{in}, {}} == expected);
}
