// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Any bytes: either the text of the patterns read from them, or a failure that lies within them. A format is laid out
// for a kernel that has a bit of everything, and its slots must tile the block.
// clang++-19 -std=c++20 -fsanitize=fuzzer,address,undefined -Iinclude tests/fuzz/args_format_fuzz.cpp
#include "../unit/args/random_format.hpp"

#include <rondo/args/layout.hpp>
#include <rondo/args/parse.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace rondo::args;

constexpr rondo::Shape shapes[] = {{1, 40, 1024, 256}, {}, {2, 3}, {7}};
constexpr Parameter parameters[] = {{Occurrence::required, 1, shapes},
                                    {Occurrence::dynamic, 4, shapes},
                                    {Occurrence::optional, 0},
                                    {Occurrence::dynamic, 0},
                                    {Occurrence::optional, 1, shapes}};
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

void check_layout_of(std::string_view format) {
  const LayoutSize size = try_lay_out(format, kernel, {});
  if (!size) return check_failure(size.failure, format);
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
  std::string again;
  const Failure failure = parse(text, [&](const Descriptor& d) { return again += test::text_of(d), Reason::none; });
  if (failure) {
    check_failure(failure, text);
    return 0;
  }
  require(again == text);
  check_layout_of(text);
  return 0;
}
