// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/observe/clocks.hpp>
#include <rondo/observe/detail/bench/phase_times.hpp>
#include <rondo/observe/detail/bench/results.hpp>
#include <rondo/observe/detail/bench/statistics.hpp>
#include <rondo/platform/file.hpp>
#include <rondo/session/policies.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <range/v3/algorithm/find.hpp>
#include <range/v3/algorithm/find_if.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// The command line of a program that measures rounds. Needs CLI11 in addition to what rondo::observe needs.
namespace rondo::observe {

/// Policies for a session whose rounds bench_main() measures; `Base` has the others. With `using Time = DeviceTime` in
/// `Base`, the table has a column with the device's time. Cost: one reading of the clock for each phase of a round.
template <class Base = DefaultPolicies>
struct MeasuredRounds : Base {
  /// Reports each phase to the current measurement.
  using Observe = detail::bench::Watch;
};

/// A case whose rounds bench_main() can measure; made by bench_case().
struct BenchCase {
  /// The number of rounds to measure.
  struct Settings {
    std::uint64_t rounds = 2000;  ///< in all sessions together
    std::uint64_t warm_up = 100;  ///< in each session, before the first round that counts
    std::uint64_t sessions = 5;   ///< the number of sessions, opened one after the other
  };

  std::string name;  ///< the name of the case on the command line and in files
  std::string what;  ///< a description of one line, for --list
  /// Runs the case; returns nothing if it cannot run with the other options of the command line.
  std::function<std::optional<detail::bench::Result>(const Settings&)> run;
};

namespace detail::bench {

/// Measures rounds in several sessions, one after the other.
template <class Make>
Result measure(const BenchCase::Settings& settings, const std::string& name, const std::string& platform,
               const Make& make) {
  Result result{name, platform, settings.rounds};
  std::vector<std::vector<double>> all;
  std::vector<double> control, device_ns;
  double bytes_in = 0, bytes_out = 0, refreshes = 0, counted = 0;
  for (std::uint64_t s = 0; s < settings.sessions; ++s) {
    const std::uint64_t rounds =
        settings.rounds * (s + 1) / settings.sessions - settings.rounds * s / settings.sessions;
    time_control(control);
    PhaseTimes times(rounds);
    PhaseTimes::current = &times;
    auto the_case = make();
    auto session = the_case.open();
    const auto require = [&](Status status) {
      if (!status) throw Error(status.code(), session.explain(status));
    };
    if constexpr (requires { the_case.prepare(session); }) the_case.prepare(session);
    const auto run = [&](std::uint64_t count) {
      for (std::uint64_t r = 0; r < count; ++r) {
        if (const Status status = the_case.round(session); !status) [[unlikely]]
          require(status);
      }
      if constexpr (requires { the_case.finish(session); }) require(the_case.finish(session));
    };
    run(settings.warm_up);
    times.clear();
    run(rounds);
    if (times.rounds().empty()) {
      throw std::runtime_error(name + ": its session reports no phases; open it with the policies MeasuredRounds<>");
    }
    add_session(result, all, times, TickClock::timebase().ns_per_tick, 10);
    counted += static_cast<double>(times.rounds().size());
    bytes_in += static_cast<double>(times.bytes_in);
    bytes_out += static_cast<double>(times.bytes_out);
    refreshes += static_cast<double>(times.refreshes);
    device_ns.insert(device_ns.end(), times.device_ns().begin(), times.device_ns().end());
    if constexpr (requires { session.platform().engine().prediction(); }) {
      result.predicted_round_ns = session.platform().engine().prediction().makespan_ns();
    }
    if constexpr (requires { the_case.release(session); }) the_case.release(session);
  }
  time_control(control);
  result.control = median(control);
  result.device_ns = median(device_ns);
  finish(result, all);
  result.bytes_in = bytes_in / counted;
  result.bytes_out = bytes_out / counted;
  result.refreshes = refreshes / counted;
  return result;
}

/// The duration with three digits and a suitable unit.
[[nodiscard]] inline std::string duration(double ns) {
  const auto [value, unit] = ns >= 1e6   ? std::pair{ns / 1e6, "ms"}
                             : ns >= 1e4 ? std::pair{ns / 1e3, "us"}
                                         : std::pair{ns, "ns"};
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
}

inline void print(const Host& host) {
  fmt::print("host: {}, {} cores, load {:.2f}, {}{}\n", host.processor, host.cores, host.load, host.compiler,
             host.optimised ? "" : ", NOT OPTIMISED: its times mean nothing");
  fmt::print("clock: one reading takes {:.1f} ns and is part of each phase{}\n", host.clock_ns,
             host.steady_clock ? "" : "; its rate is NOT constant on this processor");
}

inline void print(const Result& result, const Result* before, const Host& host, bool with_host) {
  const Uncertainty uncertainty{host.granule_ns,
                                before != nullptr && before->control > 0 ? result.control / before->control : 1};
  fmt::print("{} on {}, {} rounds; a round copies {:.0f} bytes in, {:.0f} out, and refreshes {:.2f} times\n",
             result.name, result.platform, result.rounds, result.bytes_in, result.bytes_out, result.refreshes);
  const bool has_device = result.device_ns != 0;
  fmt::print("  {:<9} {:>10} {:>12} {:>10}{}{}\n", "phase", "median", "trimmed mean", "p99",
             has_device ? "     device" : "", before != nullptr ? "   to the earlier run" : "");
  for (std::size_t r = 0; r < row_names.size(); ++r) {
    const Row& row = result.rows[r];
    if (row.p99 <= 0) {
      fmt::print("  {:<9} {:>10}\n", row_names[r], "-");
      continue;
    }
    fmt::print("  {:<9} {:>10} {:>12} {:>10}", row_names[r], duration(row.median), duration(row.trimmed_mean),
               duration(row.p99));
    if (has_device) fmt::print(" {:>10}", r + 1 == row_names.size() ? duration(result.device_ns) : "-");
    if (before != nullptr) {
      const Ratio ratio = compare(row.batches, before->rows[r].batches, uncertainty);
      if (ratio.exists()) {
        fmt::print("   {:.3f}  [{:.3f}, {:.3f}]  {}", ratio.value, ratio.low, ratio.high,
                   !ratio.is_significant() ? "not significant"
                   : ratio.value > 1       ? "slower"
                                           : "faster");
      }
    }
    fmt::print("\n");
  }
  if (before != nullptr) {
    fmt::print("  a fixed piece of work took {:.3f} times what it took then; the bounds allow for it\n",
               uncertainty.machine);
  }
  if (with_host && result.predicted_round_ns != 0) {
    fmt::print("  predicted for the chip, with copies, launch and completion: {}; the host took {}\n",
               duration(result.predicted_round_ns), duration(result.rows.back().median));
  }
  fmt::print("\n");
}

/// The options that all such programs have.
struct Options {
  std::vector<std::string> names;
  BenchCase::Settings settings;
  std::string earlier, json;
  bool list = false;
  bool show_host = false;

