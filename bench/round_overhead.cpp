// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The overhead of a round: a hand-written round next to that of a session, over the same memory.
//   round/raw        memcpy in, call, memcpy out
//   round/rondo      A2A3Sim, Inline engine, bindings checked each round
//   round/prebound   the same, bindings checked once
//   round/null       NullPlatform: the session alone

#include "round_cases.hpp"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

namespace {

using round_cases::RawCase;
using round_cases::RondoCase;

void run(benchmark::State& state, auto&& round) {
  for (auto _ : state) {
    round();
    benchmark::ClobberMemory();
  }
}

// The rivals of a case share one session and its host memory: the address of 16 MiB changes a round's time by half.
template <std::size_t K>
void register_cases(std::size_t bytes) {
  const std::string tail = "/k:" + std::to_string(K) + "/bytes:" + std::to_string(bytes);
  const auto rondo = std::make_shared<RondoCase<rondo::A2A3Sim, K>>(bytes);
  benchmark::RegisterBenchmark(("round/raw" + tail).c_str(), [rondo](benchmark::State& state) {
    RawCase raw(*rondo);
    run(state, [&] { raw.round(); });
  });
  benchmark::RegisterBenchmark(("round/rondo" + tail).c_str(), [rondo](benchmark::State& state) {
    run(state, [&] {
      if (!rondo->round()) state.SkipWithError("a round failed");
    });
  });
  benchmark::RegisterBenchmark(("round/prebound" + tail).c_str(), [rondo](benchmark::State& state) {
    const auto binding = rondo->prebind();
    run(state, [&] {
      if (!rondo->session().run_round(binding)) state.SkipWithError("a round failed");
    });
  });
  benchmark::RegisterBenchmark(("round/null" + tail).c_str(), [bytes](benchmark::State& state) {
    RondoCase<rondo::NullPlatform, K> null(bytes);
    run(state, [&] {
      if (!null.round()) state.SkipWithError("a round failed");
    });
  });
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t bytes : {64UL, 4096UL, 1048576UL}) {
    register_cases<1>(bytes);
    register_cases<4>(bytes);
    register_cases<16>(bytes);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
