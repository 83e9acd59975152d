// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Any text as a line of a log of measurements: no record, or one that is the same after it was written and read again.
#include <fuzz/fuzz.hpp>
#include <rondo/measure/records.hpp>

#include <string_view>
#include <vector>

using namespace rondo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> bytes(data, data + size);  // its own allocation, so that reading past it is seen
  const auto record = measure::from_line({bytes.data(), bytes.size()});
  if (!record) return 0;
  const std::string line = measure::to_line(*record);
  fuzz::require(!line.empty() && line.find('\n') == line.size() - 1);
  const auto again = measure::from_line(line);
  fuzz::require(again && again->task == record->task && again->key == record->key && again->fault == record->fault);
  fuzz::require(again->text == record->text && again->seconds == record->seconds && again->at == record->at);
  fuzz::require(measure::to_line(*again) == line);
  return 0;
}
