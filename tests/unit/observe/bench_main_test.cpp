// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/observe/bench_main.hpp>

#include "folder.hpp"
#include "scale.hpp"

#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace rondo::observe::detail::bench;
using Watched = rondo::observe::MeasuredRounds<>;

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};

/// Five sessions of ten batches around `middle`, `spread` to each side.
Batches batches_around(double middle, double spread, std::uint32_t seed) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<double> noise(-spread, spread);
  Batches batches(5, std::vector<double>(10));
  for (auto& session : batches) {
    const double of_session = noise(random);
    for (double& each : session) each = middle * (1 + of_session + noise(random));
  }
  return batches;
}

std::uint64_t sum(const RoundTimes& times, rondo::Phase phase) { return times[static_cast<std::size_t>(phase)]; }

TEST_CASE("the median, quantiles and the trimmed mean are those of the sorted values") {
  const std::vector<double> values = {1000, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  CHECK(median(values) == doctest::Approx(5.5));
  CHECK(quantile(values, 0) == 1);
  CHECK(quantile(values, 1) == 1000);
  CHECK(quantile({1, 2, 3, 4, 5}, 0.25) == doctest::Approx(2));
  CHECK(trimmed_mean(values) == doctest::Approx((2 + 3 + 4 + 5 + 6 + 7 + 8 + 9) / 8.0));
  CHECK(median({}) == 0);
  CHECK(trimmed_mean({}) == 0);
}

TEST_CASE("batches hold all times of a session, the last one the rest") {
  CHECK(batch_medians({1, 1, 2, 2, 3, 3, 9}, 3) == std::vector<double>{1, 2, 3});
  CHECK(batch_medians({5, 7}, 10) == std::vector<double>{5, 7});
  CHECK(batch_medians({}, 10).empty());
}

TEST_CASE("a run that is no different from the earlier one is not significant, whatever the noise") {
  int wrong = 0;
  constexpr int runs = scaled(100);
  for (std::uint32_t seed = 0; seed < std::uint32_t{runs}; ++seed) {
    const Ratio ratio = compare(batches_around(100, 0.05, 2 * seed), batches_around(100, 0.05, 2 * seed + 1));
    REQUIRE(ratio.exists());
    CHECK(ratio.low <= ratio.value);
    CHECK(ratio.value <= ratio.high);
    if (ratio.is_significant()) ++wrong;
  }
  CHECK(wrong <= runs / 10);  // five sessions are few, so the bounds hold less often than the 99 % that are asked for
}

TEST_CASE("a run that is slower by more than the noise is significant, and so is one that is faster") {
  constexpr std::uint32_t runs = scaled(20);
  for (std::uint32_t seed = 0; seed < runs; ++seed) {
    const Ratio slower = compare(batches_around(130, 0.03, 2 * seed), batches_around(100, 0.03, 2 * seed + 1));
    CHECK(slower.is_significant());
    CHECK(slower.value == doctest::Approx(1.3).epsilon(0.07));
    const Ratio faster = compare(batches_around(70, 0.03, 2 * seed), batches_around(100, 0.03, 2 * seed + 1));
    CHECK(faster.is_significant());
    CHECK(faster.high < 1);
  }
}

TEST_CASE("what the clock cannot tell apart, and what a slower machine explains, is not significant") {
  const Batches now = batches_around(11, 0, 1), before = batches_around(10, 0, 2);
  CHECK(compare(now, before).is_significant());
  CHECK_FALSE(compare(now, before, {.granule = 1}).is_significant());
  CHECK_FALSE(compare(now, before, {.machine = 1.12}).is_significant());
  CHECK(compare(now, before, {.granule = 0.1, .machine = 1.02}).is_significant());
}

TEST_CASE("a phase that took no time then or now has no ratio") {
  CHECK_FALSE(compare(batches_around(0, 0, 1), batches_around(10, 0, 2)).exists());
  CHECK_FALSE(compare(batches_around(10, 0, 1), batches_around(0, 0, 2)).exists());
  CHECK_FALSE(compare({}, {}).is_significant());
}

TEST_CASE("a session that is opened while nothing is measured runs, and its phases are read by nobody") {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  const auto y = graph.output<float>("y", {64});
  graph.add<Twice>(x, y);
  std::vector<float> hx(64, 1.0F), hy(64);
  {
    PhaseTimes times(5);
    PhaseTimes::current = &times;
  }
  CHECK(PhaseTimes::current == nullptr);
  auto session = rondo::open<rondo::A2A3Sim, Watched>(graph);
  for (int round = 0; round < 3; ++round) REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  CHECK(hy == std::vector<float>(64, 2.0F));
}

TEST_CASE("each round leaves the time of each phase that it went through") {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {64});
  const auto y = graph.output<float>("y", {64});
  graph.add<Twice>(x, y);
  std::vector<float> hx(64, 1.0F), hy(64);
  PhaseTimes times(5);
  PhaseTimes::current = &times;
  auto session = rondo::open<rondo::A2A3Sim, Watched>(graph);
  times.clear();
  for (int round = 0; round < 3; ++round) REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
  REQUIRE(times.rounds().size() == 3);
  for (const RoundTimes& round : times.rounds()) {
    using rondo::Phase;
    for (const Phase phase : {Phase::bind, Phase::copy_in, Phase::launch, Phase::copy_out, Phase::wait}) {
      CHECK(sum(round, phase) > 0);
    }
    CHECK(sum(round, Phase::refresh) == 0);
    CHECK(sum(round, Phase::outside) == 0);
  }
  CHECK(times.bytes_in == 3 * 256);
  CHECK(times.bytes_out == 3 * 256);
  CHECK(times.refreshes == 0);
  SUBCASE("and rounds for which there is no room are left out") {
    for (int round = 0; round < 10; ++round) REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    CHECK(times.rounds().size() == 5);
  }
  SUBCASE("and clear() forgets, but keeps the room") {
    times.clear();
    CHECK(times.rounds().empty());
    CHECK(times.bytes_in == 0);
    REQUIRE(session.run_round(bind(x, hx), bind(y, hy)).ok());
    CHECK(times.rounds().size() == 1);
  }
}

