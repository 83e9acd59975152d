// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "declaration.hpp"

#include "fail.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace rondo::erased {

namespace {

constexpr std::array<std::pair<std::string_view, DataType>, 15> short_names{{{"f32", DataType::float32},
                                                                             {"f16", DataType::float16},
                                                                             {"bf16", DataType::bfloat16},
                                                                             {"f64", DataType::float64},
                                                                             {"c64", DataType::complex64},
                                                                             {"c128", DataType::complex128},
                                                                             {"i8", DataType::int8},
                                                                             {"i16", DataType::int16},
                                                                             {"i32", DataType::int32},
                                                                             {"i64", DataType::int64},
                                                                             {"u8", DataType::uint8},
                                                                             {"u16", DataType::uint16},
                                                                             {"u32", DataType::uint32},
                                                                             {"u64", DataType::uint64},
                                                                             {"bool", DataType::boolean}}};
constexpr std::array<std::pair<std::string_view, Role>, 6> parts{{{"in", Role::in},
                                                                  {"out", Role::out},
                                                                  {"inout", Role::inout},
                                                                  {"resident", Role::resident},
                                                                  {"workspace", Role::workspace},
                                                                  {"host_input", Role::host_input}}};

constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

class Parser {
 public:
  Parser(std::string_view text, std::string_view what, std::vector<std::string> known)
      : text_{text}, what_{what}, result_{{}, std::move(known)} {}

  Declarations parse() {
    skip_spaces();
    if (at_ == text_.size()) fail("nothing is declared; write for example x: in f32[n]");
    for (;;) {
      declaration();
      skip_spaces();
      if (at_ == text_.size()) return std::move(result_);
      if (!take(',')) fail("expected a comma and another declaration, or the end");
    }
  }

