// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/problem.hpp>
#include <rondo/search/fixed_offsets.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rondo::search {

using memory::Buffer;
using memory::Conflict;
using memory::Plan;
using memory::Problem;
using memory::Span;

/// A problem read from a file, with the names and line numbers of its buffers.
struct NamedProblem {
  Problem problem{};
  std::vector<std::string> names{};
  std::vector<std::size_t> lines{};  ///< the line numbers, counted from 1
};

namespace detail {

/// Reads lifetimes line by line; see read_lifetimes.
class LifetimeReader {
 public:
  explicit LifetimeReader(std::string_view text) : rest_{text} {
    if (rest_.substr(0, 3) == "\xEF\xBB\xBF") rest_.remove_prefix(3);  // a byte order mark
  }

  NamedProblem read() {
    if (!next_line()) throw Error{Errc::invalid_argument, Error::Text{"line 1: the file is empty; expected a header"}};
    read_header();
    while (next_line()) read_buffer();
    check_fixed_offsets();
    return std::move(result_);
  }

 private:
  enum Column : std::size_t { id, lower, upper, size, offset, alignment, gaps, columns };
  static constexpr std::array<std::string_view, columns> titles{"id",     "lower",     "upper", "size",
                                                                "offset", "alignment", "gaps"};
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);

  [[noreturn]] void refuse(std::string_view field, std::string_view what, std::string_view value = {},
                           Errc code = Errc::invalid_argument) const {
    Error::Text text{"line ", line_, ", ", field, ": ", what};
    if (!value.empty()) {
      text.append(" (found \"");
      text.append(value.substr(0, 80));
      text.append("\")");
    }
    throw Error{code, text};
  }

  static std::string_view trimmed(std::string_view s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
    return s;
  }

  /// Splits the next line that is not blank into fields_; false at the end of the text.
  bool next_line() {
    while (!rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      std::string_view line = trimmed(rest_.substr(0, end));
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++line_;
      if (line.empty()) continue;
      fields_.clear();
      for (;;) {
        const std::size_t comma = line.find(',');
        fields_.push_back(trimmed(line.substr(0, comma)));
        if (comma == std::string_view::npos) return true;
        line.remove_prefix(comma + 1);
      }
    }
    return false;
  }

