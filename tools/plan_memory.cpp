// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Plans the memory of a lifetime file:  plan_memory lifetimes.csv --offsets plan.csv --svg plan.svg
// The last line it prints is for machines:  arena 1048576 lower_bound 1048576 ratio 1.0000 seconds 0.131

#include <rondo/memory/check_plan.hpp>
#include <rondo/memory/plan_csv.hpp>
#include <rondo/memory/plan_svg.hpp>
#include <rondo/memory/portfolio.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>

namespace {

namespace memory = rondo::memory;

/// Reads "20s", "500ms", "2min" or "1.5" (seconds).
std::chrono::nanoseconds parse_duration(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit{end, text.data() + text.size()};
  double seconds = -1;
  if (unit.empty() || unit == "s") seconds = value;
  if (unit == "ms") seconds = value / 1e3;
  if (unit == "us") seconds = value / 1e6;
  if (unit == "m" || unit == "min") seconds = value * 60;
  if (error != std::errc{} || !(seconds >= 0) || seconds > 1e9) {
    throw CLI::ValidationError("--budget", "expected a duration such as 20s, 500ms or 2min, not \"" + text + "\"");
  }
  return std::chrono::nanoseconds{static_cast<std::int64_t>(std::llround(seconds * 1e9))};
}

/// Writes a file; throws std::runtime_error that names it.
template <class Write>
void write_file(const std::string& path, Write write) {
  std::ofstream out{path, std::ios::binary};
  if (out) write(out);
  out.flush();
  if (!out) throw std::runtime_error{"cannot write " + path};
}

std::string read_file(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>{std::cin}, {}};
  std::ifstream in{path, std::ios::binary};
  if (!in) throw std::runtime_error{"cannot read " + path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

int run(int argc, char** argv) {
  CLI::App app{"Plans one memory arena for buffers with known lifetimes and sizes.", "plan_memory"};
  std::string input;
  std::string offsets;
  std::string svg;
  std::string budget = "20s";
  std::optional<std::int64_t> capacity;
  bool fast = false;
  unsigned threads = memory::default_threads();
  app.add_option("lifetimes", input, "CSV with id,lower,upper,size[,offset][,alignment][,gaps]; - reads standard input")
      ->required();
  app.add_option("--offsets", offsets, "write id,lower,upper,size,offset to this file");
  app.add_option("--svg", svg, "draw the plan, time to the right, offsets upwards, into this file");
  app.add_option("--capacity", capacity, "bytes there are; exit code 2 if the plan needs more")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--fast", fast, "plan at once, without a search of many seconds");
  app.add_option("--budget", budget, "how long to search, such as 20s or 500ms")->capture_default_str();
  app.add_option("--threads", threads, "threads to search with")->check(CLI::Range(1U, 1024U));
  try {
    app.parse(argc, argv);
    const std::chrono::nanoseconds time = parse_duration(budget);
    const memory::NamedProblem named = memory::read_lifetimes(read_file(input));

    const auto start = std::chrono::steady_clock::now();
    const memory::Plan plan =
        fast ? memory::plan_fast(named.problem, threads) : memory::plan_best(named.problem, time, threads);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

    if (const memory::Violation v = memory::check_plan(named.problem, plan); !v.ok()) {
      std::cerr << "plan_memory: the plan is not valid: " << to_string(v.kind) << '\n';
      return 3;
    }
    if (!offsets.empty()) {
      write_file(offsets, [&](std::ostream& out) { memory::write_offsets(out, named, plan); });
    }
    if (!svg.empty()) {
      write_file(svg, [&](std::ostream& out) { memory::write_svg(out, named.problem, plan, named.names); });
    }
    std::printf("buffers %zu, planner: %s%s\n", named.problem.size(), plan.planner,
                plan.optimal() ? ", no plan is smaller" : ", a smaller plan may exist");
    const bool too_large = capacity && plan.arena > *capacity;
    if (too_large) {
      std::fflush(stdout);
      const rondo::Error error{
          rondo::Errc::out_of_memory,
          rondo::Error::Text{"the plan needs ", plan.arena, " bytes, but the capacity is ", *capacity,
                             plan.lower_bound > *capacity ? "; no plan can fit: the lower bound is above it"
                                                          : "; a larger --budget may find one that fits"}};
      std::cerr << "plan_memory: " << error.what() << '\n';
    }
    std::printf("arena %lld lower_bound %lld ratio %.4f seconds %.3f\n", static_cast<long long>(plan.arena),
                static_cast<long long>(plan.lower_bound), plan.ratio(), seconds.count());
    return too_large ? 2 : 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const rondo::Error& error) {
    std::cerr << "plan_memory: " << input << ": " << error.what() << '\n';
  } catch (const std::exception& error) {
    std::cerr << "plan_memory: " << error.what() << '\n';
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
