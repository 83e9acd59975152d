// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace rondo {

/// A growing array, with the names of std::vector's members, of which it has those that set-up code needs. Elements are
/// default-constructible and assignable; bools are bools; pointers are the iterators. Usable in constant expressions.
///
/// Why not std::vector: its header costs everybody who includes it 50 ms of compile time, and each type of element 10
/// ms more; this costs a tenth of that.
///
/// Thread safety: as std::vector. Errors: std::bad_alloc. Cost: push_back and append are amortised O(1) for each
/// element; capacity is default-constructed before it is used.
template <class T>
class List {
 public:
  /// The type of an element.
  using value_type = T;
  /// Elements lie side by side.
  using iterator = T*;
  /// The same, read only.
  using const_iterator = const T*;

  constexpr List() noexcept = default;
  constexpr explicit List(std::size_t size) { resize(size); }
  constexpr List(std::size_t size, const T& value) { assign(size, value); }
  constexpr List(std::initializer_list<T> values) { append(values.begin(), values.size()); }
  constexpr List(const T* first, const T* last) { append(first, static_cast<std::size_t>(last - first)); }
  /// From a std::vector, a span: what lies side by side.
  template <class Range>
  requires requires(const Range& range) {
    static_cast<const T*>(range.data());
    range.size();
  }
  constexpr List(const Range& range) {  // NOLINT: as good as a copy
    append(range.data(), range.size());
  }
  constexpr List(const List& other) { append(other.data_, other.size_); }
  constexpr List(List&& other) noexcept { swap(other); }
  constexpr List& operator=(const List& other) {
    if (this == &other) return *this;
    clear();
    append(other.data_, other.size_);
    return *this;
  }
  constexpr List& operator=(List&& other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~List() { delete[] data_; }

  /// How many elements.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  /// Are there none?
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  /// The first element; null if nothing was ever put in.
  [[nodiscard]] constexpr T* data() noexcept { return data_; }
  /// The first element; null if nothing was ever put in.
  [[nodiscard]] constexpr const T* data() const noexcept { return data_; }
  /// The first element.
  [[nodiscard]] constexpr T* begin() noexcept { return data_; }
  /// Behind the last element.
  [[nodiscard]] constexpr T* end() noexcept { return data_ + size_; }
  /// The first element.
  [[nodiscard]] constexpr const T* begin() const noexcept { return data_; }
  /// Behind the last element.
  [[nodiscard]] constexpr const T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] constexpr T& operator[](std::size_t i) noexcept { return data_[i]; }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  /// The first element, of at least one.
  [[nodiscard]] constexpr T& front() noexcept { return data_[0]; }
  /// The first element, of at least one.
  [[nodiscard]] constexpr const T& front() const noexcept { return data_[0]; }
  /// The last element, of at least one.
  [[nodiscard]] constexpr T& back() noexcept { return data_[size_ - 1]; }
  /// The last element, of at least one.
  [[nodiscard]] constexpr const T& back() const noexcept { return data_[size_ - 1]; }

  /// Makes room for so many in all, or for twice of what there was room for, so that room for one more is amortised
  /// O(1), too. @throws std::bad_alloc
  constexpr void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    if (capacity < 2 * capacity_) capacity = 2 * capacity_;
    T* const more = new T[capacity]();
    for (std::size_t i = 0; i < size_; ++i) more[i] = std::move(data_[i]);
    delete[] data_;
    data_ = more;
    capacity_ = capacity;
  }
  /// Adds one at the end; `value` may be one of the list. @throws std::bad_alloc
  constexpr void push_back(T value) {
    grow();
    data_[size_++] = std::move(value);
  }
  /// Adds T{args...} at the end. @throws std::bad_alloc
  template <class... Args>
  constexpr T& emplace_back(Args&&... args) {
    push_back(T{std::forward<Args>(args)...});
    return back();
  }
  /// Drops the last one, of at least one.
  constexpr void pop_back() noexcept { drop(size_ - 1); }
  /// Drops all; the memory is kept.
  constexpr void clear() noexcept { drop(0); }
  /// Drops the last ones, or adds copies of `value`. @throws std::bad_alloc
  constexpr void resize(std::size_t size, const T& value = T{}) {
    reserve(size);
    if (size_ > size) drop(size);
    while (size_ < size) data_[size_++] = value;
  }
  /// So many copies of `value`, and nothing else. @throws std::bad_alloc
  constexpr void assign(std::size_t size, const T& value) {
    clear();
    resize(size, value);
  }
  /// Puts `value`, which may be one of the list, before an element. O(what is behind). @throws std::bad_alloc
  constexpr T* insert(const T* before, T value) {
    const auto at = static_cast<std::size_t>(before - data_);
    grow();
    for (std::size_t i = size_++; i > at; --i) data_[i] = std::move(data_[i - 1]);
    data_[at] = std::move(value);
    return data_ + at;
  }
  /// Behind all there are; `from` is not of this list.
  constexpr void append(const T* from, std::size_t count) {
    reserve(size_ + count);
    for (std::size_t i = 0; i < count; ++i) data_[size_++] = from[i];
  }
  /// Drops one and moves up those behind it. O(what is behind)
  constexpr T* erase(const T* at) noexcept {
    const auto i = static_cast<std::size_t>(at - data_);
    for (std::size_t k = i; k + 1 < size_; ++k) data_[k] = std::move(data_[k + 1]);
    pop_back();
    return data_ + i;
  }

  /// To a std::vector, or what else grows.
  template <class Other>
  requires requires(Other& other, const T& value) { other.push_back(value); }
  constexpr operator Other() const {  // NOLINT: as good as a copy
    Other other;
    for (const T& each : *this) other.push_back(each);
    return other;
  }

  /// Against anything with size() and [].
  template <class Range>
  friend constexpr bool operator==(const List& a, const Range& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size_; ++i) {
      if (!(a.data_[i] == b[i])) return false;
    }
    return true;
  }

 private:
  /// Keeps the first `size`; what the others own is given back.
  constexpr void drop(std::size_t size) noexcept {
    if constexpr (!std::is_trivially_copyable_v<T>) {
      for (std::size_t i = size; i < size_; ++i) data_[i] = T{};
    }
    size_ = size;
  }
  constexpr void swap(List& other) noexcept {
    T* const data = data_;
    const std::size_t size = size_, capacity = capacity_;
    data_ = other.data_, size_ = other.size_, capacity_ = other.capacity_;
    other.data_ = data, other.size_ = size, other.capacity_ = capacity;
  }
  constexpr void grow() {
    if (size_ == capacity_) reserve(capacity_ == 0 ? 4 : size_ + 1);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace rondo
