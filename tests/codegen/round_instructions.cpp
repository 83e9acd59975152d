// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Runs `rounds` rounds of one case of round_overhead inside measured(), for an instruction counter to look at.
// Usage: round_instructions <raw|rondo|prebound|null> <1|4|16> <bytes> <rounds>

#include "../../bench/round_cases.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using round_cases::RawCase;
using round_cases::RondoCase;

// Hot: g++ compiles what main() calls once for size, and would open-code memcpy as a loop of one byte per instruction.
template <class Round>
[[gnu::noinline, gnu::hot]] bool measured(long rounds, Round round) {
  bool ok = true;
  for (long i = 0; i < rounds; ++i) ok &= round();
  return ok;
}

template <std::size_t K>
bool run(std::string_view which, std::size_t bytes, long rounds) {
  RondoCase<rondo::A2A3Sim, K> rondo(bytes);
  if (which == "rondo")
    return measured(
        rounds, [&]() __attribute__((always_inline)) { return rondo.round().ok(); });
  if (which == "prebound") {
    const auto binding = rondo.prebind();
    return measured(
        rounds, [&]() __attribute__((always_inline)) { return rondo.session().run_round(binding).ok(); });
  }
  if (which == "null") {
    RondoCase<rondo::NullPlatform, K> null(bytes);
    return measured(
        rounds, [&]() __attribute__((always_inline)) { return null.round().ok(); });
  }
  if (which != "raw") return false;
  RawCase raw(rondo);
  return measured(
      rounds, [&]() __attribute__((always_inline)) {
        raw.round();
        return true;
      });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5)
    return std::fprintf(stderr, "usage: round_instructions <raw|rondo|prebound|null> <1|4|16> <bytes> <rounds>\n"), 2;
  const auto bytes = static_cast<std::size_t>(std::atol(argv[3]));
  const long rounds = std::atol(argv[4]);
  const std::string_view k = argv[2];
  const bool ok = k == "1"   ? run<1>(argv[1], bytes, rounds)
                  : k == "4" ? run<4>(argv[1], bytes, rounds)
                             : k == "16" && run<16>(argv[1], bytes, rounds);
  return ok ? 0 : 1;
}
