// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Runs `rounds` rounds of an onboard session over the stand-in inside measured(), for an instruction counter to look
// at. Usage: onboard_instructions <checked|prebound> <1|4|16> <rounds>

#include "../../bench/round_cases.hpp"
#include "stand_in/over_stand_in.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

template <class Round>
[[gnu::noinline, gnu::hot]] bool measured(long rounds, Round round) {
  bool ok = true;
  for (long i = 0; i < rounds; ++i) ok &= round();
  return ok;
}

template <std::size_t K>
bool run(std::string_view which, long rounds) {
  round_cases::RondoCase<A2A3OverStandIn, K> onboard(4096);
  if (which == "checked") {
    return measured(
        rounds, [&]() __attribute__((always_inline)) { return onboard.round().ok(); });
  }
  const auto binding = onboard.prebind();
  return measured(
      rounds, [&]() __attribute__((always_inline)) { return onboard.session().run_round(binding).ok(); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: onboard_instructions <checked|prebound> <1|4|16> <rounds>\n"), 2;
  const long rounds = std::atol(argv[3]);
  const std::string_view k = argv[2];
  const bool ok = k == "1" ? run<1>(argv[1], rounds) : k == "4" ? run<4>(argv[1], rounds) : run<16>(argv[1], rounds);
  return ok ? 0 : 1;
}
