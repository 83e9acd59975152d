// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

/// What the umbrella needs of <algorithm>. That header costs everybody who includes it 50 ms of compile time, and each
/// order that is sorted by 10 ms more; these cost a tenth of that. Over whatever has data() and size(), in constant
/// expressions too.
namespace rondo::detail {

template <class T>
[[nodiscard]] constexpr T min(T a, T b) noexcept {
  return b < a ? b : a;
}
template <class T>
[[nodiscard]] constexpr T max(T a, T b) noexcept {
  return a < b ? b : a;
}

/// As std::swap, whose constraints cost half a millisecond of compile time for each type.
template <class T>
constexpr void swap(T& a, T& b) {
  T value = std::move(a);
  a = std::move(b);
  b = std::move(value);
}

template <class Range, class Test>
[[nodiscard]] constexpr bool none_of(const Range& range, const Test& test) {
  for (const auto& each : range) {
    if (test(each)) return false;
  }
  return true;
}

/// The order of `<`.
struct Less {
  template <class T>
  constexpr bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

/// Puts the element at `at` where it belongs among the first `count`, of which those below it are a heap already.
template <class T, class Before>
constexpr void sift_down(T* data, std::size_t at, std::size_t count, const Before& before) {
  T value = std::move(data[at]);
  for (std::size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && before(data[child], data[child + 1])) ++child;
    if (!before(value, data[child])) break;
    data[at] = std::move(data[child]);
  }
  data[at] = std::move(value);
}
/// As std::push_heap: of `count` elements all but the last are a heap.
template <class T, class Before = Less>
constexpr void push_heap(T* data, std::size_t count, const Before& before = {}) {
  if (count < 2) return;
  std::size_t at = count - 1;
  T value = std::move(data[at]);
  for (std::size_t parent; at != 0 && before(data[parent = (at - 1) / 2], value); at = parent) {
    data[at] = std::move(data[parent]);
  }
  data[at] = std::move(value);
}
/// As std::pop_heap: the first of `count` elements goes to the end.
template <class T, class Before = Less>
constexpr void pop_heap(T* data, std::size_t count, const Before& before = {}) {
  if (count < 2) return;
  detail::swap(data[0], data[count - 1]);
  sift_down(data, 0, count - 1, before);
}
/// As std::make_heap.
template <class T, class Before = Less>
constexpr void make_heap(T* data, std::size_t count, const Before& before = {}) {
  for (std::size_t at = count / 2; at > 0; --at) sift_down(data, at - 1, count, before);
}

/// Of what is to be sorted, the middle one of three splits the rest; few are sorted by insertion, and what is split
/// badly too often by a heap.
template <class T, class Before>
constexpr void sort_part(T* data, std::size_t count, const Before& before, std::size_t splits_left) {
  while (count > 24) {
    if (splits_left-- == 0) {
      make_heap(data, count, before);
      for (std::size_t left = count; left > 1; --left) pop_heap(data, left, before);
      return;
    }
    // The middle of three goes to the front, so that one that is not below it is behind each of both scans.
    const std::size_t middle = count / 2;
    if (before(data[middle], data[0])) detail::swap(data[middle], data[0]);
    if (before(data[count - 1], data[0])) detail::swap(data[count - 1], data[0]);
    if (before(data[count - 1], data[middle])) detail::swap(data[count - 1], data[middle]);
    detail::swap(data[0], data[middle]);
    std::size_t i = 0, j = count;
    for (;;) {
      do ++i;
      while (before(data[i], data[0]));
      do --j;
      while (before(data[0], data[j]));
      if (i >= j) break;
      detail::swap(data[i], data[j]);
    }
    detail::swap(data[0], data[j]);
    // The larger part goes on here.
    const std::size_t behind = count - j - 1;
    if (j < behind) {
      sort_part(data, j, before, splits_left);
      data += j + 1;
      count = behind;
    } else {
      sort_part(data + j + 1, behind, before, splits_left);
      count = j;
    }
  }
  for (std::size_t i = 1; i < count; ++i) {
    T value = std::move(data[i]);
    std::size_t at = i;
    for (; at != 0 && before(value, data[at - 1]); --at) data[at] = std::move(data[at - 1]);
    data[at] = std::move(value);
  }
}
/// As std::sort, in O(n log n); what is equal in any order.
template <class T, class Before = Less>
constexpr void sort(T* data, std::size_t count, const Before& before = {}) {
  std::size_t splits = 2;
  for (std::size_t n = count; n > 1; n /= 2) splits += 2;
  sort_part(data, count, before, splits);
}
template <class Range, class Before = Less>
requires requires(Range& range) { range.data(); }
constexpr void sort(Range& range, const Before& before = {}) { sort(range.data(), range.size(), before); }

/// Leaves of each run of equal elements the first, as std::unique and erase.
template <class Vector>
constexpr void keep_unique(Vector& sorted) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (kept != 0 && sorted[i] == sorted[kept - 1]) continue;
    if (i != kept) sorted[kept] = std::move(sorted[i]);
    ++kept;
  }
  while (sorted.size() > kept) sorted.pop_back();
}

/// The position of the first element of a sorted range that is not below `value`, or the size: std::lower_bound.
template <class Range, class T>
[[nodiscard]] constexpr std::size_t lower_bound(const Range& sorted, const T& value) {
  std::size_t first = 0;
  for (std::size_t count = sorted.size(); count != 0;) {
    const std::size_t half = count / 2;
    if (sorted[first + half] < value) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}
/// The same for the first element that is above `value`: std::upper_bound.
template <class Range, class T>
[[nodiscard]] constexpr std::size_t upper_bound(const Range& sorted, const T& value) {
  std::size_t first = 0;
  for (std::size_t count = sorted.size(); count != 0;) {
    const std::size_t half = count / 2;
    if (!(value < sorted[first + half])) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

}  // namespace rondo::detail
