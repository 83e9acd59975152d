// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// Values as bytes, for files that only the machine that wrote them reads.
namespace rondo::detail {

/// A hash of 64-bit words. Two inputs of the same length that differ in one word never have the same hash.
class Hash {
 public:
  constexpr void add(std::uint64_t word) noexcept {
    value_ = (value_ ^ word) * 0x9E37'79B9'7F4A'7C15U;
    value_ ^= value_ >> 29;
  }
  void add(std::span<const std::byte> bytes) noexcept {
    add(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, bytes.size() - i < sizeof(word) ? bytes.size() - i : sizeof(word));
      add(word);
    }
  }
  void add(std::string_view text) noexcept { add(std::as_bytes(std::span(text.data(), text.size()))); }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0x2545'F491'4F6C'DD1DU;
};

/// Appends values to a sequence of bytes.
class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    put_elements(std::span(&value, 1));
  }
  /// The number of elements, and then the elements.
  template <class T>
  void put_all(std::span<const T> values) {
    put(std::uint64_t{values.size()});
    put_elements(values);
  }
  template <class T>
  void put_all(const std::vector<T>& values) {
    put_all(std::span<const T>(values));
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take() noexcept { return std::move(bytes_); }

 private:
  template <class T>
  void put_elements(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* const first = reinterpret_cast<const std::byte*>(values.data());
    bytes_.insert(bytes_.end(), first, first + values.size_bytes());
  }
  std::vector<std::byte> bytes_;
};

/// Reads what a ByteWriter wrote. Once the bytes do not suffice, each value is zero and ok() is false.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) noexcept : left_{bytes} {}

  template <class T>
  [[nodiscard]] T get() noexcept {
    T value{};
    (void)get_elements(&value, 1);
    return value;
  }
  template <class T>
  [[nodiscard]] std::vector<T> get_all() {
    const auto count = get<std::uint64_t>();
    is_ok_ = is_ok_ && count <= left_.size() / sizeof(T);  // before it is allocated
    std::vector<T> values(is_ok_ ? static_cast<std::size_t>(count) : 0);
    (void)get_elements(values.data(), values.size());
    return values;
  }
  [[nodiscard]] bool ok() const noexcept { return is_ok_; }
  /// Whether all bytes were read, and none was missing.
  [[nodiscard]] bool is_finished() const noexcept { return is_ok_ && left_.empty(); }

 private:
  template <class T>
  bool get_elements(T* to, std::size_t count) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    is_ok_ = is_ok_ && count <= left_.size() / sizeof(T);
    if (!is_ok_ || count == 0) return is_ok_;
    std::memcpy(to, left_.data(), count * sizeof(T));
    left_ = left_.subspan(count * sizeof(T));
    return true;
  }
  std::span<const std::byte> left_;
  bool is_ok_ = true;
};

}  // namespace rondo::detail
