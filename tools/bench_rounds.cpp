// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// What the host does in a round, phase by phase:  bench_rounds digits_step --rounds 5000 --json before.json
// and what a change made of it:                   bench_rounds digits_step --rounds 5000 --compare before.json
// The cases are the rounds of the examples and of the benchmarks; --list names them.

#include "lib/bench_rounds/cases.hpp"
#include "lib/bench_rounds/phase_times.hpp"
#include "lib/bench_rounds/results.hpp"
#include "lib/bench_rounds/statistics.hpp"

#include <rondo/measure/timing.hpp>
#include <rondo/orchestrated.hpp>
#include <rondo/platform/null.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <range/v3/algorithm/find.hpp>
#include <range/v3/algorithm/find_if.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench_rounds;

struct Settings {
  std::uint64_t rounds = 2000;
  std::uint64_t warm_up = 100;
  std::uint64_t sessions = 5;
};

/// Rounds of one session after the other, each opened anew.
template <class P, class Make>
Result measure(const Settings& settings, const std::string& name, const std::string& platform, const Make& make) {
  Result result{name, platform, settings.rounds};
  std::vector<std::vector<double>> all;
  std::vector<double> control;
  double bytes_in = 0, bytes_out = 0, refreshes = 0, counted = 0;
  for (std::uint64_t s = 0; s < settings.sessions; ++s) {
    const std::uint64_t rounds =
        settings.rounds * (s + 1) / settings.sessions - settings.rounds * s / settings.sessions;
    time_control(control);
    PhaseTimes times(rounds);
    PhaseTimes::current = &times;
    auto the_case = make();
    auto session = the_case.template open<P>();
    if constexpr (requires { the_case.prepare(session); }) the_case.prepare(session);
    const auto run = [&](std::uint64_t count) {
      for (std::uint64_t r = 0; r < count; ++r) {
        if (const rondo::Status status = the_case.round(session); !status) [[unlikely]]
          require(session, status);
      }
      if constexpr (requires { the_case.finish(session); }) require(session, the_case.finish(session));
    };
    run(settings.warm_up);
    times.clear();
    run(rounds);
    add_session(result, all, times, rondo::observe::TickClock::timebase().ns_per_tick, 10);
    counted += static_cast<double>(times.rounds().size());
    bytes_in += static_cast<double>(times.bytes_in);
    bytes_out += static_cast<double>(times.bytes_out);
    refreshes += static_cast<double>(times.refreshes);
    if constexpr (requires { session.last_round_ns(); }) {
      result.device_ns = session.last_round_ns();
    }
    if constexpr (requires { session.platform().engine().prediction(); }) {
      result.predicted_round_ns = session.platform().engine().prediction().makespan_ns();
    }
    if constexpr (requires { the_case.release(session); }) the_case.release(session);
  }
  time_control(control);
  result.control = median(control);
  finish(result, all);
  result.bytes_in = bytes_in / counted;
  result.bytes_out = bytes_out / counted;
  result.refreshes = refreshes / counted;
  return result;
}

/// A case, and how to run it on the platform and engine that were chosen; nothing if it cannot run there.
struct Case {
  std::string name;
  std::string what;
  std::function<std::optional<Result>(const Settings&, const std::string& platform, const std::string& engine)> run;
};

/// Where a case can run.
enum class On { all, simulated, no_model };