/// Rounds of a user's own; `Policies` are those of its session.
template <class Policies>
struct OwnRounds {
  rondo::TaskGraph graph;
  rondo::Input<float> x = graph.input<float>("x", {64});
  rondo::Output<float> y = graph.output<float>("y", {64});
  std::vector<float> hx = std::vector<float>(64, 1.0F), hy = std::vector<float>(64);
  OwnRounds() { graph.add<Twice>(x, y); }
  auto open() { return rondo::open<rondo::A2A3Sim, Policies>(graph); }
  rondo::Status round(auto& session) { return session.run_round(bind(x, hx), bind(y, hy)); }
};

/// Rounds that leave out an output.
struct FailingRounds : OwnRounds<Watched> {
  rondo::Status round(auto& session) { return session.run_round(bind(x, hx)); }
};

int run_bench(const std::vector<rondo::observe::BenchCase>& cases, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "own_bench");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  return rondo::observe::bench_main(static_cast<int>(argv.size()), argv.data(), cases);
}

TEST_CASE("a program of one's own measures its rounds, and a session that reports nothing is refused") {
  using rondo::observe::bench_case;
  const auto path = (std::filesystem::temp_directory_path() / ("rondo_bench_" + std::to_string(getpid()))).string();
  const std::vector<std::string> measure{"--rounds", "60", "--warm-up", "3", "--sessions", "2", "--json", path};
  CHECK(run_bench({bench_case("own", "rounds of one's own", [] { return OwnRounds<Watched>(); })}, measure) == 0);
  const std::vector<Result> found = read_results(path);
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "own");
  CHECK(found[0].platform == "a2a3_sim");
  CHECK(found[0].rows.back().median > 0);
  REQUIRE(found[0].rows.back().batches.size() == 2);

  CHECK(run_bench({bench_case("deaf", "", [] { return OwnRounds<rondo::DefaultPolicies>(); })}, measure) == 1);
  const std::vector<rondo::observe::BenchCase> two{bench_case("a", "", [] { return OwnRounds<Watched>(); }),
                                                   bench_case("b", "", [] { return OwnRounds<Watched>(); })};
  CHECK(run_bench(two, measure) > 1);  // names none
  CHECK(run_bench(two, {"c"}) > 1);
  CHECK(run_bench(two, {"b", "--rounds", "60", "--json", path}) == 0);
  CHECK(read_results(path).front().name == "b");
  std::filesystem::remove(path);
}

