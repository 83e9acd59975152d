// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Any sequence of numbers, symbols and operators as a symbolic expression: it is refused, or its value is that of
// arithmetic with more bits, or it has none because a step has none. The same bytes are also taken as the text of
// declarations, which are refused or declare tensors that a graph takes.
#include <fuzz/fuzz.hpp>
#include <rondo/extent.hpp>
#include <src/erased/declaration.hpp>

#include <optional>
#include <utility>
#include <vector>

using namespace rondo;

namespace {

__extension__ using Wide = __int128;
constexpr Wide most = 0x7FFF'FFFF'FFFF'FFFF;

/// An expression, and its value; none: a step has no value, or not one of 64 bits.
struct Known {
  Dim dim;
  std::optional<Wide> value;
  std::size_t parts = 1;
};

std::optional<Wide> fits(Wide value) { return value < -most - 1 || value > most ? std::nullopt : std::optional{value}; }

Known join(const Known& a, const Known& b, unsigned op) {
  const auto with = [&](const Dim& dim, auto compute) {
    return Known{dim, a.value && b.value ? compute(*a.value, *b.value) : std::nullopt, a.parts + b.parts + 1};
  };
  const auto quotient = [](Wide x, Wide y, bool up) -> std::optional<Wide> {
    if (y <= 0 || x < 0) return std::nullopt;
    return up ? (x + y - 1) / y : x / y;
  };
  switch (op % 7) {
    case 0: return with(a.dim + b.dim, [](Wide x, Wide y) { return fits(x + y); });
    case 1: return with(a.dim - b.dim, [](Wide x, Wide y) { return fits(x - y); });
    case 2: return with(a.dim * b.dim, [](Wide x, Wide y) { return fits(x * y); });
    case 3: return with(a.dim / b.dim, [&](Wide x, Wide y) { return quotient(x, y, false); });
    case 4: return with(ceil_div(a.dim, b.dim), [&](Wide x, Wide y) { return quotient(x, y, true); });
    case 5: return with(min(a.dim, b.dim), [](Wide x, Wide y) { return fits(x < y ? x : y); });
    default: return with(max(a.dim, b.dim), [](Wide x, Wide y) { return fits(x < y ? y : x); });
  }
}

void check_expression(fuzz::Bytes bytes) {
  std::int64_t symbols[Dim::max_symbols];
  for (std::int64_t& symbol : symbols) symbol = bytes.take<std::int64_t>() >> (bytes.take() % 64);
  std::vector<Known> stack;
  while (!bytes.empty()) {
    const unsigned kind = bytes.take();
    if (stack.size() >= 2 && kind % 3 == 0) {
      const Known b = stack.back(), a = stack[stack.size() - 2];
      stack.resize(stack.size() - 2);
      stack.push_back(join(a, b, kind / 3));
    } else if (kind % 3 == 1) {
      const auto number = static_cast<std::int32_t>(kind / 3 % Dim::max_symbols);
      stack.push_back({Dim::symbol(number), symbols[number]});
    } else {
      const std::int32_t number = bytes.take<std::int32_t>() & 0x7FFF'FFFF;
      stack.push_back({Dim{number}, number});
    }
    const Known& top = stack.back();
    fuzz::require(top.dim.valid() == (top.parts <= Dim::capacity));
    const Dim::Value value = top.dim.evaluate(symbols);
    fuzz::require(value.ok == (top.dim.valid() && top.value.has_value()));
    if (value.ok) fuzz::require(value.value == *top.value);
    if (!top.dim.valid()) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_expression({data, size});
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::allow_refusal([&] {
    const erased::Declarations found = erased::parse_declarations(text, "the text", {});
    for (const erased::Declaration& each : found.list) {
      for (const Extent& extent : each.extents) fuzz::require(extent.dim.empty() || extent.dim.valid());
    }
  });
  return 0;
}
