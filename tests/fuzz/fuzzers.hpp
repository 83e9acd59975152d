// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// CMakeLists.txt gives each fuzzer's entry a name of its own.
#define RONDO_FUZZERS(each)                                                                               \
  each(args_format) each(dlpack) each(expressions) each(lifetimes) each(manifest) each(npy) each(records) \
      each(saved_session) each(sessions)
#define RONDO_DECLARE(name) extern "C" int rondo_fuzz_##name(const std::uint8_t* data, std::size_t size);
RONDO_FUZZERS(RONDO_DECLARE)
#undef RONDO_DECLARE
#define RONDO_ENTRY(name) {#name, &rondo_fuzz_##name},

namespace rondo::fuzz {

struct Fuzzer {
  std::string name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

/// All fuzzers, in the order of their names.
inline const std::vector<Fuzzer>& fuzzers() {
  static const std::vector<Fuzzer> all{RONDO_FUZZERS(RONDO_ENTRY)};
  return all;
}
#undef RONDO_ENTRY
#undef RONDO_FUZZERS

}  // namespace rondo::fuzz
