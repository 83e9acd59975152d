// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Runs random rounds for hours, and compares each with plain arithmetic: soak --time 1h --seed 7 Graphs, kinds of
// sessions, engines, shapes, addresses, scalars, costs of tasks and the times of failures are random. It prints a line
// a minute, and fails on the first wrong result, or if memory grows.

#include "lib/soak/world.hpp"

#include <rondo/platform/host/host.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace soak;
using Clock = std::chrono::steady_clock;

template <class Session>
std::unique_ptr<World> make(const char* name, std::uint64_t seed) {
  typename Session::Options options{};
  return std::make_unique<WorldOf<Session>>(fmt::format("{}, session seed {}", name, seed), seed, options);
}
constexpr std::pair<const char*, std::unique_ptr<World> (*)(const char*, std::uint64_t)> kinds[] = {
    {"RoundSession on a2a3_sim", &make<rondo::RoundSession<rondo::A2A3Sim>>},
    {"RoundSession on host, pool", &make<rondo::RoundSession<rondo::HostOn<rondo::Pool>>>},
    {"PipelinedSession on a5_sim, pool", &make<rondo::PipelinedSession<rondo::A5SimOn<rondo::Pool>, 4>>},
    {"ShapedSession on a2a3_sim",
     &make<rondo::ShapedSession<rondo::A2A3Sim, rondo::DefaultPolicies, rondo::launch::Lru<8>>>},
    {"ShapedSession in flight on a5_sim, pool",
     &make<rondo::ShapedSession<rondo::A5SimOn<rondo::Pool>, rondo::DefaultPolicies, rondo::launch::Lru<8>, 3>>},
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

/// The bytes by which memory may grow after the warm-up.
constexpr std::uint64_t most_growth = 1 << 20;

struct Settings {
  double seconds = 3600;
  std::uint64_t seed = 1;
};

int soak_for(const Settings& settings) {
  std::mt19937_64 random{settings.seed};
  Counts counts;
  const auto start = Clock::now();
  const auto seconds_since_start = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  // One line per minute, and at least twelve. The first quarter of the lines is the warm-up.
  const double period = std::min(60.0, settings.seconds / 12);
  std::uint64_t warm = 0, grown = 0;
  // Each kind of session runs once, even if the run is short.
  for (const auto& [name, make_world] : kinds) {
    (void)make_world(name, random())->run(400, counts);
    ++counts.sessions;
  }
  for (int line = 1; seconds_since_start() < settings.seconds; ++line) {
    // Several sessions exist at the same time and take turns.
    std::vector<std::unique_ptr<World>> worlds(4);
    while (seconds_since_start() < period * line) {
      std::unique_ptr<World>& world = worlds[random() % worlds.size()];
      if (!world || random() % 100 == 0) {
        const auto& [name, make_world] = kinds[random() % std::size(kinds)];
        world = make_world(name, random());
        ++counts.sessions;
      }
      if (!world->run(1 + random() % 400, counts)) world.reset();
    }
    worlds.clear();
    task_ns = 0;
    const std::uint64_t bytes = resident_bytes();
    const bool is_warm = period * line > settings.seconds / 4;
    if (!is_warm) warm = std::max(warm, bytes);
    if (is_warm && bytes > warm) grown = std::max(grown, bytes - warm);
    const double seconds = seconds_since_start();
    fmt::print(
        "{:6.1f} min {:>11} rounds {:>8.0f}/s {:>7} sessions {:>6} failures {:>6} refusals {:>8} on device  {:.2f} "
        "MiB\n",
        seconds / 60, counts.rounds, static_cast<double>(counts.rounds) / seconds, counts.sessions, counts.failed,
        counts.refused, counts.on_device, static_cast<double>(bytes) / (1 << 20));
    std::fflush(stdout);
  }
  fmt::print("{} rounds, all as they must be; memory grew by {:.2f} MiB after the warm-up\n", counts.rounds,
             static_cast<double>(grown) / (1 << 20));
  if (grown > most_growth) {
    fmt::print(stderr, "soak: memory grew by more than {} MiB\n", most_growth >> 20);
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Runs rounds with random everything, compares each with plain arithmetic, and watches memory.", "soak"};
  Settings settings;
  app.add_option("--time", settings.seconds, "how long, such as 1h or 90s")
      ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}},
                                        CLI::AsNumberWithUnit::DEFAULT, "TIME")
                      .description(""))
      ->check(CLI::Range(1.0, 1e9).description(""))
      ->type_name("TIME")
      ->default_str("1h");
  app.add_option("--seed", settings.seed, "where the random numbers start")
      ->envname("RONDO_SEED")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    return soak_for(settings);
  } catch (const std::exception& error) {
    fmt::print(stderr, "soak: {}\nsoak: run it again with --seed {}\n", error.what(), settings.seed);
    return 1;
  }
}