  void add_to(CLI::App& app) {
    app.add_option("case", names, "the rounds to measure, if there are several; `all` for each; see --list");
    app.add_flag("--list", list, "name the cases, and run nothing");
    app.add_option("--rounds", settings.rounds, "the number of rounds that are measured")
        ->check(CLI::Range(std::uint64_t{50}, std::uint64_t{10'000'000}))
        ->capture_default_str();
    app.add_option("--warm-up", settings.warm_up, "rounds of each session before the first that counts")
        ->capture_default_str();
    app.add_option("--sessions", settings.sessions, "the number of sessions that share the rounds, each opened anew")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{50}))
        ->capture_default_str();
    app.add_option("--compare", earlier, "an earlier run's --json: the ratio to it, with bounds that hold to 99 %");
    app.add_option("--json", json, "write the results to this file; - writes them to standard output, and no table");
    app.add_flag("--show-host", show_host,
                 "the machine, its load, the compiler, the cost of the clock; and a predicted time on the chip");
  }
};

/// Runs the named cases, compares their results and writes them. @throws std::runtime_error with a text to print
inline void run(const Options& options, const std::vector<BenchCase>& cases) {
  const auto& names = options.names;
  const bool all = names.empty() || names == std::vector<std::string>{"all"};
  for (const std::string& name : names) {
    if (!all && name == "all") throw CLI::ValidationError("case", "`all` stands alone");
    if (!all && ranges::find(cases, name, &BenchCase::name) == cases.end()) {
      throw CLI::ValidationError("case", "there is no case '" + name + "'; --list names them");
    }
  }
  const std::vector<Result> before = options.earlier.empty() ? std::vector<Result>{} : read_results(options.earlier);
  const bool table = options.json != "-";
  anchor<TickClock>();
  const Host host = this_host();
  if (table && (options.show_host || !host.optimised)) print(host);

  std::vector<Result> results;
  for (const BenchCase& each : cases) {
    if (!all && ranges::find(names, each.name) == names.end()) continue;
    std::optional<Result> result = each.run(options.settings);
    if (!result) {
      if (!all) throw std::runtime_error(each.name + " cannot run with these options; see --help");
      continue;
    }
    const auto found = ranges::find_if(
        before, [&](const Result& b) { return b.name == result->name && b.platform == result->platform; });
    if (!options.earlier.empty() && found == before.end()) {
      fmt::print(stderr, "{} has no {} on {}\n", options.earlier, result->name, result->platform);
    }
    if (table) print(*result, found == before.end() ? nullptr : &*found, host, options.show_host);
    results.push_back(std::move(*result));
  }
  if (results.empty()) throw std::runtime_error("no case can run with these options; see --help");
  if (options.json == "-") {
    std::cout << to_json(host, results).dump(1) << '\n';
  } else if (!options.json.empty()) {
    const std::string text = to_json(host, results).dump(1) + '\n';
    rondo::detail::write_file(options.json.c_str(), "the results cannot be written there", text);
  }
}

}  // namespace detail::bench

