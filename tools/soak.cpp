// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Runs random rounds, and compares each with plain arithmetic: soak --time 1h --seed 7 or soak --rounds 10000000
// Graphs, kinds of sessions, engines, shapes, addresses, scalars, costs of tasks, failures and recoveries are random.
// It prints a line a minute, and fails on the first wrong result, or if memory grows.
//
// The rounds come in chunks. All random numbers of a chunk follow from the seed and the chunk's number, so a chunk can
// be run again alone: a failure prints the command.

#include "lib/soak/world.hpp"

#include <rondo/platform/host/host.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <cuda_stand_in/over_cuda_stand_in.hpp>
#include <stand_in/over_stand_in.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace soak;
using Clock = std::chrono::steady_clock;

template <class Session>
std::unique_ptr<World> make(const char* name, std::uint64_t seed) {
  typename Session::Options options{};
  if constexpr (requires { options.streams; }) options.streams = static_cast<std::uint32_t>(1 + seed % 3);
  return std::make_unique<WorldOf<Session>>(fmt::format("{}, session seed {}", name, seed), seed, options);
}
template <class P, std::size_t depth = 1>
using Shaped = rondo::ShapedSession<P, rondo::DefaultPolicies, rondo::launch::Lru<8>, depth>;
constexpr std::pair<const char*, std::unique_ptr<World> (*)(const char*, std::uint64_t)> kinds[] = {
    {"RoundSession on a2a3_sim", &make<rondo::RoundSession<rondo::A2A3Sim>>},
    {"RoundSession on host, pool", &make<rondo::RoundSession<rondo::HostOn<rondo::Pool>>>},
    {"RoundSession on a5_sim, model", &make<rondo::RoundSession<rondo::A5SimOn<rondo::Model>>>},
    {"RoundSession on a5_sim, checked pool", &make<rondo::RoundSession<rondo::A5SimOn<rondo::Checked<rondo::Pool>>>>},
    {"RoundSession over the stand-in for an NPU", &make<rondo::RoundSession<A2A3OverStandIn>>},
    {"RoundSession over the stand-in for CUDA", &make<rondo::RoundSession<CudaOverStandIn>>},
    {"PipelinedSession on a5_sim, pool", &make<rondo::PipelinedSession<rondo::A5SimOn<rondo::Pool>, 4>>},
    {"PipelinedSession over the stand-in for an NPU", &make<rondo::PipelinedSession<A2A3OverStandIn, 3>>},
    {"ShapedSession on a2a3_sim", &make<Shaped<rondo::A2A3Sim>>},
    {"ShapedSession in flight on a5_sim, pool", &make<Shaped<rondo::A5SimOn<rondo::Pool>, 3>>},
    {"ShapedSession over the stand-in for CUDA", &make<Shaped<CudaOverStandIn>>},
};

