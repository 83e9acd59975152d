// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/detail/keywords.hpp>
#include <rondo/args/format.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rondo::args {

namespace detail {

/// Writes as much as fits into a buffer, and counts all characters.
class BufferSink {
 public:
  constexpr explicit BufferSink(std::span<char> out) noexcept : out_{out} {}

  constexpr void append(char c) noexcept {
    if (size_ < out_.size()) out_[size_] = c;
    ++size_;
  }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }

 private:
  std::span<char> out_;
  std::size_t size_ = 0;
};

constexpr void put(BufferSink& sink, std::string_view word) {
  for (const char c : word) sink.append(c);
}

constexpr void put(BufferSink& sink, std::uint64_t number) {
  char digits[20] = {};
  std::size_t n = 0;
  do {
    digits[n++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (n > 0) sink.append(digits[--n]);
}

template <std::size_t N>
constexpr void put_variant(BufferSink& sink, Variant variant, const Suffix (&choices)[N]) {
  for (const Suffix& choice : choices) {
    if (choice.variant == variant) put(sink, choice.word);
  }
}

constexpr void put_rest(BufferSink& sink, const Descriptor& d, Rest rest) {
  switch (rest) {
    case Rest::nothing:
    case Rest::sub_node: return;
    case Rest::index:
    case Rest::index_or_every:
    case Rest::index_and_star:
      if (d.index != every) put(sink, std::uint64_t{d.index});
      if (d.starred) sink.append('*');
      return;
    case Rest::ffts_part: return put_variant(sink, d.variant, ffts_parts);
    case Rest::context_part: return put_variant(sink, d.variant, context_parts);
    case Rest::hidden_family:
      put_variant(sink, d.variant, hidden_families);
      put(sink, std::uint64_t{d.index});
      sink.append('*');
      return;
    case Rest::width:
    case Rest::value:
      if (d.narrow) put(sink, narrow_mark);
      if (rest == Rest::value) put(sink, d.value);
      return;
  }
}

constexpr void put(BufferSink& sink, const Descriptor& d) {
  sink.append('{');
  if (d.node != no_node) {
    put(sink, super_kernel_word);
    put(sink, std::uint64_t{d.node});
  }
  for (const Keyword& keyword : keywords) {
    if (keyword.pattern != d.pattern || keyword.rest == Rest::sub_node) continue;
    put(sink, keyword.word);
    put_rest(sink, d, keyword.rest);
    break;
  }
  sink.append('}');
}

}  // namespace detail

/// Writes the format to `out`, not zero-terminated, and returns the length of the whole text in bytes. If the result
/// exceeds out.size(), the text was truncated. The text is identical to the one that was parsed.
constexpr std::size_t print(FormatView format, std::span<char> out) noexcept {
  detail::BufferSink sink{out};
  for (const Descriptor& d : format) detail::put(sink, d);
  return sink.size();
}

/// The length of the format's text, in bytes.
[[nodiscard]] constexpr std::size_t printed_size(FormatView format) noexcept {
  return print(format, std::span<char>{});
}

namespace detail {
template <auto format>
inline constexpr auto printed_characters = [] {
  std::array<char, printed_size(format) + 1> text{};
  print(format, text);
  return text;
}();
}  // namespace detail

/// The text of a constant format, zero-terminated: `printed<"{i0*}"_args>` or `printed<Kernel::args>`.
template <auto format>
inline constexpr std::string_view printed{detail::printed_characters<format>.data(), printed_size(format)};

}  // namespace rondo::args