 private:
  void declaration() {
    Declaration d;
    skip_spaces();
    d.at = at_;
    d.name = word("the name of a tensor or scalar");
    for (const Declaration& other : result_.list) {
      if (other.name == d.name) fail_here(d.at, d.name.size(), "this name is declared twice; give each its own");
    }
    if (!take(':')) fail("expected a colon after the name");
    skip_spaces();
    std::size_t begin = at_;
    std::string_view next = word("in, out, inout, an element type, or block");
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.first == next; });
    const bool is_tensor = part != parts.end();
    if (next == "block") {
      d.role = Role::block;
    } else {
      if (is_tensor) {
        d.role = part->second;
        skip_spaces();
        begin = at_;
        next = word("an element type");
      }
      if (!find_element(next, d.type)) {
        fail_here(begin, next.size(),
                  is_tensor
                      ? "no such element type; there are f32 f16 bf16 f64 c64 c128 i8 to i64 u8 to u64 bool fp8e4m3fn "
                        "fp8e8m0 fp4e2m1"
                      : "neither in, out, inout, nor an element type such as f32 or i64");
      }
    }
    skip_spaces();
    const std::size_t bracket = at_;
    if (take('[')) {
      if (!is_tensor) fail_here(bracket, 1, "a scalar has no extents; write in, out or inout before the type");
      extents(d);
    } else if (is_tensor) {
      fail("expected the extents of the tensor in brackets, for example [n, 64]");
    }
    result_.list.push_back(std::move(d));
  }

  void extents(Declaration& d) {
    if (take(']')) return;
    for (;;) {
      skip_spaces();
      const std::size_t begin = at_;
      d.extents.push_back(sum());
      if (d.extents.size() > max_rank) fail_here(begin, at_ - begin, "a tensor has at most 5 dimensions");
      if (const Dim& dim = d.extents.back().dim; !dim.empty() && !dim.valid()) {
        fail_here(begin, at_ - begin, "the expression has too many parts, or a number above 2^31-1");
      }
      if (take(']')) return;
      if (!take(',')) fail("expected a comma, or ] after the last extent");
    }
  }

  // Expressions, by falling precedence: an atom, a product, a sum. Numbers alone stay numbers.
  Extent sum() {
    Extent left = product();
    for (;;) {
      if (take('+')) {
        left = combine(left, product(), '+');
      } else if (take('-')) {
        left = combine(left, product(), '-');
      } else {
        return left;
      }
    }
  }
  Extent product() {
    Extent left = atom();
    for (;;) {
      if (take('*')) {
        left = combine(left, atom(), '*');
      } else if (take('/')) {
        left = combine(left, atom(), '/');
      } else {
        return left;
      }
    }
  }
  Extent atom() {
    skip_spaces();
    const std::size_t begin = at_;
    if (take('(')) {
      const Extent inner = nested();
      if (!take(')')) fail("expected )");
      return inner;
    }
    if (at_ < text_.size() && is_digit(text_[at_])) return number();
    const std::string_view name = word("an extent: a number, a symbol or an expression");
    if (!take('(')) return symbol(name, begin);
    const char function = name == "ceil_div" ? 'c' : name == "min" ? 'm' : name == "max" ? 'M' : '\0';
    if (function == '\0') fail_here(begin, name.size(), "no such function; there are ceil_div, min and max");
    const Extent a = nested();
    if (!take(',')) fail("expected a comma and the second argument");
    const Extent b = nested();
    if (!take(')')) fail("expected )");
    return combine(a, b, function);
  }
  /// A sum in parentheses.
  Extent nested() {
    if (++depth_ > most_nested) fail("the expression has more than 64 parentheses in each other");
    const Extent inner = sum();
    --depth_;
    return inner;
  }
  Extent number() {
    std::int64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    const auto size = static_cast<std::size_t>(end - begin);
    if (error != std::errc{}) fail_here(at_, size, "the number does not fit into 64 bits");
    at_ += size;
    return Extent{value};
  }
  Extent symbol(std::string_view name, std::size_t begin) {
    auto place = std::find(result_.symbols.begin(), result_.symbols.end(), name);
    if (place == result_.symbols.end()) {
      if (result_.symbols.size() == static_cast<std::size_t>(Dim::max_symbols)) {
        fail_here(begin, name.size(), "this is the 33rd symbol, and there are at most 32");
      }
      place = result_.symbols.emplace(place, name);
    }
    return Extent{Dim::symbol(static_cast<std::int32_t>(place - result_.symbols.begin()))};
  }
  static Dim dim_of(const Extent& extent) { return extent.dim.empty() ? Dim{extent.value} : extent.dim; }
  static Extent combine(const Extent& a, const Extent& b, char op) {
    const Dim x = dim_of(a);
    const Dim y = dim_of(b);
    const Dim made = op == '+'   ? x + y
                     : op == '-' ? x - y
                     : op == '*' ? x * y
                     : op == '/' ? x / y
                     : op == 'c' ? ceil_div(x, y)
                     : op == 'm' ? min(x, y)
                                 : max(x, y);
    if (!a.dim.empty() || !b.dim.empty()) return Extent{made};
    const Dim::Value value = made.evaluate(nullptr);
    return value.ok ? Extent{value.value} : Extent{made};
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view word(const char* wanted) {
    skip_spaces();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || (at_ > begin && is_digit(text_[at_])))) ++at_;
    if (at_ == begin) {
      const std::string why = std::string("expected ") + wanted;
      fail(why);
    }
    return text_.substr(begin, at_ - begin);
  }
  [[noreturn]] void fail(std::string_view why) const { fail_here(at_, 1, why); }
  [[noreturn]] void fail_here(std::size_t at, std::size_t size, std::string_view why) const {
    fail_at(text_, what_, at, size, why);
  }

  std::string_view text_;
  std::string_view what_;
  Declarations result_;
  std::size_t at_ = 0;
  static constexpr std::uint32_t most_nested = 64;
  std::uint32_t depth_ = 0;
};

}  // namespace

Declarations parse_declarations(std::string_view text, std::string_view what, std::vector<std::string> known) {
  return Parser(text, what, std::move(known)).parse();
}

void fail_at(std::string_view text, std::string_view what, std::size_t at, std::size_t size, std::string_view why) {
  // A window of the text, so that the message holds the place and the caret under it.
  constexpr std::size_t before = 40;
  constexpr std::size_t width = 64;
  const auto is_in_character = [&](std::size_t i) { return i < text.size() && (text[i] & 0xC0) == 0x80; };  // of UTF-8
  std::size_t begin = at > before ? at - before : 0;
  while (begin != 0 && is_in_character(begin)) --begin;
  std::size_t end = std::min(begin + width, text.size());
  while (end > at && is_in_character(end)) --end;
  std::string line(text.substr(begin, end - begin));
  std::replace_if(line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  std::string carets(at - begin, ' ');
  carets.append(std::max<std::size_t>(1, std::min(size, width)), '^');
  erased::fail(Errc::invalid_argument, what, ": ", why, "\n  ", line, "\n  ", carets);
}

bool find_element(std::string_view name, DataType& type) noexcept {
  for (const auto& [text, element] : short_names) {
    if (text == name) return type = element, true;
  }
  for (std::size_t t = 0; t < data_type_count; ++t) {
    if (name == to_string(static_cast<DataType>(t))) return type = static_cast<DataType>(t), true;
  }
  return false;
}

}  // namespace rondo::erased
