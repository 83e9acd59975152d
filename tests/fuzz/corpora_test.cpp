// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The kept inputs of all fuzzers, whole, by half, and empty. tools/fuzz looks for more.
#include <doctest/doctest.h>
#include <fuzz/fuzzers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

TEST_CASE("No fuzzer finds fault with an input that is kept") {
  const std::filesystem::path folder{RONDO_FUZZ_DIR};
  std::vector<std::string> run, there;
  for (const rondo::fuzz::Fuzzer& fuzzer : rondo::fuzz::fuzzers()) {
    run.push_back(fuzzer.name);
    std::size_t inputs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "corpus" / fuzzer.name)) {
      const std::string path = entry.path().string();
      CAPTURE(path);
      std::ifstream file{path, std::ios::binary};
      const std::vector<char> bytes{std::istreambuf_iterator<char>{file}, {}};
      const std::size_t step = std::max<std::size_t>(1, bytes.size() / 2);
      for (std::size_t size = bytes.size();; size -= std::min(step, size)) {
        CHECK(fuzzer.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), size) == 0);
        if (size == 0) break;
      }
      ++inputs;
    }
    CAPTURE(fuzzer.name);
    CHECK(inputs >= 3);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (name.ends_with("_fuzz.cpp")) there.push_back(name.substr(0, name.size() - 9));
  }
  std::sort(there.begin(), there.end());
  CHECK(run == there);
}
