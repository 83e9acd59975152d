// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace rondo {

/// A symbolic size: a symbol of a graph, or an expression of symbols and whole numbers. It is a value that does not
/// refer to a graph; TaskGraph::dim() and the operators below create it. The expression is stored in postfix order. An
/// expression of more than `capacity` parts is invalid, and its use is an error.
class Dim {
 public:
  /// The largest number of parts of an expression.
  static constexpr std::size_t capacity = 11;
  /// The largest number of symbols of a graph.
  static constexpr std::int32_t max_symbols = 32;
  /// The operators of an expression.
  enum class Op : std::int32_t { add, sub, mul, floor_div, ceil_div, min, max };

  constexpr Dim() noexcept = default;
  /// The symbol with this number. Use TaskGraph::dim() instead.
  static constexpr Dim symbol(std::int32_t number) noexcept {
    Dim d;
    d.parts_[d.size_++] = -1 - number;
    return d;
  }
  template <std::integral Integer>
  constexpr Dim(Integer n) noexcept {  // NOLINT(google-explicit-constructor)
    const auto value = static_cast<std::int64_t>(n);
    if (value < 0 || value > 0x7FFF'FFFF) {
      size_ = too_many;
    } else {
      parts_[size_++] = static_cast<std::int32_t>(value);
    }
  }

  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  /// Whether the expression has at most `capacity` parts and all numbers are in range. Graphs refuse it otherwise.
  [[nodiscard]] constexpr bool valid() const noexcept { return size_ <= capacity; }
  /// The number of the symbol if the expression is a single symbol; -1 otherwise.
  [[nodiscard]] constexpr std::int32_t as_symbol() const noexcept {
    return size_ == 1 && is_symbol(parts_[0]) ? -1 - parts_[0] : -1;
  }
  /// Whether a symbol is part of the expression; without one, its value is known.
  [[nodiscard]] constexpr bool has_symbols() const noexcept {
    for (std::size_t i = 0; i < size_ && valid(); ++i) {
      if (is_symbol(parts_[i])) return true;
    }
    return false;
  }
  /// Calls visit(number) for each symbol of the expression.
  template <class Visit>
  constexpr void for_each_symbol(Visit&& visit) const {
    for (std::size_t i = 0; i < size_ && valid(); ++i) {
      if (is_symbol(parts_[i])) visit(-1 - parts_[i]);
    }
  }

  /// The value of an expression; `ok` is false if an intermediate result does not fit into 64 bits, or a divisor is 0.
  struct Value {
    std::int64_t value = 0;
    bool ok = true;
  };
  /// Evaluates the expression; `symbols` holds the values of the symbols, indexed by their numbers. O(parts).
  [[nodiscard]] constexpr Value evaluate(const std::int64_t* symbols) const noexcept {
    std::int64_t stack[capacity] = {};
    std::size_t top = 0;
    bool ok = valid() && size_ != 0;
    for (std::size_t i = 0; i < size_ && ok; ++i) {
      const std::int32_t part = parts_[i];
      if (part >= 0) {
        stack[top++] = part;
      } else if (is_symbol(part)) {
        stack[top++] = symbols[-1 - part];
      } else {
        const std::int64_t b = stack[--top];
        ok = apply(static_cast<Op>(-1 - max_symbols - part), stack[top - 1], b);
      }
    }
    return {ok ? stack[0] : 0, ok};
  }

  friend constexpr Dim operator+(const Dim& a, const Dim& b) noexcept { return {a, b, Op::add}; }
  friend constexpr Dim operator-(const Dim& a, const Dim& b) noexcept { return {a, b, Op::sub}; }
  friend constexpr Dim operator*(const Dim& a, const Dim& b) noexcept { return {a, b, Op::mul}; }
  /// The quotient, rounded down. Defined for numbers that are not negative.
  friend constexpr Dim operator/(const Dim& a, const Dim& b) noexcept { return {a, b, Op::floor_div}; }
  /// a / b, rounded up.
  friend constexpr Dim ceil_div(const Dim& a, const Dim& b) noexcept { return {a, b, Op::ceil_div}; }
  friend constexpr Dim min(const Dim& a, const Dim& b) noexcept { return {a, b, Op::min}; }
  friend constexpr Dim max(const Dim& a, const Dim& b) noexcept { return {a, b, Op::max}; }
  friend constexpr bool operator==(const Dim&, const Dim&) noexcept = default;

 private:
  static constexpr std::uint32_t too_many = capacity + 1;

