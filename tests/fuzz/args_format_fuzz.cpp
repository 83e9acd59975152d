// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Any bytes: either a format that prints back to them, or a failure that lies within them. A format is then laid out
// for a kernel that has a bit of everything, and its slots must tile the block.
// clang++-19 -std=c++20 -fsanitize=fuzzer,address,undefined -Iinclude tests/fuzz/args_format_fuzz.cpp
#include <rondo/args/layout.hpp>
#include <rondo/args/parse.hpp>
#include <rondo/args/print.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using namespace rondo::args;

constexpr Instance shapes[] = {{{1, 40, 1024, 256}}, {}, {{}, false}, {{7}}};
constexpr Parameter parameters[] = {Parameter::required(shapes), Parameter::dynamic(4, shapes),
                                    Parameter::optional(false), Parameter::dynamic(0),
                                    Parameter::optional(true, shapes)};
constexpr SubNode nodes[] = {{1, {parameters, parameters, 2}}};
constexpr Signature kernel{parameters, parameters, 3, nodes};

void require(bool condition) {
  if (!condition) std::abort();
}

void check_failure(const Failure& failure, std::string_view text) {
  require(failure.position < text.size() && failure.length >= 1);
  require(failure.position + failure.length <= text.size());
  require(failure.at >= failure.position && failure.at <= failure.position + failure.length);
  require(!explain(failure, text).empty());
}

void check_layout_of(FormatView format, std::string_view text) {
  const LayoutSize size = measure_layout(format, kernel);
  if (!size) {
    check_failure(size.failure, text);
    require(!explain(size.failure, format).empty());
    return;
  }
  std::vector<Slot> slots(size.slots);
  require(try_lay_out(format, kernel, slots).ok());
  std::uint64_t end = 0;
  for (const Slot& slot : slots) {
    require(slot.offset == end || slot.offset == end + 4);
    end = slot.offset + slot.width;
  }
  require(end == size.bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> bytes(data, data + size);  // its own allocation, so that reading past it is seen
  const std::string_view text{bytes.data(), bytes.size()};
  std::vector<Descriptor> patterns(size / 2);
  const ParseResult result = try_parse(text, patterns);
  if (!result) {
    check_failure(result.failure, text);
    return 0;
  }
  const FormatView format{patterns.data(), result.count};
  std::vector<char> printed(size);
  require(print(format, printed) == size);
  require(size == 0 || std::memcmp(printed.data(), bytes.data(), size) == 0);
  check_layout_of(format, text);
  return 0;
}
