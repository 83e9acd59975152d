// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Any bytes as an .npy file, after one that chooses the element type: an Error, or an array that has as many bytes as
// its shape says, and that is the same after it was written and read again.
#include <fuzz/fuzz.hpp>
#include <rondo/observe/npy.hpp>

using namespace rondo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  fuzz::Bytes bytes{data, size};
  const auto type = static_cast<DataType>(bytes.take() % data_type_count);
  const std::string path = folder.write("array.npy", bytes.rest());
  fuzz::allow_refusal([&] {
    const observe::NpyArray array = observe::read_npy(path, type);
    std::uint64_t expected = size_of(type);
    for (const std::int64_t extent : array.shape) {
      fuzz::require(extent >= 0 && !__builtin_mul_overflow(expected, static_cast<std::uint64_t>(extent), &expected));
    }
    fuzz::require(array.bytes.size() == expected);
    observe::write_npy(path, type, array.shape, array.bytes);
    const observe::NpyArray again = observe::read_npy(path, type);
    fuzz::require(again.shape == array.shape && again.bytes == array.bytes);
  });
  return 0;
}