/// The memory of this process that is in RAM and no part of a file, in bytes, after the allocator has given back what
/// it can. Pages of the program itself do not count: they are read when they are first used.
std::uint64_t resident_bytes() {
  malloc_trim(0);
  std::ifstream file{"/proc/self/statm"};
  std::uint64_t all = 0, resident = 0, of_files = 0;
  file >> all >> resident >> of_files;
  return (resident - of_files) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// The bytes by which memory may grow after the warm-up: the first quarter of the run, and so many chunks at least.
constexpr std::uint64_t most_growth = 1 << 20;
constexpr std::uint64_t least_warm_up = 100;

constexpr double no_limit = std::numeric_limits<double>::infinity();
constexpr std::uint64_t any_number = ~std::uint64_t{0};

struct Settings {
  double seconds = no_limit;
  std::uint64_t rounds = any_number;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> chunk;  ///< the only one to run
};

/// The seed of a chunk: neighbouring chunks differ in half of its bits.
std::uint64_t seed_of(std::uint64_t seed, std::uint64_t chunk) {
  std::uint64_t x = seed + chunk * 0x9E37'79B9'7F4A'7C15U;
  x = (x ^ x >> 30) * 0xBF58'476D'1CE4'E5B9U;
  x = (x ^ x >> 27) * 0x94D0'49BB'1331'11EBU;
  return x ^ x >> 31;
}

/// Nothing in it depends on the time or on earlier chunks.
void run_chunk(std::uint64_t seed, std::uint64_t chunk, Counts& counts) {
  std::mt19937_64 random{seed_of(seed, chunk)};
  task_ns = 0;
  if (chunk < std::size(kinds)) {
    // One session of each kind, so that each runs even if the whole run is short.
    const auto& [name, make_world] = kinds[chunk];
    (void)make_world(name, random())->run(400, counts);
    ++counts.sessions;
    return;
  }
  // Several sessions exist at the same time and take turns.
  std::vector<std::unique_ptr<World>> worlds(4);
  for (int turn = 0; turn < 100; ++turn) {
    std::unique_ptr<World>& world = worlds[random() % worlds.size()];
    if (!world || random() % 100 == 0) {
      const auto& [name, make_world] = kinds[random() % std::size(kinds)];
      world.reset();
      world = make_world(name, random());
      ++counts.sessions;
    }
    if (!world->run(1 + random() % 400, counts)) world.reset();
  }
}

int soak_for(const Settings& settings) {
  Counts counts;
  const auto start = Clock::now();
  const auto seconds_since_start = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  /// How much of the run is over, from 0 to 1.
  const auto progress = [&] {
    return std::max(seconds_since_start() / settings.seconds,
                    static_cast<double>(counts.rounds) / static_cast<double>(settings.rounds));
  };
  double printed = 0;
  bool is_warm = false;
  std::uint64_t warm = 0, grown = 0;
  for (std::uint64_t chunk = settings.chunk.value_or(0); progress() < 1; ++chunk) {
    try {
      run_chunk(settings.seed, chunk, counts);
    } catch (const std::exception& error) {
      fmt::print(stderr, "soak: {}\nsoak: run it again with --seed {} --chunk {}\n", error.what(), settings.seed,
                 chunk);
      return 1;
    }
    if (settings.chunk) break;
    rondo_stand_in_reset();  // their logs
    rondo_cuda_stand_in_reset();
    const std::uint64_t bytes = resident_bytes();
    is_warm = chunk >= least_warm_up && progress() > 0.25;
    if (!is_warm) warm = std::max(warm, bytes);
    if (is_warm && bytes > warm) grown = std::max(grown, bytes - warm);
    const double seconds = seconds_since_start();
    if (seconds < printed + 60 && progress() < 1) continue;
    printed = seconds;
    fmt::print(
        "{:6.1f} min {:>7} chunks {:>11} rounds {:>8.0f}/s {:>7} sessions {:>6} failures {:>6} recoveries {:>6} moves "
        "{:>6} refusals {:>8} prebound {:>8} on device  {:.2f} MiB\n",
        seconds / 60, chunk + 1, counts.rounds, static_cast<double>(counts.rounds) / seconds, counts.sessions,
        counts.failed, counts.recovered, counts.moved, counts.refused, counts.prebound, counts.on_device,
        static_cast<double>(bytes) / (1 << 20));
    std::fflush(stdout);
  }
  if (grown > most_growth) {
    fmt::print(stderr, "soak: memory grew by {:.2f} MiB after the warm-up, and {} MiB are allowed\n",
               static_cast<double>(grown) / (1 << 20), most_growth >> 20);
    fmt::print(stderr, "soak: run it again with --seed {} --rounds {}\n", settings.seed, counts.rounds);
    return 1;
  }
  const std::string memory =
      is_warm ? fmt::format("memory grew by {:.2f} MiB after the warm-up", static_cast<double>(grown) / (1 << 20))
              : "they were too few to judge memory";
  fmt::print("{} rounds, all as they must be; {}\n", counts.rounds, memory);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Runs rounds with random everything, compares each with plain arithmetic, and watches memory.", "soak"};
  Settings settings;
  app.add_option("--time", settings.seconds, "how long, such as 1h or 90s; without --rounds and --chunk, 1h")
      ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}},
                                        CLI::AsNumberWithUnit::DEFAULT, "TIME")
                      .description(""))
      ->check(CLI::Range(1.0, 1e9).description(""))
      ->type_name("TIME");
  app.add_option("--rounds", settings.rounds, "how many rounds at least")->check(CLI::PositiveNumber.description(""));
  app.add_option("--seed", settings.seed, "where the random numbers start")
      ->envname("RONDO_SEED")
      ->capture_default_str();
  app.add_option("--chunk", settings.chunk, "run only this chunk of rounds, as a failure names it");
  CLI11_PARSE(app, argc, argv);
  if (app.count("--time") + app.count("--rounds") == 0 && !settings.chunk) settings.seconds = 3600;
  return soak_for(settings);
}
