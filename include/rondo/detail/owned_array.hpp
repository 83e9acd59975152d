// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/slice.hpp>

#include <cstddef>

namespace rondo::detail {

/// A heap array whose size is fixed when it is made: what the hot path keeps of the set-up. A std::vector in a hot-path
/// header would cost its users 5,000 more preprocessed lines and could grow, which nothing there may.
template <class T>
class OwnedArray {
 public:
  OwnedArray() noexcept = default;
  explicit OwnedArray(std::size_t size) : data_{size == 0 ? nullptr : new T[size]()}, size_{size} {}

  template <class Range>
  static OwnedArray copy_of(const Range& range) {
    OwnedArray array(range.size());
    std::size_t i = 0;
    for (const auto& value : range) array.data_[i++] = value;
    return array;
  }

  OwnedArray(OwnedArray&& other) noexcept { swap(other); }
  OwnedArray& operator=(OwnedArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~OwnedArray() { delete[] data_; }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T* begin() noexcept { return data_; }
  [[nodiscard]] T* end() noexcept { return data_ + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data_; }
  [[nodiscard]] const T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] Slice<const T> slice() const noexcept { return {data(), size_}; }

 private:
  void swap(OwnedArray& other) noexcept {
    T* const data = data_;
    const std::size_t size = size_;
    data_ = other.data_, size_ = other.size_;
    other.data_ = data, other.size_ = size;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rondo::detail