  constexpr Dim(const Dim& a, const Dim& b, Op op) noexcept {
    if (a.empty() || b.empty() || a.size_ + b.size_ + 1 > capacity) {
      size_ = too_many;
      return;
    }
    for (std::size_t i = 0; i < a.size_; ++i) parts_[size_++] = a.parts_[i];
    for (std::size_t i = 0; i < b.size_; ++i) parts_[size_++] = b.parts_[i];
    parts_[size_++] = -1 - max_symbols - static_cast<std::int32_t>(op);
  }
  static constexpr bool is_symbol(std::int32_t part) noexcept { return part < 0 && part >= -max_symbols; }

  static constexpr bool apply(Op op, std::int64_t& a, std::int64_t b) noexcept {
    switch (op) {
      case Op::add: return !__builtin_add_overflow(a, b, &a);
      case Op::sub: return !__builtin_sub_overflow(a, b, &a);
      case Op::mul: return !__builtin_mul_overflow(a, b, &a);
      case Op::floor_div:
      case Op::ceil_div:
        if (b <= 0 || a < 0) return false;
        a = a / b + (op == Op::ceil_div && a % b != 0 ? 1 : 0);
        return true;
      case Op::min: a = b < a ? b : a; return true;
      case Op::max: a = b > a ? b : a; return true;
    }
    return false;
  }

  std::int32_t parts_[capacity] = {};  ///< a whole number, -1 - symbol, or -1 - max_symbols - operator
  std::uint32_t size_ = 0;
};

/// One dimension of a SymbolicShape: an integer, or an expression of symbols. An expression of numbers alone becomes
/// its value. A value that is negative or beyond 2^63-1, or that an expression does not have, becomes -1, which graphs
/// refuse.
struct Extent {
  std::int64_t value = 0;  ///< of a plain extent
  Dim dim{};               ///< of a symbolic extent; empty otherwise

  template <std::integral Integer>
  constexpr Extent(Integer n) noexcept : value{static_cast<std::int64_t>(n)} {  // NOLINT(google-explicit-constructor)
    if (value < 0) value = -1;
  }
  constexpr Extent(const Dim& d) noexcept {  // NOLINT(google-explicit-constructor)
    if (d.has_symbols() || !d.valid()) {
      dim = d;
    } else {
      const Dim::Value found = d.evaluate(nullptr);
      value = found.ok && found.value >= 0 ? found.value : -1;
    }
  }
};

/// The extents of a tensor as a graph declares them: integers, or expressions of the graph's symbols. A Shape converts
/// to one.
class SymbolicShape {
 public:
  constexpr SymbolicShape() noexcept = default;
  constexpr SymbolicShape(const Shape& plain) noexcept : plain_{plain} {}  // NOLINT(google-explicit-constructor)
  constexpr SymbolicShape(std::initializer_list<Extent> extents) noexcept
      : SymbolicShape{extents.begin(), extents.size()} {}
  /// Creates a shape of `rank` extents.
  constexpr SymbolicShape(const Extent* extents, std::size_t rank) noexcept {
    std::int64_t plain[max_rank] = {};
    for (std::size_t d = 0; d < rank && d < max_rank; ++d) {
      if (extents[d].dim.empty()) plain[d] = extents[d].value;
      dims_[d] = extents[d].dim;
      symbolic_ = symbolic_ || !extents[d].dim.empty();
    }
    plain_ = Shape(plain, rank);
  }

  /// The rank. May exceed max_rank; the graph refuses such a shape.
  [[nodiscard]] constexpr std::size_t rank() const noexcept { return plain_.rank(); }
  /// The number of elements along dimension `d`, if that is an integer.
  [[nodiscard]] constexpr std::int64_t extent(std::size_t d) const noexcept { return plain_.extent(d); }
  /// Whether any extent is an expression.
  [[nodiscard]] constexpr bool is_symbolic() const noexcept { return symbolic_; }
  /// The expression of dimension `d`; empty for an integer.
  [[nodiscard]] constexpr const Dim& dim(std::size_t d) const noexcept { return dims_[d]; }
  /// The extents that are integers; 0 in place of each expression.
  [[nodiscard]] constexpr const Shape& plain() const noexcept { return plain_; }
  /// The number of elements along dimension `d` for these values of the symbols, by number.
  [[nodiscard]] constexpr Dim::Value evaluate(std::size_t d, const std::int64_t* symbols) const noexcept {
    return dims_[d].empty() ? Dim::Value{plain_.extent(d), true} : dims_[d].evaluate(symbols);
  }

  friend constexpr bool operator==(const SymbolicShape&, const SymbolicShape&) noexcept = default;

 private:
  Shape plain_;
  Dim dims_[max_rank] = {};
  bool symbolic_ = false;
};

}  // namespace rondo
