// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "folder.hpp"

#include <rondo/observe/npy.hpp>

#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace rondo;
using namespace rondo::observe;
using namespace rondo::test;

namespace {

std::vector<std::byte> some_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 37 + 1);
  return bytes;
}

void overwrite(const std::string& path, const std::string& contents) {
  std::ofstream{path, std::ios::binary} << contents;
}

}  // namespace

TEST_CASE("Every element type is read back as it was written") {
  const Folder folder;
  for (std::size_t t = 0; t < data_type_count; ++t) {
    const auto type = static_cast<DataType>(t);
    CAPTURE(to_string(type));
    const std::string path = folder / (std::string{to_string(type)} + ".npy");
    const auto bytes = some_bytes(6 * size_of(type));
    write_npy(path, type, std::vector<std::int64_t>{2, 3}, bytes);
    const NpyArray array = read_npy(path, type);
    CHECK(array.shape == std::vector<std::int64_t>{2, 3});
    CHECK(array.bytes == bytes);
  }
}

TEST_CASE("Shapes of every rank are read back, and the elements start at a multiple of 64") {
  const Folder folder;
  const std::string path = folder / "a.npy";
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{}, {3}, {1}, {2, 2}, {0, 4}, {1, 2, 3, 4, 5}}) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    write_npy(path, DataType::int16, shape, some_bytes(2 * count));
    CHECK(read_npy(path, DataType::int16).shape == shape);
    CHECK(std::filesystem::file_size(path) % 64 == (2 * count) % 64);
  }
}

TEST_CASE("The header is a Python dictionary of what the format's specification demands") {
  const Folder folder;
  struct Case {
    DataType type;
    std::vector<std::int64_t> shape;
    const char* expected;
  };
  for (const Case& c : {Case{DataType::float32, {2, 3}, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}"},
                        Case{DataType::bfloat16, {5}, "{'descr': '<V2', 'fortran_order': False, 'shape': (5,)}"},
                        Case{DataType::float16, {}, "{'descr': '<f2', 'fortran_order': False, 'shape': ()}"},
                        Case{DataType::complex64, {2}, "{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}"},
                        Case{DataType::complex128, {1}, "{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}"},
                        Case{DataType::boolean, {7}, "{'descr': '|b1', 'fortran_order': False, 'shape': (7,)}"}}) {
    std::size_t count = 1;
    for (const std::int64_t extent : c.shape) count *= static_cast<std::size_t>(extent);
    const std::string path = folder / "a.npy";
    write_npy(path, c.type, c.shape, some_bytes(count * size_of(c.type)));
    const std::string program =
        "import ast, struct, sys\n"
        "data = open(sys.argv[1], 'rb').read()\n"
        "assert data[:8] == b'\\x93NUMPY\\x01\\x00', data[:8]\n"
        "(length,) = struct.unpack('<H', data[8:10])\n"
        "assert (10 + length) % 64 == 0 and data[9 + length:10 + length] == b'\\n'\n"
        "header = ast.literal_eval(data[10:10 + length].decode('latin1'))\n"
        "assert header == ast.literal_eval(sys.argv[2]), header\n"
        "assert len(data) - 10 - length == int(sys.argv[3])\n";
    overwrite(folder / "check.py", program);
    const std::string command = "python3 '" + (folder / "check.py") + "' '" + path + "' \"" + c.expected + "\" " +
                                std::to_string(count * size_of(c.type));
    CHECK_MESSAGE(std::system(command.c_str()) == 0, c.expected);  // NOLINT: a command of our own
  }
}

TEST_CASE("What is no .npy file of the type is refused with the reason") {
  const Folder folder;
  const std::string path = folder / "a.npy";
  const auto reason = [&](DataType type) { return raised([&] { (void)read_npy(path, type); }).text; };

  CHECK(says(reason(DataType::int32), path, "cannot be read"));
  overwrite(path, "hello, this is text");
  CHECK(says(reason(DataType::int32), "is no .npy file"));

  write_npy(path, DataType::int32, std::vector<std::int64_t>{4}, some_bytes(16));
  CHECK(says(reason(DataType::float32), "holds '<i4', wanted '<f4' for float32"));
  CHECK(reason(DataType::int32).empty());

  std::ifstream in{path, std::ios::binary};
  const std::string whole{std::istreambuf_iterator<char>{in}, {}};
  overwrite(path, whole.substr(0, whole.size() - 1));
  CHECK(says(reason(DataType::int32), "fewer or more elements"));
  overwrite(path, whole.substr(0, 40));
  CHECK(says(reason(DataType::int32), "cut short in its header"));

  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = whole;
    changed.replace(changed.find(from), from.size(), to);
    overwrite(path, changed);
  };
  with("'<i4'", "'>i4'");
  CHECK(says(reason(DataType::int32), "holds '>i4'"));
  with("False", "True ");
  CHECK(says(reason(DataType::int32), "column-major"));
  with("(4,)", "(-4)");
  CHECK(says(reason(DataType::int32), "an invalid shape"));
  CHECK(raised([&] { write_npy(folder / "no/such/a.npy", DataType::int8, {}, some_bytes(1)); }).code ==
        Errc::invalid_argument);
}