/// What `call` writes to standard output, or to the stream that is named.
template <class Call>
std::string printed(Call&& call, int stream = STDOUT_FILENO) {
  const rondo::test::Folder folder;
  std::fflush(nullptr);
  const int terminal = ::dup(stream);
  const int file = ::creat((folder / "printed").c_str(), 0600);
  ::dup2(file, stream);
  call();
  std::fflush(nullptr);
  std::cout.flush();
  ::dup2(terminal, stream);
  ::close(file);
  ::close(terminal);
  return (std::ostringstream{} << std::ifstream{folder / "printed"}.rdbuf()).str();
}

TEST_CASE("a table says of each phase how it compares with the earlier run") {
  Result now{"step", "a2a3_sim", 60}, before = now;
  now.control = 110;
  before.control = 100;
  now.predicted_round_ns = 2'500'000;
  now.device_ns = 1'200;
  for (std::size_t r = 0; r + 1 < row_names.size(); ++r) now.rows[r] = before.rows[r] = {100, 100, 100, {}};
  now.rows[1].p99 = 0;
  const auto set = [](Row& row, double middle) { row.batches = batches_around(middle, 0.01, 1); };
  set(before.rows[0], 100), set(now.rows[0], 300);
  set(before.rows[2], 300), set(now.rows[2], 100);
  set(before.rows[3], 100), set(now.rows[3], 105);
  now.rows[6] = before.rows[6] = {20'000, 20'000, 20'000, {}};
  const std::string text = printed([&] { print(now, &before, Host{}, true); });
  CAPTURE(text);
  const auto line = [&](const std::string& phase) {
    const std::size_t begin = text.find("  " + phase + " ");
    return begin == std::string::npos ? std::string{} : text.substr(begin, text.find('\n', begin) - begin);
  };
  CHECK(line("bind").ends_with("  slower"));
  CHECK(line("bind").find(" 3.0") != std::string::npos);
  CHECK(line("copy in").ends_with("  faster"));
  CHECK(line("launch").ends_with("  not significant"));
  CHECK(line("refresh").find("ns") == std::string::npos);
  CHECK(line("wait").find("[") == std::string::npos);
  CHECK(line("round").find("1.20 us") == std::string::npos);
  CHECK(line("round").ends_with("1200 ns"));
  CHECK(text.find("took 1.100 times what it took then") != std::string::npos);
  CHECK(text.find("predicted for the chip, with copies, launch and completion: 2.50 ms; the host took 20.0 us") !=
        std::string::npos);
}

TEST_CASE("a program lists its cases, leaves out those that cannot run, and fails with a round or a file") {
  using rondo::observe::bench_case;
  using rondo::observe::BenchCase;
  const rondo::test::Folder folder;
  const std::string path = folder / "results";
  const std::vector<BenchCase> cases{bench_case("own", "rounds of one's own", [] { return OwnRounds<Watched>(); }),
                                     BenchCase{"absent", "needs what is not here",
                                               [](const BenchCase::Settings&) { return std::optional<Result>(); }}};
  int code = -1;
  std::string text = printed([&] { code = run_bench(cases, {"--list"}); });
  CHECK(code == 0);
  CHECK(text.find("own ") == 0);
  CHECK(text.find("absent                       needs what is not here\n") != std::string::npos);
  const std::vector<std::string> few{"--rounds", "50", "--sessions", "1", "--warm-up", "0"};
  const auto with = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), few.begin(), few.end());
    return arguments;
  };
  CHECK(run_bench(cases, with({"absent"})) == 1);
  CHECK(run_bench({cases[1]}, with({"all"})) == 1);
  CHECK(run_bench(cases, with({"all", "--json", path})) == 0);
  REQUIRE(read_results(path).size() == 1);
  text = printed([&] { code = run_bench(cases, with({"own", "--compare", path})); });
  CHECK(code == 0);
  CHECK(text.find("a fixed piece of work took") != std::string::npos);
  text = printed([&] { code = run_bench(cases, with({"own", "--json", "-"})); });
  CHECK(code == 0);
  CHECK(text.find('{') == 0);
  std::ofstream{path} << "[1]";
  CHECK_THROWS_WITH_AS((void)read_results(path), (path + " is no file that --json wrote").c_str(), std::runtime_error);
  CHECK(run_bench(cases, with({"own", "--compare", path})) == 1);
  text = printed([&] { code = run_bench({bench_case("failing", "", [] { return FailingRounds(); })}, with({})); },
                 STDERR_FILENO);
  CHECK(code == 1);
  CHECK(text.find("own_bench: ") == 0);
  CHECK(text.find("'y'") != std::string::npos);
}

}  // namespace
