// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// A synthesiser with effects. Each round computes a block of 64 frames, and is due before the previous block has been
// played. patch.hpp has a picture of the graph.

#include "chart.hpp"
#include "patch.hpp"
#include "plain_graph.hpp"
#include "wav.hpp"

#include <rondo/observe/deadlines.hpp>
#include <rondo/platform/host/host.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

using Platform = rondo::HostOn<rondo::Pool>;
using Samples = std::vector<float>;

constexpr std::size_t samples_per_block = 2 * audio::frames;
constexpr std::chrono::nanoseconds block_time{std::int64_t{1'000'000'000} * audio::frames / audio::rate};

struct Options {
  double seconds = 10;
  bool live = false;
  bool check = false;
  bool locked = false;
  std::string wav = "audio_graph.wav";
  std::string chart = "audio_graph.svg";
  std::optional<std::uint32_t> spin_us;
  std::vector<std::uint32_t> cores;
  std::uint32_t threads = 0;
  int priority = 0;

  [[nodiscard]] std::size_t blocks() const {
    return static_cast<std::size_t>(std::lround(seconds * audio::rate / audio::frames));
  }
  [[nodiscard]] Platform::Options platform() const {
    Platform::Options options;
    options.engine.threads = threads;
    options.cores = cores;
    options.priority = priority;
    options.spin_us = spin_us;
    if (locked) options.memory = rondo::platform::host::Residency::locked;
    return options;
  }
};

struct Policies : rondo::DefaultPolicies {
  using Observe = rondo::observe::Deadlines;
};

int not_written(const std::string& path) {
  std::fprintf(stderr, "%s could not be written\n", path.c_str());
  return 1;
}

/// Runs the rounds, and sets the chart of their times; returns the first status that is not ok, with its text printed.
rondo::Status play(const Options& options, Samples& sound, std::string& chart) {
  rondo::TaskGraph graph;
  const audio::Patch patch(graph);
  auto session = rondo::open<Platform, Policies>(std::move(graph), options.platform());
  const auto failed = [&](rondo::Status status) {
    std::fprintf(stderr, "%s\n", session.explain(status).c_str());
    return status;
  };
  for (std::size_t s = 0; s < patch.states.size(); ++s) {
    const std::vector<float> zeros(static_cast<std::size_t>(patch.state_sizes[s]));
    if (const auto status = session.upload(patch.states[s], zeros); !status) return failed(status);
  }
  if (const auto status = session.upload(patch.seed, std::uint32_t{0}); !status) return failed(status);

  session.observer().set_limit(block_time);
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t block = 0; block < options.blocks(); ++block) {
    if (options.live) std::this_thread::sleep_until(begin + block * block_time);
    const auto position = static_cast<std::int64_t>(block);
    const auto place = std::span(sound).subspan(block * samples_per_block, samples_per_block);
    const auto status = session.run_round(bind(patch.position, position), bind(patch.sound, rondo::in_place(place)));
    if (!status) return failed(status);
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;

  const rondo::observe::DeadlineReport report = session.observer().report();
  const audio::Columns columns(session.observer().times(), session.observer().ns_per_tick());
  audio::print(columns, report.limit_ns / 1000);
  chart = audio::draw(columns, report);
  std::printf("%.1f s of sound in %.0f ms, %zu tasks a block, on %zu of the host's threads; %s and %s\n",
              options.seconds, took.count(), session.graph().view().tasks.size(),
              session.platform().engine().threads_used(), options.wav.c_str(), options.chart.c_str());
  std::printf("rounds %llu missed %llu p50 %.1f µs p99.9 %.1f µs max %.1f µs\n",
              static_cast<unsigned long long>(report.rounds), static_cast<unsigned long long>(report.missed),
              report.p50_ns / 1000, report.p999_ns / 1000, report.max_ns / 1000);
  return {};
}

/// The same sound by a loop of function calls.
Samples play_plainly(std::size_t blocks) {
  audio::PlainGraph graph;
  const audio::Patch patch(graph);
  Samples sound(blocks * samples_per_block);
  for (std::size_t block = 0; block < blocks; ++block) {
    *patch.position.data = static_cast<std::int64_t>(block);
    graph.run();
    std::copy_n(patch.sound.data, samples_per_block, sound.data() + block * samples_per_block);
  }
  return sound;
}

int check(const Samples& sound) {
  const Samples plain = play_plainly(sound.size() / samples_per_block);
  double energy = 0;
  for (const float s : sound) energy += static_cast<double>(s) * static_cast<double>(s);
  const double level = std::sqrt(energy / static_cast<double>(sound.size()));
  const bool is_same = std::memcmp(plain.data(), sound.data(), sound.size() * sizeof(float)) == 0;
  std::fprintf(stderr, "level %.3f, %s a loop of function calls\n", level, is_same ? "equal to" : "DIFFERENT from");
  return is_same && level > 0.01 && level < 1 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"A synthesiser as a graph: each block of 64 frames is a round"};
  app.add_option("--seconds", options.seconds, "Length of the sound")->check(CLI::Range(0.01, 600.0));
  app.add_flag("--live", options.live, "Start each block when it is due, as a sound card would");
  app.add_flag("--check", options.check, "Compare the sound with that of a loop of function calls");
  app.add_option("--wav", options.wav, "Where the sound goes");
  app.add_option("--chart", options.chart, "Where the histogram of round times goes");
  app.add_option("--threads", options.threads, "Threads at most; 0: one per core");
  app.add_option("--cores", options.cores, "The cores of these threads")->delimiter(',');
  app.add_option("--priority", options.priority, "Real-time priority, 1 to 99");
  app.add_flag("--locked", options.locked, "Lock the memory");
  app.add_option("--spin-us", options.spin_us, "Spin for so long before sleeping");
  CLI11_PARSE(app, argc, argv);

  Samples sound(options.blocks() * samples_per_block);
  std::string chart;
  try {
    if (const rondo::Status status = play(options, sound, chart); !status) return 1;
  } catch (const rondo::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  if (!audio::write_wav(options.wav, sound, audio::rate)) return not_written(options.wav);
  if (!(std::ofstream(options.chart) << chart << std::flush)) return not_written(options.chart);
  return options.check ? check(sound) : 0;
}