/// Makes a case from your own rounds. `make()` returns an object that holds graph and memory, with `open()`, which
/// returns a session with the policies MeasuredRounds, and `round(session)`, which runs one round and returns its
/// Status. Optional members: `prepare(session)`, called before the first round; `finish(session)`, which waits for
/// rounds in flight and returns a Status; and `release(session)`, called before the session is closed.
template <class Make>
[[nodiscard]] BenchCase bench_case(std::string name, std::string what, Make make) {
  return {name, std::move(what), [name, make = std::move(make)](const BenchCase::Settings& settings) {
            using Session = decltype(make().open());
            return std::optional(detail::bench::measure(
                settings, name, std::remove_cvref_t<decltype(std::declval<Session&>().platform())>::name, make));
          }};
}

/// A complete program that measures rounds: parses the command line (--rounds, --warm-up, --sessions, --compare,
/// --json, --show-host, --list), runs the selected cases, and prints the host's time in each phase of a round, next to
/// the device's time if the session measures it.
///
///     struct Step {                          // graph and memory are members
///       auto open() { return rondo::open<rondo::A2A3Sim, rondo::observe::MeasuredRounds<>>(graph); }
///       rondo::Status round(auto& session) { return session.run_round(bind(x, hx), bind(y, hy)); }
///       …
///     };
///     int main(int argc, char** argv) {
///       using namespace rondo::observe;
///       return bench_main(argc, argv, {bench_case("step", "one training step", [] { return Step(); })});
///     }
///
/// `add_options(app)`, if given, adds options to the CLI::App; the cases evaluate them.
///
/// @returns the exit code: 0 on success; 1 if a round failed or a file cannot be read or written, with the reason on
/// standard error; another code, from CLI11, for a wrong command line. Thread safety: one call at a time.
inline int bench_main(int argc, char** argv, const std::vector<BenchCase>& cases,
                      const std::function<void(CLI::App&)>& add_options = {}) {
  const std::string program = std::filesystem::path(argv[0]).filename().string();
  CLI::App app{
      "Measures rounds, and prints the host's time in each of their phases.\n"
      "Exit code: 0 done, 1 a round failed, or a file cannot be read or written.",
      program};
  detail::bench::Options options;
  options.add_to(app);
  if (add_options) add_options(app);
  try {
    app.parse(argc, argv);
    if (options.list) {
      for (const BenchCase& each : cases) fmt::print("{:<28} {}\n", each.name, each.what);
      rondo::detail::flush_output();
      return 0;
    }
    if (options.names.empty() && cases.size() > 1) throw CLI::ValidationError("case", "name one; --list has them");
    detail::bench::run(options, cases);
    rondo::detail::flush_output();
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
  }
  return 1;
}

}  // namespace rondo::observe
