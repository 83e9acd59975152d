// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The size of the arena that each planner finds, and the time that it takes, on networks, published hard instances and
// generated sets.
//   memory_plan [--data DIR] [--json FILE] [--budget SECONDS] [--repeat N] [--only TEXT]
// Rivals: StorageTokens (TVM Relay's algorithm), greedy by size, greedy by breadth. Every plan is checked. The rows
// first_fits_in_turn and first_fits_at_once are one Portfolio of four planners on one thread and on all.

#include <rondo/memory/check_plan.hpp>
#include <rondo/memory/first_fit.hpp>
#include <rondo/search/concurrent_planners.hpp>
#include <rondo/search/plan_csv.hpp>
#include <rondo/search/planners.hpp>
#include <rondo/search/storage_tokens.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#ifndef RONDO_BENCH_DATA
#define RONDO_BENCH_DATA "bench/data"
#endif

namespace {

namespace memory = rondo::memory;
namespace search = rondo::search;

/// Uniform in [0, 1), the same on every platform.
double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1.0p-53; }
std::int64_t below(std::mt19937_64& random, std::int64_t n) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}
std::int64_t log_uniform_size(std::mt19937_64& random) {
  return static_cast<std::int64_t>(256.0 * std::exp2(12.0 * uniform(random))) / 64 * 64;
}

/// A planner of the portfolio that is timed: four of them cost about the same.
template <memory::Order order>
struct FirstFitBy {
  static constexpr const char* name = memory::to_string(order);
  static memory::Plan plan(const memory::Problem& p) {
    memory::Plan result;
    result.offsets = memory::FirstFit{p}.run(memory::make_order(p, memory::Sections{p}, order));
    result.arena = memory::arena_of(p, result.offsets);
    return result;
  }
};
using FirstFits = search::Portfolio<FirstFitBy<memory::Order::size>, FirstFitBy<memory::Order::duration>,
                                    FirstFitBy<memory::Order::area>, FirstFitBy<memory::Order::conflicts>>;

memory::Problem random_set(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  memory::Problem p;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t lower = below(random, n);
    const auto length = 1 + static_cast<std::int64_t>(-64.0 * std::log1p(-uniform(random)));
    p.buffers.push_back({.lower = lower, .upper = lower + length, .size = log_uniform_size(random)});
  }
  return p;
}

memory::Problem training_set(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  memory::Problem p;
  const std::int64_t layers = n / 4;
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::int64_t size = log_uniform_size(random);
    const std::int64_t backward = 2 * layers - 1 - i;
    p.buffers.push_back({.lower = i, .upper = backward + 1, .size = size});
    p.buffers.push_back({.lower = i, .upper = i + 1, .size = log_uniform_size(random)});
    p.buffers.push_back({.lower = backward, .upper = backward + 2, .size = size});
    p.buffers.push_back({.lower = backward, .upper = backward + 1, .size = log_uniform_size(random)});
  }
  return p;
}

memory::Problem tiling_set(std::int64_t n, std::uint64_t seed) {
  struct Piece {
    std::int64_t lower, upper, low, high;
    [[nodiscard]] double area() const { return static_cast<double>(upper - lower) * static_cast<double>(high - low); }
  };
  std::mt19937_64 random{seed};
  std::vector<Piece> pieces{{0, 1 << 20, 0, 1 << 20}};
  while (pieces.size() < static_cast<std::size_t>(n)) {
    // A piece is cut with a probability in proportion to its area.
    double at = uniform(random) * 0x1.0p40;
    std::size_t chosen = 0;
    while (chosen + 1 < pieces.size() && at >= pieces[chosen].area()) at -= pieces[chosen++].area();
    Piece& whole = pieces[chosen];
    Piece part = whole;
    if (below(random, 2) == 0) {
      if (whole.upper - whole.lower < 2) continue;
      whole.upper = part.lower = whole.lower + 1 + below(random, whole.upper - whole.lower - 1);
    } else {
      if (whole.high - whole.low < 2) continue;
      whole.high = part.low = whole.low + 1 + below(random, whole.high - whole.low - 1);
    }
    pieces.push_back(part);
  }
  for (std::size_t k = pieces.size(); k > 1; --k) {
    std::swap(pieces[k - 1], pieces[static_cast<std::size_t>(below(random, static_cast<std::int64_t>(k)))]);
  }
  memory::Problem p;
  for (const Piece& piece : pieces) p.buffers.push_back({piece.lower, piece.upper, piece.high - piece.low});
  return p;
}

struct Instance {
  std::string name;
  memory::Problem problem;
};

struct Row {
  std::string instance;
  std::string planner;
  std::size_t buffers;
  std::int64_t lower_bound;
  std::int64_t arena;
  double ratio;
  double milliseconds;
  bool valid;
};

