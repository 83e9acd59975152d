// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Looks for the fastest of 1,296 blocked matrix products: tile sizes and loop orders. Compilers and the device work at
// the same time; each candidate is checked against a reference and timed as a round of this graph:
//
//   a (in) ──▶ [[ matmul: c = a·b ]] ──▶ c (out)
//   b (in) ──▶
//
// If the program is interrupted or killed, and started again in the same folder, it continues from its log.

#include "search.hpp"
#include "space.hpp"
#include "workload.hpp"

#include <rondo/measure/local_runner.hpp>
#include <rondo/measure/program_measurer.hpp>
#include <rondo/measure/progress.hpp>
#include <rondo/measure/records.hpp>
#include <rondo/measure/source_builder.hpp>
#include <rondo/platform/select.hpp>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace rondo::measure;
using tune::Config;

struct Options {
  std::size_t candidates = 120;
  std::size_t random = 60;
  std::size_t finalists = 5;
  int size = 256;
  std::uint64_t seed = 1;
  std::string log = "tune_matmul.jsonl";
};

volatile std::sig_atomic_t interrupted = 0;

/// Shows the progress: on a terminal, one line that is overwritten; elsewhere, a line from time to time.
class Display {
 public:
  void show(const std::string& line, bool is_last) {
    if (is_terminal_) {
      std::printf("\r\x1b[K%s%s", line.c_str(), is_last ? "\n" : "");
    } else if (is_last || shown_++ % 20 == 19) {
      std::printf("%s\n", line.c_str());
    }
    std::fflush(stdout);
  }

 private:
  bool is_terminal_ = ::isatty(1) != 0;
  unsigned shown_ = 0;
};

struct Timed {
  std::string name;
  double seconds = 0;
};

class Tuner {
 public:
  explicit Tuner(const Options& options)
      : options_{options},
        runner_{tune::Workload(static_cast<std::size_t>(options.size)),
                {.time_limit = 20, .repetition = {.repeat = 5, .min_repeat_ms = 10}}},
        builder_{
            {.workers = std::max(1U, std::thread::hardware_concurrency()) - (std::thread::hardware_concurrency() > 1),
             .time_limit = 30}},
        log_{options.log, "matmul " + std::to_string(options.size) + " on " + rondo::SelectedPlatform::name},
        search_{options.random, options.seed} {}

  /// Searches until all candidates are measured, or until interrupted.
  void search() {
    const std::size_t known = resume();
    if (known != 0) std::printf("going on: %zu candidates were measured before\n", known);
    std::size_t left = options_.candidates - std::min(known, options_.candidates);
    Progress progress(left);
    if (const auto best = log_.best()) progress.resume(best->key, best->best());

    ProgramMeasurer measurer(builder_, runner_);
    std::map<Ticket, Config> under_way;
    const auto submit_one = [&] {
      if (left == 0 || interrupted != 0) return;
      const auto config = search_.next();
      if (!config) return;
      --left;
      const auto ticket = measurer.submit({.source = tune::blocked_kernel(*config, options_.size)});
      under_way.emplace(ticket.value(), *config);
    };
    // Only as many at a time as keep all workers busy: a candidate cannot use results that arrive after its submission.
    for (std::size_t i = 0; i < builder_.capacity() + runner_.capacity(); ++i) submit_one();
    for (const Result& result : measurer.results()) {
      const Config config = under_way.at(result.ticket);
      log_.append(config.name(), result);
      progress.add(config.name(), result);
      if (result.ok()) search_.note(config, result.best());
      if (interrupted != 0) measurer.stop();
      submit_one();
      display_.show(progress.line(), false);
    }
    display_.show(progress.line(), true);
  }