template <On on, class Make>
Case make_case(const std::string& name, const std::string& what, const Make& make) {
  return {name, what, [=](const Settings& s, const std::string& platform, const std::string& engine) {
            using namespace rondo;
            const std::string where = platform == "null" ? platform : platform + "/" + engine;
            std::optional<Result> result;
            const auto run = [&]<class P>() { result = measure<P>(s, name, where, make); };
            if (platform == "null") {
              if constexpr (on == On::all) run.template operator()<NullPlatform>();
            } else if (platform == "a5_sim") {
              if (engine == "inline") run.template operator()<A5Sim>();
              if (engine == "pool") run.template operator()<A5SimOn<Pool>>();
            } else {
              if (engine == "inline") run.template operator()<A2A3Sim>();
              if (engine == "pool") run.template operator()<A2A3SimOn<Pool>>();
              if constexpr (on != On::no_model) {
                if (engine == "model") run.template operator()<A2A3SimOn<Model>>();
              }
            }
            return result;
          }};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = {
      make_case<On::all>("saxpy", "examples/01_saxpy: one task over 1024 floats", [] { return Saxpy(); }),
      make_case<On::all>("digits_step", "examples/02_digits: a training step, 16 tasks, 32 digits",
                         [] { return DigitsStep(); }),
      make_case<On::all>("digits_classify", "examples/02_digits: 32 digits classified, 4 tasks",
                         [] { return DigitsClassify(); }),
      make_case<On::simulated>("decode_token", "examples/03_decode_loop: a token, addresses change each round",
                               [] { return DecodeToken(); }),
      make_case<On::all>("matmul", "examples/04_tune_matmul: 64 x 64 matrices", [] { return MatMul(); }),
      make_case<On::all>("scale_add", "examples/07_toy_platform: two tasks over 256 floats", [] { return ScaleAdd(); }),
      make_case<On::all>("overhead_1", "bench/round_overhead: 1 tensor of 64 bytes", [] { return Overhead<1>(); }),
      make_case<On::all>("overhead_4", "bench/round_overhead: 4 tensors of 64 bytes", [] { return Overhead<4>(); }),
      make_case<On::all>("overhead_16", "bench/round_overhead: 16 tensors of 64 bytes", [] { return Overhead<16>(); }),
      make_case<On::no_model>("pipeline", "bench/pipeline: three rounds in flight", [] { return Pipeline(); }),
      make_case<On::all>("shapes", "bench/launch_cache: four shapes in turn", [] { return Shapes(); }),
      make_case<On::no_model>("orchestrated_aicpu", "bench/runtimes: 64 tasks added each round, with edges",
                              [] { return Orchestrated<rondo::runtime::AicpuBuildGraph>(); }),
      make_case<On::no_model>("orchestrated_tensormap", "bench/runtimes: 64 tasks added each round, edges found",
                              [] { return Orchestrated<rondo::runtime::TensorMapRingBuffer>(); }),
  };
  for (const int work : {0, 1}) {
    for (const graph_shapes::Shape& shape : graph_shapes::all()) {
      cases.push_back(make_case<On::all>(
          fmt::format("replay_{}{}", shape.name, work == 0 ? "" : "_1us"),
          fmt::format("bench/graph_replay: {} {}", shape.tasks, work == 0 ? "empty tasks" : "tasks of 1 us"),
          [shape, work] { return Replay(shape, work); }));
    }
  }
  return cases;
}

/// Three digits, and the unit that they need.
std::string duration(double ns) {
  const auto [value, unit] = ns >= 1e6   ? std::pair{ns / 1e6, "ms"}
                             : ns >= 1e4 ? std::pair{ns / 1e3, "us"}
                                         : std::pair{ns, "ns"};
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, unit);
}

void print(const Host& host) {
  fmt::print("host: {}, {} cores, load {:.2f}, {}{}\n", host.processor, host.cores, host.load, host.compiler,
             host.optimised ? "" : ", NOT OPTIMISED: its times mean nothing");
  fmt::print("clock: one reading takes {:.1f} ns and is part of each phase{}\n", host.clock_ns,
             host.steady_clock ? "" : "; it does NOT go at one pace on this processor");
}

