// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>

namespace rondo::detail {

/// Text in a buffer of fixed size, always zero-terminated; what does not fit is cut and the cut marked by "...".
/// Errors are made of it, so that reporting one never allocates (out of memory included) and copying one never throws.
template <std::size_t Capacity>
class FixedText {
  static_assert(Capacity >= 8);

 public:
  constexpr FixedText() noexcept = default;

  /// Appends each part in turn: a string literal, anything with data() and size(), a character, or an integer.
  template <class... Parts>
  constexpr explicit FixedText(const Parts&... parts) noexcept {
    (append(parts), ...);
  }

  constexpr void append(char c) noexcept {
    if (size_ + 1 < Capacity) {
      data_[size_++] = c;
      data_[size_] = '\0';
    } else {
      data_[Capacity - 4] = data_[Capacity - 3] = data_[Capacity - 2] = '.';
    }
  }

  constexpr void append(const char* text) noexcept {
    for (; *text != '\0'; ++text) append(*text);
  }

  template <class Text>
  requires requires(const Text& t) {
    { t.data() } -> std::convertible_to<const char*>;
    { t.size() } -> std::convertible_to<std::size_t>;
  }
  constexpr void append(const Text& text) noexcept {
    for (std::size_t i = 0; i < text.size(); ++i) append(text.data()[i]);
  }

  template <std::integral Integer>
  requires(!std::same_as<Integer, char>) constexpr void append(Integer value) noexcept {
    char digits[24];
    std::size_t n = 0;
    const bool negative = value < 0;
    do {
      const int digit = static_cast<int>(value % 10);
      digits[n++] = static_cast<char>('0' + (negative ? -digit : digit));
      value = static_cast<Integer>(value / 10);
    } while (value != 0);
    if (negative) append('-');
    while (n > 0) append(digits[--n]);
  }

  [[nodiscard]] constexpr const char* c_str() const noexcept { return data_; }
  [[nodiscard]] constexpr const char* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }

  friend constexpr bool operator==(const FixedText& a, const FixedText& b) noexcept {
    for (std::size_t i = 0; i <= a.size_; ++i) {
      if (a.data_[i] != b.data_[i]) return false;
    }
    return true;
  }

 private:
  std::size_t size_ = 0;
  char data_[Capacity] = {};
};

}  // namespace rondo::detail
