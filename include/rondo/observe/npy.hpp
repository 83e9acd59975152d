// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/file.hpp>
#include <rondo/tensor/data_type.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

/// Tensors as files in NumPy's .npy format (specification: numpy.lib.format, version 1.0): `numpy.load` reads them, and
/// files from `numpy.save` can be read here. Little-endian and row-major.
namespace rondo::observe {

static_assert(std::endian::native == std::endian::little, "rondo: .npy files are written as memory is");

/// The name of an element type in .npy files. NumPy has no type for bfloat16, fp8 and fp4: they are raw bytes there,
/// which `array.view(ml_dtypes.bfloat16)` converts to numbers.
[[nodiscard]] constexpr std::string_view npy_type(DataType type) noexcept {
  constexpr std::string_view names[] = {"<f4", "<f2", "<i4", "<i2", "|i1", "|u1", "<V2", "<i8", "<u8",
                                        "<u2", "<u4", "|b1", "|V1", "|V1", "|V1", "<f8", "<c8", "<c16"};
  static_assert(std::size(names) == data_type_count);  // in the order of DataType
  return names[static_cast<std::size_t>(type)];
}

/// The contents of a file; `bytes` are the elements of `shape` in row-major order.
struct NpyArray {
  /// Elements along each dimension.
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

namespace detail {

[[noreturn]] inline void fail_npy(const std::string& path, std::string_view what) {
  throw Error(Errc::invalid_argument, Error::Text{std::string_view{path}, ": ", what});
}

/// Magic number, version, length and dictionary, padded so that the elements start at a multiple of 64.
[[nodiscard]] inline std::string npy_header(DataType type, std::span<const std::int64_t> shape) {
  // (3,) needs a comma at the end, (3, 4) does not.
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", npy_type(type),
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t before = 10;
  text.resize((before + text.size() + 1 + 63) / 64 * 64 - before - 1, ' ');
  text += '\n';
  std::string header{"\x93NUMPY\x01\x00", 8};
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

/// The text after `'key': ` in the header's dictionary.
[[nodiscard]] inline std::string_view npy_value(const std::string& path, std::string_view dictionary,
                                                std::string_view key) {
  const std::size_t at = dictionary.find("'" + std::string{key} + "':");
  if (at == std::string_view::npos) fail_npy(path, "its header has no " + std::string{key});
  dictionary.remove_prefix(at + key.size() + 3);
  dictionary.remove_prefix(std::min(dictionary.find_first_not_of(' '), dictionary.size()));
  return dictionary;
}

}  // namespace detail

/// Writes a tensor, as a whole. `bytes`: its elements, row-major. @throws Error invalid_argument if there can be no
/// such file, out_of_resources if the disk is full
inline void write_npy(const std::string& path, DataType type, std::span<const std::int64_t> shape,
                      std::span<const std::byte> bytes) {
  const std::string header = detail::npy_header(type, shape);
  rondo::detail::NewFile file(path.c_str(), "the tensor cannot be written there");
  file.write(std::as_bytes(std::span(header)));
  file.write(bytes);
  file.commit();
}

/// Reads a tensor whose elements have the type `type`: format versions 1 to 3, row-major, little-endian.
/// @throws Error invalid_argument: no such file, not an .npy file, another element type, truncated;
/// out_of_resources if the disk fails
[[nodiscard]] inline NpyArray read_npy(const std::string& path, DataType type) {
  const std::string all = rondo::detail::read_file(path.c_str(), "the tensor cannot be read");
  const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(all[i])}; };
  if (all.size() < 12 || !all.starts_with("\x93NUMPY")) detail::fail_npy(path, "is no .npy file");
  const std::size_t begin = byte(6) == 1 ? 10 : 12;
  const std::size_t length = byte(8) | byte(9) << 8 | (begin == 12 ? byte(10) << 16 | byte(11) << 24 : 0);
  if (length > all.size() - begin) detail::fail_npy(path, "is cut short in its header");
  const std::string_view dictionary = std::string_view{all}.substr(begin, length);

  const std::string_view descr = detail::npy_value(path, dictionary, "descr");
  const std::string_view want = npy_type(type);
  const bool native = descr.size() > 5 && (descr[1] == '<' || descr[1] == '|');
  if (!native || descr.substr(2, want.size()) != std::string{want.substr(1)} + "'") {
    detail::fail_npy(
        path, fmt::format("holds {}, wanted '{}' for {}", descr.substr(0, descr.find(',')), want, to_string(type)));
  }
  if (!detail::npy_value(path, dictionary, "fortran_order").starts_with("False")) {
    detail::fail_npy(path, "is in column-major order; save numpy.ascontiguousarray of it");
  }
  NpyArray array;
  std::uint64_t size = size_of(type);
  std::string_view shape = detail::npy_value(path, dictionary, "shape");
  if (!shape.starts_with('(')) detail::fail_npy(path, "its header has no shape");
  for (shape.remove_prefix(1); !shape.empty() && shape[0] != ')';) {
    if (shape[0] == ' ' || shape[0] == ',') {
      shape.remove_prefix(1);
      continue;
    }
    std::int64_t extent = -1;
    const auto [end, error] = std::from_chars(shape.data(), shape.data() + shape.size(), extent);
    if (error != std::errc{} || extent < 0 || __builtin_mul_overflow(size, std::uint64_t(extent), &size)) {
      detail::fail_npy(path, "has an invalid shape");
    }
    array.shape.push_back(extent);
    shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
  }
  if (all.size() - begin - length != size) detail::fail_npy(path, "holds fewer or more elements than its shape says");
  array.bytes.resize(size);
  if (size != 0) std::memcpy(array.bytes.data(), all.data() + begin + length, size);
  return array;
}

}  // namespace rondo::observe