  /// Measures the best candidates again, and the naive kernel, while nothing else runs.
  void print_finals() {
    std::vector<Timed> best;
    for (std::size_t n = 0; n < Config::count; ++n) {
      const std::string name = Config::numbered(n).name();
      if (const auto record = log_.find(name); record && record->ok()) best.push_back({name, record->best()});
    }
    std::sort(best.begin(), best.end(), [](const Timed& a, const Timed& b) { return a.seconds < b.seconds; });
    best.resize(std::min(best.size(), options_.finalists));

    ProgramMeasurer measurer(builder_, runner_, {.mode = Mode::Sync});
    measurer.submit({.source = tune::naive_kernel(options_.size)});
    for (const Timed& each : best) {
      for (std::size_t n = 0; n < Config::count; ++n) {
        if (Config::numbered(n).name() != each.name) continue;
        measurer.submit({.source = tune::blocked_kernel(Config::numbered(n), options_.size)});
      }
    }
    double naive = 0;
    std::vector<Timed> finals;
    for (const Result& result : measurer.results()) {
      const std::string name = result.ticket == 1 ? "naive" : best[result.ticket - 2].name;
      if (!result.ok()) throw std::runtime_error(name + ": " + to_string(result.fault) + ": " + result.text);
      if (result.ticket == 1) naive = result.best();
      finals.push_back({name, result.best()});
    }
    std::sort(finals.begin(), finals.end(), [](const Timed& a, const Timed& b) { return a.seconds < b.seconds; });
    const double operations = 2.0 * options_.size * options_.size * options_.size;
    std::printf("\n%-20s %12s %9s %9s\n", "kernel", "time", "GFLOP/s", "speed-up");
    for (const Timed& each : finals) {
      std::printf("%-20s %12s %9.2f %8.2fx\n", each.name.c_str(), format_seconds(each.seconds).c_str(),
                  1e-9 * operations / each.seconds, naive / each.seconds);
    }
    std::printf("best: %s, %.2f times as fast as the naive kernel\n", finals.front().name.c_str(),
                naive / finals.front().seconds);
  }

 private:
  /// Counts the results that are already in the log.
  std::size_t resume() {
    std::size_t known = 0;
    for (std::size_t n = 0; n < Config::count; ++n) {
      const Config config = Config::numbered(n);
      if (!log_.is_settled(config.name())) continue;
      search_.take(config);
      if (const auto record = log_.find(config.name()); record->ok()) search_.note(config, record->best());
      ++known;
    }
    return known;
  }

  Options options_;
  LocalRunner runner_;  // first: it forks, and there are no threads yet
  SourceBuilder builder_;
  RecordLog log_;
  tune::Search search_;
  Display display_;
};

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  CLI::App app{"Tunes the tile sizes and loop order of a matrix product. Goes on from its log if there is one."};
  app.option_defaults()->always_capture_default();
  app.add_option("--candidates", options.candidates, "How many to measure in all")
      ->check(CLI::Range(std::size_t{2}, Config::count))
      ->type_name("N");
  app.add_option("--random", options.random, "How many of them at random, before the search learns from the best")
      ->check(CLI::Range(std::size_t{2}, Config::count))
      ->type_name("N");
  app.add_option("--finalists", options.finalists, "How many of the best to measure once more in the end")
      ->check(CLI::Range(std::size_t{1}, Config::count))
      ->type_name("N");
  app.add_option("--size", options.size, "Rows and columns of the matrices")
      ->check(CLI::Range(8, 2048))
      ->type_name("N");
  app.add_option("--seed", options.seed, "Decides the random candidates")->type_name("N");
  app.add_option("--log", options.log, "Where measurements are noted, one line of JSON each")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);

  (void)std::signal(SIGINT, [](int) { interrupted = 1; });
  Tuner tuner(options);
  std::printf("A product of %d x %d matrices on %s: %zu of %zu candidates\n", options.size, options.size,
              rondo::SelectedPlatform::name, options.candidates, Config::count);
  std::fflush(stdout);
  tuner.search();
  if (interrupted != 0) {
    std::printf("interrupted; start it again to go on from %s\n", options.log.c_str());
    return 130;
  }
  tuner.print_finals();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "tune_matmul: %s\n", e.what());
  return 1;
}
