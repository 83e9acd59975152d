// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// All fuzzers in one program of libFuzzer: the environment variable RONDO_FUZZER names the one to run.

// The precompiled headers of the tests have doctest, whose functions are then asked for.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <fuzz/fuzzers.hpp>

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

[[nodiscard]] const rondo::fuzz::Fuzzer& chosen() {
  const char* const name = std::getenv("RONDO_FUZZER");
  for (const rondo::fuzz::Fuzzer& fuzzer : rondo::fuzz::fuzzers()) {
    if (name != nullptr && fuzzer.name == name) return fuzzer;
  }
  std::fprintf(stderr, "RONDO_FUZZER is '%s'; it must name one of:", name == nullptr ? "" : name);
  for (const rondo::fuzz::Fuzzer& fuzzer : rondo::fuzz::fuzzers()) std::fprintf(stderr, " %s", fuzzer.name.c_str());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rondo::fuzz::Fuzzer& fuzzer = chosen();
  return fuzzer.run(data, size);
}