  void read_header() {
    column_.fill(absent);
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const auto title = std::find(titles.begin(), titles.end(), fields_[f]);
      if (title == titles.end()) {
        refuse("header", "unknown column; known are id, lower, upper, size, offset, alignment, gaps", fields_[f]);
      }
      std::size_t& column = column_[static_cast<std::size_t>(title - titles.begin())];
      if (column != absent) refuse("header", "a column appears twice", fields_[f]);
      column = f;
    }
    for (const Column c : {id, lower, upper, size}) {
      if (column_[c] == absent) refuse("header", "a column is missing; add it", titles[c]);
    }
    width_ = fields_.size();
  }

  [[nodiscard]] std::string_view field(Column c) const {
    return column_[c] == absent ? std::string_view{} : fields_[column_[c]];
  }

  /// Parses an integer at the front of `text` and removes it.
  std::int64_t take_integer(Column c, std::string_view& text) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) {
      refuse(titles[c], "the number does not fit into 63 bits", text, Errc::overflow);
    }
    if (error != std::errc{}) refuse(titles[c], "expected an integer", text.empty() ? "nothing" : text);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
  }

  std::int64_t integer(Column c) const {
    std::string_view text = field(c);
    const std::int64_t value = take_integer(c, text);
    if (!text.empty()) refuse(titles[c], "expected an integer", field(c));
    return value;
  }

  void read_buffer() {
    if (fields_.size() != width_) {
      const std::string_view short_of = fields_.size() < width_ ? title_of(fields_.size()) : "after the last field";
      refuse(short_of, fields_.size() < width_ ? "the field is missing" : "there are more fields than columns");
    }
    Buffer b;
    if (field(id).empty()) refuse("id", "expected a name", "nothing");
    const auto [known, is_new] = line_of_.emplace(std::string{field(id)}, line_);
    if (!is_new) {
      throw Error{Errc::invalid_argument, Error::Text{"line ", line_, ", id: \"", field(id).substr(0, 80),
                                                      "\" stands on line ", known->second, " already"}};
    }
    b.lower = integer(lower);
    b.upper = integer(upper);
    if (b.upper < b.lower) refuse("upper", "the lifetime ends before it starts", field(upper));
    b.size = integer(size);
    if (b.size < 0) refuse("size", "the size is negative", field(size));
    if (!field(alignment).empty()) b.alignment = integer(alignment);
    if (b.alignment <= 0 || (b.alignment & (b.alignment - 1)) != 0) {
      refuse("alignment", "expected a power of two", field(alignment));
    }
    if (!field(offset).empty()) {
      b.fixed_offset = integer(offset);
      if (b.fixed_offset < 0) refuse("offset", "the offset is negative", field(offset));
      if (b.fixed_offset % b.alignment != 0)
        refuse("offset", "the offset is not a multiple of the alignment", field(offset));
    }
    read_gaps(b);
    constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max() / 2;
    if (b.size > limit - b.alignment || total_ > limit - b.size - b.alignment) {
      refuse("size", "the sizes up to here sum to more than 2^62 bytes", field(size), Errc::overflow);
    }
    total_ += b.size + b.alignment;
    if (b.is_fixed() && b.fixed_offset > limit - total_) {
      refuse("offset", "the offset and the sizes exceed 2^62 bytes", field(offset), Errc::overflow);
    }
    result_.problem.buffers.push_back(std::move(b));
    result_.names.emplace_back(field(id));
    result_.lines.push_back(line_);
  }

  [[nodiscard]] std::string_view title_of(std::size_t position) const {
    for (std::size_t c = 0; c < columns; ++c) {
      if (column_[c] == position) return titles[c];
    }
    return "field";
  }

  void read_gaps(Buffer& b) const {
    std::string_view text = field(gaps);
    std::int64_t from = b.lower;
    for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
      Span gap;
      gap.lower = take_integer(gaps, text);
      if (text.empty() || text.front() != '-') refuse("gaps", "expected \"lower-upper\"", field(gaps));
      text.remove_prefix(1);
      gap.upper = take_integer(gaps, text);
      if (!text.empty() && text.front() != ' ') refuse("gaps", "expected a space between two gaps", field(gaps));
      if (gap.upper < gap.lower) refuse("gaps", "a gap ends before it starts", field(gaps));
      if (gap.lower < from || gap.upper > b.upper) {
        refuse("gaps", "the gaps are not ascending, disjoint and within the lifetime", field(gaps));
      }
      from = gap.upper;
      b.gaps.push_back(gap);
    }
  }

  void check_fixed_offsets() {
    const std::optional<Conflict> clash = find_clash_of_fixed(result_.problem);
    if (!clash) return;
    const auto& [first, second] = *clash;
    throw Error{Errc::invalid_argument, Error::Text{"line ", result_.lines[second], ", offset: the fixed bytes of \"",
                                                    result_.names[second], "\" are those of \"", result_.names[first],
                                                    "\" on line ", result_.lines[first], ", while both are in use"}};
  }

  std::string_view rest_;
  std::size_t line_ = 0;
  std::size_t width_ = 0;
  std::int64_t total_ = 0;
  std::array<std::size_t, columns> column_{};
  std::vector<std::string_view> fields_{};
  std::unordered_map<std::string, std::size_t> line_of_{};
  NamedProblem result_{};
};

}  // namespace detail

/// Reads lifetimes: a header with the columns id, lower, upper and size, in any order, and optionally offset (a fixed
/// offset), alignment and gaps ("3-5 8-10"); then one line per buffer. An optional field may be empty. Line ends may be
/// LF or CRLF, and the last may be missing; blank lines are skipped.
///
/// Throws Error, with line and field, if a column or a field is missing, a number is invalid or out of range, an id is
/// repeated, or values or two fixed offsets contradict each other.
[[nodiscard]] inline NamedProblem read_lifetimes(std::string_view text) { return detail::LifetimeReader{text}.read(); }

/// Writes id, lower, upper, size and offset, one line per buffer. The locale of the stream has no effect.
inline void write_offsets(std::ostream& out, const NamedProblem& input, const Plan& plan) {
  out << "id,lower,upper,size,offset\n";
  for (std::size_t i = 0; i < input.problem.size(); ++i) {
    const Buffer& b = input.problem.buffers[i];
    out << input.names[i];
    for (const std::int64_t number : {b.lower, b.upper, b.size, plan.offsets[i]}) out << ',' << std::to_string(number);
    out << '\n';
  }
}

}  // namespace rondo::search