std::vector<Instance> make_instances(const std::string& data, std::uint64_t seed) {
  std::vector<Instance> instances;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{data + "/lifetimes"}) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    std::ifstream in{file, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    instances.push_back({file.stem().string(), search::read_lifetimes(text).problem});
  }
  for (const std::int64_t n : {1'000, 10'000, 100'000, 1'000'000}) {
    instances.push_back({"random_" + std::to_string(n), random_set(n, seed)});
    instances.push_back({"training_" + std::to_string(n), training_set(n, seed)});
  }
  for (const std::int64_t n : {100, 200, 400, 1'000, 20'000}) {
    instances.push_back({"tiling_" + std::to_string(n), tiling_set(n, seed)});
  }
  return instances;
}

void write_json(const std::string& path, const std::vector<Row>& rows) {
  auto json = nlohmann::ordered_json::array();
  for (const Row& r : rows) {
    json.push_back({{"instance", r.instance},
                    {"n", r.buffers},
                    {"lower_bound", r.lower_bound},
                    {"arena", r.arena},
                    {"ratio", r.ratio},
                    {"ms", r.milliseconds},
                    {"planner", r.planner},
                    {"valid", r.valid}});
  }
  std::ofstream out{path};
  out << json.dump(1) << '\n';
  if (!out) throw std::runtime_error{"cannot write " + path};
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"Sizes of planned arenas and the time planning takes.", "memory_plan"};
  std::string data = RONDO_BENCH_DATA;
  std::string json;
  std::string only;
  double budget = 10;
  int repeat = 3;
  std::uint64_t seed = 1;
  unsigned threads = search::default_threads();
  app.add_option("--data", data, "folder that holds lifetimes/*.csv")->capture_default_str();
  app.add_option("--json", json, "also write the rows to this file");
  app.add_option("--only", only, "only instances whose name contains this");
  app.add_option("--budget", budget, "seconds for plan_best")->capture_default_str();
  app.add_option("--repeat", repeat, "runs of each planner; the median time is shown")->check(CLI::Range(1, 1000));
  app.add_option("--seed", seed, "of the generated sets")->capture_default_str();
  app.add_option("--threads", threads, "of plan_fast, plan_best and first_fits_at_once")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  using Planner = std::function<std::vector<std::int64_t>(const memory::Problem&)>;
  const auto greedy = [](memory::Order order) {
    return [order](const memory::Problem& p) {
      return memory::FirstFit{p}.run(memory::make_order(p, memory::Sections{p}, order));
    };
  };
  const auto limit =
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>{budget});
  const std::vector<std::pair<std::string, Planner>> planners{
      {"storage_tokens", [](const memory::Problem& p) { return search::StorageTokens::offsets(p); }},
      {"greedy_by_size", greedy(memory::Order::size)},
      {"greedy_by_breadth", greedy(memory::Order::breadth)},
      {"first_fits_in_turn", [](const memory::Problem& p) { return FirstFits::plan(p, 1).offsets; }},
      {"first_fits_at_once", [&](const memory::Problem& p) { return FirstFits::plan(p, threads).offsets; }},
      {"fast", [&](const memory::Problem& p) { return search::plan_fast(p, threads).offsets; }},
      {"best", [&](const memory::Problem& p) { return search::plan_best(p, limit, threads).offsets; }},
  };

  fmt::print("{:<24} {:>7} {:>13} {:>13} {:>8} {:>11}  {}\n", "instance", "n", "lower bound", "arena", "ratio", "ms",
             "planner");
  std::vector<Row> rows;
  bool all_valid = true;
  for (const Instance& instance : make_instances(data, seed)) {
    if (instance.name.find(only) == std::string::npos) continue;
    const memory::Problem& problem = instance.problem;
    const std::int64_t bound = memory::lower_bound(problem);
    for (const auto& [name, planner] : planners) {
      std::vector<double> times;
      memory::Plan plan;
      do {
        const auto start = std::chrono::steady_clock::now();
        plan.offsets = planner(problem);
        times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
      } while (times.back() < 2'000 && times.size() < static_cast<std::size_t>(repeat));
      std::sort(times.begin(), times.end());
      plan.arena = memory::arena_of(problem, plan.offsets);
      plan.lower_bound = bound;
      const bool valid = memory::check_plan(problem, plan).ok();
      all_valid = all_valid && valid;
      rows.push_back(
          {instance.name, name, problem.size(), bound, plan.arena, plan.ratio(), times[times.size() / 2], valid});
      const Row& r = rows.back();
      fmt::print("{:<24} {:>7} {:>13} {:>13} {:>8.4f} {:>11.3f}  {}{}\n", r.instance, r.buffers, r.lower_bound, r.arena,
                 r.ratio, r.milliseconds, r.planner, valid ? "" : "  NOT VALID");
      std::fflush(stdout);
    }
  }
  if (!json.empty()) write_json(json, rows);
  return all_valid ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "memory_plan: " << error.what() << '\n';
  return 1;
}
