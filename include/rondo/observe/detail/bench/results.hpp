// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/observe/detail/bench/phase_times.hpp>
#include <rondo/observe/detail/bench/statistics.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

/// The results of a run, and their file, with which a later run is compared.
namespace rondo::observe::detail::bench {

/// The rows of a table, in the order of a round: its values of Phase, then their sum.
inline constexpr std::array<const char*, 7> row_names = {"bind", "refresh",  "copy in", "launch",
                                                         "wait", "copy out", "round"};

/// A phase, or the whole round: nanoseconds of the host's time.
struct Row {
  double median = 0;
  double trimmed_mean = 0;
  double p99 = 0;
  Batches batches{};
};

/// One case on one platform and engine.
struct Result {
  std::string name;      ///< the name of the case
  std::string platform;  ///< the platform and its engine
  std::uint64_t rounds = 0;
  std::array<Row, row_names.size()> rows{};
  double bytes_in = 0;  ///< per round
  double bytes_out = 0;
  double refreshes = 0;
  double device_ns = 0;           ///< the median for the tasks of a round, measured or predicted; 0: neither
  double predicted_round_ns = 0;  ///< for the last round with copies, launch and completion; 0: not predicted
  double control = 0;             ///< nanoseconds for a fixed piece of work, measured before and after each session
};

/// The machine and the program, without which times mean nothing.
struct Host {
  std::string processor;
  unsigned cores = 0;
  double load = 0;  ///< the average number of runnable tasks of the system in the last minute
  std::string compiler;
  bool optimised = false;
  bool steady_clock = false;  ///< whether the processor's counter is steady
  double clock_ns = 0;        ///< the time of one reading, which is part of each phase
  double granule_ns = 0;      ///< the least difference between two readings
};

[[nodiscard]] inline Host this_host() {
  using Clock = TickClock;
  Host host;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; host.processor.empty() && std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) host.processor = line.substr(colon + 2);
  }
  host.cores = std::thread::hardware_concurrency();
  std::ifstream("/proc/loadavg") >> host.load;
#if defined(__clang__)
  host.compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
  host.compiler = "g++ " __VERSION__;
#endif
#ifdef __OPTIMIZE__
  host.optimised = true;
#endif
  host.steady_clock = Clock::is_steady();
  std::vector<double> readings;
  std::uint64_t common = 0;
  for (int i = 0; i < 101; ++i) {
    const std::uint64_t begin = Clock::now();
    for (int k = 0; k < 20; ++k) common = std::gcd(common, Clock::now() - begin);
    readings.push_back(static_cast<double>(Clock::now() - begin) / 21);
  }
  const double ns_per_tick = Clock::timebase().ns_per_tick;
  host.clock_ns = median(readings) * ns_per_tick;
  host.granule_ns = static_cast<double>(common) * ns_per_tick;
  return host;
}

/// Measures how long a fixed piece of work takes (multiplications that depend on each other, and short copies), which
/// shows whether the machine had the same speed in two runs.
inline void time_control(std::vector<double>& ns) {
  using Clock = TickClock;
  static char from[512], to[512];
  const double ns_per_tick = Clock::timebase().ns_per_tick;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t begin = Clock::now();
    std::uint64_t x = 1;
    for (int k = 0; k < 100; ++k) {
      for (int m = 0; m < 10; ++m) {
        x *= 0x9E37'79B9'7F4A'7C15U;
        asm volatile("" : "+r"(x));
      }
      std::memcpy(to, from, sizeof to);
      asm volatile("" : : "r"(to) : "memory");
    }
    ns.push_back(static_cast<double>(Clock::now() - begin) * ns_per_tick);
  }
}

/// Adds a session's rounds, given in ticks, as batches in nanoseconds; `all` collects them for finish().
inline void add_session(Result& result, std::vector<std::vector<double>>& all, const PhaseTimes& times,
                        double ns_per_tick, std::size_t batches) {
  constexpr Phase order[] = {Phase::bind, Phase::refresh, Phase::copy_in, Phase::launch, Phase::wait, Phase::copy_out};
  all.resize(row_names.size());
  for (std::size_t r = 0; r < row_names.size(); ++r) {
    std::vector<double> ns;
    ns.reserve(times.rounds().size());
    for (const RoundTimes& round : times.rounds()) {
      std::uint64_t ticks = 0;
      if (r < std::size(order)) {
        ticks = round[static_cast<std::size_t>(order[r])];
      } else {
        for (const std::uint64_t each : round) ticks += each;
      }
      ns.push_back(static_cast<double>(ticks) * ns_per_tick);
    }
    result.rows[r].batches.push_back(batch_medians(ns, batches));
    all[r].insert(all[r].end(), ns.begin(), ns.end());
  }
}
inline void finish(Result& result, const std::vector<std::vector<double>>& all) {
  for (std::size_t r = 0; r < row_names.size(); ++r) {
    result.rows[r].median = median(all[r]);
    result.rows[r].trimmed_mean = trimmed_mean(all[r]);
    result.rows[r].p99 = quantile(all[r], 0.99);
  }
}

[[nodiscard]] inline nlohmann::json to_json(const Host& host, const std::vector<Result>& results) {
  nlohmann::json file{{"format", "rondo-rounds"}, {"version", 1}, {"unit", "ns"}};
  file["host"] = {{"processor", host.processor},  {"cores", host.cores},         {"load", host.load},
                  {"compiler", host.compiler},    {"optimised", host.optimised}, {"clock_ns", host.clock_ns},
                  {"granule_ns", host.granule_ns}};
  file["cases"] = nlohmann::json::array();
  for (const Result& result : results) {
    nlohmann::json one{{"name", result.name},         {"platform", result.platform},   {"rounds", result.rounds},
                       {"bytes_in", result.bytes_in}, {"bytes_out", result.bytes_out}, {"refreshes", result.refreshes},
                       {"control", result.control}};
    if (result.device_ns != 0) one["device_ns"] = result.device_ns;
    if (result.predicted_round_ns != 0) one["predicted_round_ns"] = result.predicted_round_ns;
    for (std::size_t r = 0; r < row_names.size(); ++r) {
      const Row& row = result.rows[r];
      one["phases"][row_names[r]] = {
          {"median", row.median}, {"trimmed_mean", row.trimmed_mean}, {"p99", row.p99}, {"batches", row.batches}};
    }
    file["cases"].push_back(std::move(one));
  }
  return file;
}

/// Reads the results of an earlier run. Throws std::runtime_error with the name of the file.
[[nodiscard]] inline std::vector<Result> read_results(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::vector<Result> results;
  try {
    const nlohmann::json file = nlohmann::json::parse(in);
    if (file.at("format") != "rondo-rounds" || file.at("version") != 1) throw std::runtime_error("");
    for (const auto& one : file.at("cases")) {
      Result result;
      result.name = one.at("name");
      result.platform = one.at("platform");
      result.control = one.at("control");
      for (std::size_t r = 0; r < row_names.size(); ++r) {
        const auto& row = one.at("phases").at(row_names[r]);
        result.rows[r] = {row.at("median"), row.at("trimmed_mean"), row.at("p99"), row.at("batches")};
      }
      results.push_back(std::move(result));
    }
  } catch (const std::exception&) {
    throw std::runtime_error(path + " is no file that --json wrote");
  }
  return results;
}

}  // namespace rondo::observe::detail::bench
