// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Runs the tasks of a dump again and compares:  replay dumps/first --platform a5_sim --engine pool --task 3
// It has the kernels of the examples. For kernels of your own, write the ten lines that docs/dumping.md shows.

#include "../examples/02_digits/network.hpp"

#include <rondo/measure/check_close.hpp>
#include <rondo/observe/dump.hpp>
#include <rondo/observe/kernel_table.hpp>
#include <rondo/observe/manifest.hpp>
#include <rondo/observe/replay.hpp>
#include <rondo/platform/file.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/open.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/transform.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

namespace observe = rondo::observe;

/// The kernel of examples/01_saxpy.cpp.
struct Saxpy {
  static constexpr std::string_view name = "saxpy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
  }
};

observe::KernelTable all_kernels() {
  return observe::kernels<Saxpy, digits::MatMul, digits::MatMulAt, digits::MatMulBt, digits::BiasRelu,
                          digits::BiasSoftmax, digits::CrossEntropy, digits::LossGradient, digits::ReluGradient,
                          digits::ColumnSum, digits::Descend>();
}

/// Dumps the third of three training steps of the digits network, on noise, to have a dump to replay.
void dump_example(const std::string& folder) {
  constexpr std::size_t batch = 8;
  digits::TrainingStep step{batch};
  auto session = rondo::open<rondo::A2A3SimOn<observe::Dumping<rondo::Inline>>>(step.graph);
  digits::Random random{1};
  const auto check = [&](rondo::Status status) {
    if (!status) throw rondo::Error(status.code(), session.explain(status));
  };
  const digits::Weights weights = digits::random_weights(random);
  check(session.upload(step.net.w1, weights.w1));
  check(session.upload(step.net.b1, weights.b1));
  check(session.upload(step.net.w2, weights.w2));
  check(session.upload(step.net.b2, weights.b2));
  std::vector<float> pixels(batch * digits::pixels_per_digit);
  std::vector<std::int32_t> labels(batch);
  float rate = 0.1F;
  float loss = 0;
  auto& engine = session.platform().engine();
  for (int round = 0; round < 3; ++round) {
    for (float& each : pixels) each = random.uniform(1);
    for (auto& each : labels) each = static_cast<std::int32_t>(random.next() % digits::classes);
    if (round == 2) engine.dump_next(folder);
    check(session.run_round(bind(step.pixels, pixels), bind(step.labels, labels), bind(step.rate, rate),
                            bind(step.loss, loss)));
  }
  if (!engine.dump_failure().empty()) {
    throw rondo::Error(rondo::Errc::invalid_argument, engine.dump_failure());
  }
}

/// Prints the contents of the dump, one line for each task.
void list(const std::string& folder) {
  const observe::DumpedRound dump = observe::read_manifest(folder);
  const auto names = [&](const std::vector<observe::DumpedContents>& contents) {
    return contents | ranges::views::transform([&](const auto& c) { return " " + dump.tensors[c.tensor].name; }) |
           ranges::views::join | ranges::to<std::string>;
  };
  fmt::print("round {}\n", dump.round);
  for (const observe::DumpedTask& task : dump.tasks) {
    fmt::print("task {} ({}, {}, blocks {}) reads{} writes{}{}\n", task.id, task.kernel, to_string(task.core),
               task.blocks, names(task.read), names(task.written), task.finished ? "" : ": its kernel threw");
  }
}

template <template <class> class Chip>
observe::ReplayReport replay_on(const std::string& engine, const std::string& folder,
                                const observe::ReplayOptions& options) {
  if (engine == "pool") return observe::replay<Chip<rondo::Pool>>(folder, all_kernels(), options);
  if (engine == "checked") return observe::replay<Chip<rondo::Checked<rondo::Inline>>>(folder, all_kernels(), options);
  return observe::replay<Chip<rondo::Inline>>(folder, all_kernels(), options);
}
template <class Engine>
using OnA2A3 = rondo::A2A3SimOn<Engine>;
template <class Engine>
using OnA5 = rondo::A5SimOn<Engine>;

int run(int argc, char** argv) {
  CLI::App app{
      "Runs the tasks of a dump again, each by itself, and compares what they write with the dump.\n"
      "Exit code: 0 all the same, 2 not, 1 there is no such dump or task.",
      "replay"};
  std::string folder;
  std::string platform = "a2a3_sim";
  std::string engine = "inline";
  std::vector<std::uint32_t> tasks;
  observe::ReplayOptions options;
  bool only_list = false;
  bool example = false;
  const CLI::Validator is_tolerance{[](std::string& text) {  // CLI::Range lets NaN pass
                                      double number;
                                      const bool converted = CLI::detail::lexical_cast(text, number);
                                      if (converted && number >= 0 && std::isfinite(number)) return std::string();
                                      return fmt::format("{} is not a finite number of at least 0", text);
                                    },
                                    ""};
  app.add_option("dump", folder, "the folder that holds manifest.json")->required();
  app.add_option("--platform", platform, "a2a3_sim or a5_sim")
      ->check(CLI::IsMember({"a2a3_sim", "a5_sim"}))
      ->capture_default_str();
  app.add_option("--engine", engine, "inline, pool or checked")
      ->check(CLI::IsMember({"inline", "pool", "checked"}))
      ->capture_default_str();
  app.add_option("--task", tasks, "only these tasks, by their numbers; see --list");
  app.add_flag("--chain", options.chain, "tasks read what the replayed tasks before them wrote, not the dump");
  app.add_option("--relative", options.tolerance.relative, "how far floats may differ, as a part of the dump's")
      ->check(is_tolerance)
      ->capture_default_str();
  app.add_option("--absolute", options.tolerance.absolute, "and in addition to that")
      ->check(is_tolerance)
      ->capture_default_str();
  app.add_flag("--list", only_list, "print what the dump holds, and run nothing");
  app.add_flag("--example", example, "first dump a training step of the digits example there");
  try {
    app.parse(argc, argv);
    if (example) dump_example(folder);
    if (only_list) {
      list(folder);
      rondo::detail::flush_output();
      return 0;
    }
    for (const std::uint32_t task : tasks) options.tasks.push_back(rondo::TaskId{task});
    const observe::ReplayReport report =
        platform == "a5_sim" ? replay_on<OnA5>(engine, folder, options) : replay_on<OnA2A3>(engine, folder, options);
    fmt::print("{}", report.text());
    rondo::detail::flush_output();
    return report.ok() ? 0 : 2;
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    std::cerr << "replay: " << error.what() << '\n';
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
