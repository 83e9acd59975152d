// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Plans the memory of a lifetime file:  plan_memory lifetimes.csv --offsets plan.csv --svg plan.svg
// The last line of its output is for programs: arena 1048576 lower_bound 1048576 ratio 1.0000 seconds 0.131

#include <rondo/memory/check_plan.hpp>
#include <rondo/platform/file.hpp>
#include <rondo/search/plan_csv.hpp>
#include <rondo/search/plan_svg.hpp>
#include <rondo/search/planners.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

namespace memory = rondo::memory;
namespace search = rondo::search;
using rondo::detail::write_file;

std::string read_file(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>{std::cin}, {}};
  return rondo::detail::read_file(path.c_str(), "the lifetimes cannot be read");
}

int run(int argc, char** argv) {
  CLI::App app{"Plans one memory arena for buffers with known lifetimes and sizes.", "plan_memory"};
  std::string input;
  std::string offsets;
  std::string svg;
  double budget = 20;
  std::optional<std::int64_t> capacity;
  bool fast = false;
  unsigned threads = search::default_threads();
  app.add_option("lifetimes", input, "CSV with id,lower,upper,size[,offset][,alignment][,gaps]; - reads standard input")
      ->required();
  const CLI::Validator is_named{[](const std::string& path) { return path.empty() ? "a file without a name" : ""; },
                                ""};
  app.add_option("--offsets", offsets, "write id,lower,upper,size,offset to this file")->check(is_named);
  app.add_option("--svg", svg, "draw the plan, time to the right, offsets upwards, into this file")->check(is_named);
  app.add_option("--capacity", capacity, "bytes there are; exit code 2 if the plan needs more")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--fast", fast, "plan at once, without a search of many seconds");
  app.add_option("--budget", budget, "how long to search, such as 20s or 500ms")
      ->transform(CLI::AsNumberWithUnit(
                      std::map<std::string, double>{{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"min", 60}},
                      CLI::AsNumberWithUnit::DEFAULT, "TIME")
                      .description(""))
      ->check(CLI::Range(0.0, 1e9).description(""))
      ->type_name("TIME")
      ->default_str("20s");
  app.add_option("--threads", threads, "threads to search with")->check(CLI::Range(1U, 1024U));
  try {
    app.parse(argc, argv);
    if (!svg.empty() && svg == offsets) throw CLI::ValidationError("--svg", "this file is already that of --offsets");
    const std::chrono::nanoseconds time{std::llround(budget * 1e9)};
    const search::NamedProblem named = search::read_lifetimes(read_file(input));

    const auto start = std::chrono::steady_clock::now();
    const memory::Plan plan =
        fast ? search::plan_fast(named.problem, threads) : search::plan_best(named.problem, time, threads);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

    if (const memory::Violation v = memory::check_plan(named.problem, plan); !v.ok()) {
      std::cerr << "plan_memory: the plan is not valid: " << to_string(v.kind) << '\n';
      return 3;
    }
    if (!offsets.empty()) {
      std::ostringstream text;
      search::write_offsets(text, named, plan);
      write_file(offsets.c_str(), "the offsets cannot be written there", text.view());
    }
    if (!svg.empty()) {
      std::ostringstream picture;
      search::write_svg(picture, named.problem, plan, named.names);
      write_file(svg.c_str(), "the picture cannot be written there", picture.view());
    }
    fmt::print("buffers {}, planner: {}, {}\n", named.problem.size(), plan.planner,
               plan.optimal() ? "no plan is smaller" : "a smaller plan may exist");
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
    fmt::print("arena {} lower_bound {} ratio {:.4f} seconds {:.3f}\n", plan.arena, plan.lower_bound, plan.ratio(),
               seconds.count());
    rondo::detail::flush_output();
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
