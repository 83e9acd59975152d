// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace rondo::detail {

/// A part of a text: characters, or a number. Refers to its source, which must outlive it.
class TextPart {
 public:
  constexpr TextPart(const char* text) noexcept : text_{text}, kind_{Kind::terminated} {}  // NOLINT: converts
  constexpr TextPart(std::string_view text) noexcept                                       // NOLINT: converts
      : text_{text.data()}, size_{static_cast<std::uint32_t>(text.size())}, kind_{Kind::view} {}
  constexpr TextPart(char c) noexcept : number_{static_cast<unsigned char>(c)}, kind_{Kind::character} {}  // NOLINT
  template <std::integral Integer>
  constexpr TextPart(Integer value) noexcept  // NOLINT: converts
      : number_{static_cast<std::uint64_t>(value)}, kind_{value < 0 ? Kind::negative : Kind::number} {}
  template <class Text>
    requires(!std::integral<Text> && std::convertible_to<const Text&, std::string_view>)
  constexpr TextPart(const Text& text) noexcept : TextPart{std::string_view{text}} {}  // NOLINT: converts

  /// Calls `append(std::string_view)` with the characters of the part.
  template <class Append>
  constexpr void write(const Append& append) const noexcept {
    if (kind_ == Kind::terminated) return append(std::string_view{text_});
    if (kind_ == Kind::view) return append(std::string_view{text_, size_});
    const char c = static_cast<char>(number_);
    if (kind_ == Kind::character) return append(std::string_view{&c, 1});
    // Like std::to_chars, which is constexpr only from C++23 on.
    char digits[21] = {};
    char* const end = digits + sizeof(digits);
    char* first = end;
    std::uint64_t magnitude = kind_ == Kind::negative ? 0 - number_ : number_;
    do {
      *--first = static_cast<char>('0' + magnitude % 10);
      magnitude /= 10;
    } while (magnitude != 0);
    if (kind_ == Kind::negative) *--first = '-';
    append(std::string_view{first, static_cast<std::size_t>(end - first)});
  }

 private:
  enum class Kind : std::uint8_t { terminated, view, character, number, negative };

  union {
    const char* text_;
    std::uint64_t number_;
  };
  std::uint32_t size_ = 0;
  Kind kind_;
};

/// Zero-terminated text in a buffer of fixed size. Longer text is truncated and ends in "...". Errors hold such text,
/// so reporting one never allocates and copying one never throws.
template <std::size_t Capacity>
class FixedText {
  static_assert(Capacity >= 8);

 public:
  constexpr FixedText() noexcept = default;

  /// Joins the parts: `FixedText{"task ", 3}`. A part is a character, an integer, or anything that converts to
  /// std::string_view. A list and no template, because each combination of types would take the compiler time.
  [[gnu::cold]] constexpr explicit FixedText(std::initializer_list<TextPart> parts) noexcept { append(parts); }
  [[gnu::cold]] constexpr explicit FixedText(TextPart part) noexcept { append({part}); }

  [[gnu::cold, gnu::noinline]] constexpr void append(std::initializer_list<TextPart> parts) noexcept {
    for (const TextPart& part : parts) {
      part.write([this](std::string_view text) { append_characters(text); });
    }
  }
  [[gnu::cold]] constexpr void append(const TextPart& part) noexcept { append({part}); }

  [[nodiscard]] constexpr const char* c_str() const noexcept { return data_; }
  [[nodiscard]] constexpr const char* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr operator std::string_view() const noexcept { return {data_, size_}; }  // NOLINT: what it is

  friend constexpr bool operator==(const FixedText& a, const FixedText& b) noexcept {
    return std::string_view{a} == std::string_view{b};
  }

 private:
  [[gnu::cold]] constexpr void append_characters(std::string_view text) noexcept {
    for (const char c : text) {
      if (size_ + 1 == Capacity) {
        std::size_t dots = Capacity - 4;
        while (dots != 0 && (data_[dots] & 0xC0) == 0x80) --dots;  // a character of UTF-8 is left out as a whole
        for (; dots + 1 < Capacity; ++dots) data_[dots] = '.';
        return;
      }
      data_[size_++] = c;
    }
  }

  std::size_t size_ = 0;
  char data_[Capacity] = {};
};

}  // namespace rondo::detail