void print(const Result& result, const Result* before, const Host& host, bool with_host) {
  const Doubt doubt{host.granule_ns, before != nullptr && before->control > 0 ? result.control / before->control : 1};
  fmt::print("{} on {}, {} rounds; a round copies {:.0f} bytes in, {:.0f} out, and refreshes {:.2f} times\n",
             result.name, result.platform, result.rounds, result.bytes_in, result.bytes_out, result.refreshes);
  fmt::print("  {:<9} {:>10} {:>12} {:>10}{}\n", "phase", "median", "trimmed mean", "p99",
             before != nullptr ? "   to the earlier run" : "");
  for (std::size_t r = 0; r < row_names.size(); ++r) {
    const Row& row = result.rows[r];
    if (row.p99 <= 0) {
      fmt::print("  {:<9} {:>10}\n", row_names[r], "-");
      continue;
    }
    fmt::print("  {:<9} {:>10} {:>12} {:>10}", row_names[r], duration(row.median), duration(row.trimmed_mean),
               duration(row.p99));
    if (before != nullptr) {
      const Ratio ratio = compare(row.batches, before->rows[r].batches, doubt);
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
    fmt::print("  a fixed piece of work took {:.3f} times what it took then; the bounds allow for it\n", doubt.machine);
  }
  if (with_host && result.device_ns != 0) {
    fmt::print("  tasks of a round on the chip: {}", duration(result.device_ns));
    if (result.predicted_round_ns != 0) {
      fmt::print("; the whole round, with copies, launch and completion: {}", duration(result.predicted_round_ns));
    }
    fmt::print("; the host took {}\n", duration(result.rows.back().median));
  }
  fmt::print("\n");
}

int run(int argc, char** argv) {
  CLI::App app{
      "Runs the rounds of an example or of a benchmark, and prints the host's time in each of their phases.\n"
      "Exit code: 0 done, 1 a round failed or there is no such file.",
      "bench_rounds"};
  std::vector<std::string> names;
  std::string platform = "a2a3_sim";
  std::string engine = "inline";
  std::string earlier, json;
  Settings settings;
  bool list = false;
  bool show_host = false;
  app.add_option("case", names, "which rounds; `all` for each; see --list");
  app.add_flag("--list", list, "name the cases, and run nothing");
  app.add_option("--rounds", settings.rounds, "how many are measured")
      ->check(CLI::Range(std::uint64_t{50}, std::uint64_t{10'000'000}))
      ->capture_default_str();
  app.add_option("--warm-up", settings.warm_up, "rounds of each session before the first that counts")
      ->capture_default_str();
  app.add_option("--sessions", settings.sessions, "how many sessions share the rounds, each opened anew")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{50}))
      ->capture_default_str();
  app.add_option("--platform", platform, "a2a3_sim, a5_sim or null")
      ->check(CLI::IsMember({"a2a3_sim", "a5_sim", "null"}))
      ->capture_default_str();
  app.add_option("--engine", engine, "of a simulated chip: inline, pool or, on a2a3_sim, model")
      ->check(CLI::IsMember({"inline", "pool", "model"}))
      ->capture_default_str();
  app.add_option("--compare", earlier, "an earlier run's --json: the ratio to it, with bounds that hold to 99 %");
  app.add_option("--json", json, "write what was found to this file; - writes it to standard output, and no table");
  app.add_flag("--show-host", show_host,
               "the machine, its load, the compiler, what the clock costs; and the chip's time, where it is told");
  try {
    app.parse(argc, argv);
    const std::vector<Case> cases = all_cases();
    if (list) {
      for (const Case& each : cases) fmt::print("{:<28} {}\n", each.name, each.what);
      return 0;
    }
    if (names.empty()) throw CLI::ValidationError("case", "which? --list names them");
    const bool all = names == std::vector<std::string>{"all"};
    if (!all) {
      for (const std::string& name : names) {
        if (ranges::find(cases, name, &Case::name) == cases.end()) {
          throw CLI::ValidationError("case", "there is no case '" + name + "'; --list names them");
        }
      }
    }
    const std::vector<Result> before = earlier.empty() ? std::vector<Result>{} : read_results(earlier);
    const bool table = json != "-";
    rondo::observe::anchor<rondo::observe::TickClock>();
    const Host host = this_host();
    if (table && (show_host || !host.optimised)) print(host);

    std::vector<Result> results;
    for (const Case& each : cases) {
      if (!all && ranges::find(names, each.name) == names.end()) continue;
      std::optional<Result> result = each.run(settings, platform, engine);
      if (!result) {
        if (!all) throw std::runtime_error(each.name + " cannot run on " + platform + " with the engine " + engine);
        continue;
      }
      const auto found = ranges::find_if(
          before, [&](const Result& b) { return b.name == result->name && b.platform == result->platform; });
      if (!earlier.empty() && found == before.end()) {
        fmt::print(stderr, "bench_rounds: {} has no {} on {}\n", earlier, result->name, result->platform);
      }
      if (table) print(*result, found == before.end() ? nullptr : &*found, host, show_host);
      results.push_back(std::move(*result));
    }
    if (json == "-") {
      std::cout << to_json(host, results).dump(1) << '\n';
    } else if (!json.empty()) {
      std::ofstream out(json);
      out << to_json(host, results).dump(1) << '\n';
      out.flush();
      if (!out) throw std::runtime_error("cannot write " + json);
    }
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    std::cerr << "bench_rounds: " << error.what() << '\n';
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
