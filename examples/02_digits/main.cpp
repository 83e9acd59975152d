// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Teaches a network to read hand-written digits. One round is one training step on a batch, as this graph of 16 tasks:
// [[ on cube cores ]] and [ on vector cores ]. pixels, labels and rate are copied in and loss is copied out; w1, b1, w2
// and b2 stay on the device from round to round.
//
//  forward   pixels ─▶[[ x·w1 ]]─▶[ h = relu(· + b1) ]─▶[[ h·w2 ]]─▶[ p = softmax(· + b2) ]─▶[ cross-entropy ]─▶ loss
//                                                                             │                      ▲
//                                                                             ▼                      │
//  backward                 [ dz1 = relu' ]◀────────[[ dz2·w2ᵀ ]]◀────[ dz2 = gradient ]◀───────── labels
//                             │         │                               │           │
//                             ▼         ▼                               ▼           ▼
//                [[ pixelsᵀ·dz1 ]]   [ Σ dz1 ]                 [[ hᵀ·dz2 ]]     [ Σ dz2 ]
//                             │         │                               │           │
//                             ▼         ▼                               ▼           ▼
//  update              [ w1 −= … ]   [ b1 −= … ]                 [ w2 −= … ]    [ b2 −= … ]   each by rate · gradient

#include "dataset.hpp"
#include "network.hpp"
#include "progress.hpp"
#include "report_svg.hpp"
#include "training.hpp"

#include <rondo/rondo.hpp>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using rondo::SelectedPlatform;

struct Options {
  std::uint64_t rounds = 10'000;
  std::size_t batch = 32;
  std::uint64_t seed = 1;
  std::string data;
  bool platform_info = false;
};

template <class P>
constexpr const char* engine_name = "the device";
template <class P>
  requires requires { P::Engine::name; }
constexpr const char* engine_name<P> = P::Engine::name;

void print_platform_info() {
  using Arch = SelectedPlatform::Arch;
  const auto fact = [](const char* what, const std::string& value) { std::printf("%-26s %s\n", what, value.c_str()); };
  const auto bytes = [](std::uint32_t n) { return digits::with_commas(n) + " bytes"; };
  fact("platform", SelectedPlatform::name);
  fact("engine", engine_name<SelectedPlatform>);
  fact("chip", Arch::name);
  fact("blocks", std::to_string(Arch::max_blocks));
  fact("cube cores", std::to_string(rondo::arch::cores<Arch>(rondo::CoreType::cube)));
  fact("vector cores", std::to_string(rondo::arch::cores<Arch>(rondo::CoreType::vector)));
  fact("schedulers", std::to_string(Arch::aicpu_schedulers));
  fact("8-bit floating point", Arch::has_fp8 ? "yes" : "no");
  fact("tensor alignment", bytes(Arch::tensor_alignment));
  fact("arena alignment", bytes(Arch::arena_alignment));
  fact("guard after a tensor", bytes(Arch::block_guard));
  fact("tensors of a task", "at most " + std::to_string(Arch::max_task_tensors));
  fact("scalars of a task", "at most " + std::to_string(Arch::max_task_scalars));
  fact("tensors of a graph", "at most " + std::to_string(Arch::max_graph_tensors));
}

/// Returns the path of the data: next to the program, in a folder `data` there, or in the source tree.
std::string find_data() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::string tried;
  for (const fs::path& file :
       {here / "digits.csv", here / "data/digits.csv", fs::path{RONDO_EXAMPLE_DATA_DIR} / "digits.csv"}) {
    if (fs::is_regular_file(file, ignored)) return file.string();
    tried += "\n  " + file.string();
  }
  throw std::runtime_error("cannot find digits.csv; say where it is with --data. Looked for" + tried);
}

/// Writes `text` to a file in the current folder; returns its path.
std::string write_picture(const std::string& text) {
  const std::filesystem::path file = std::filesystem::current_path() / "digits.svg";
  std::ofstream out{file};
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file.string());
  return file.string();
}

/// Accepts digits only. CLI11 itself turns a seed of -1 into 2^64 - 1.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  return CLI::Validator{[least, most](const std::string& text) -> std::string {
                          std::uint64_t value = 0;
                          const char* const end = text.data() + text.size();
                          const auto [stopped, error] = std::from_chars(text.data(), end, value);
                          if (error == std::errc{} && stopped == end && value >= least && value <= most) return {};
                          return "'" + text + "' is not a whole number of " + std::to_string(least) + " to " +
                                 std::to_string(most);
                        },
                        ""};
}

int run(const Options& options) {
  const std::string path = options.data.empty() ? find_data() : options.data;
  const digits::Digits all = digits::read_digits(path);
  const auto [train, test] = digits::split(all, digits::random_for(options.seed, digits::Stream::split));
  if (options.batch > train.size()) {
    throw std::runtime_error("--batch " + std::to_string(options.batch) + " is more than the " +
                             std::to_string(train.size()) + " digits to train on; choose 1 to " +
                             std::to_string(train.size()));
  }

  digits::Trainer<SelectedPlatform> trainer(
      digits::random_weights(digits::random_for(options.seed, digits::Stream::weights)), options.batch);
  digits::Batches batches(train, options.batch, digits::random_for(options.seed, digits::Stream::batches));
  std::printf("A 64-32-10 network on %s (%s): %zu digits to train on, %zu to test, %zu a round; %zu tasks a round\n",
              SelectedPlatform::name, engine_name<SelectedPlatform>, train.size(), test.size(), options.batch,
              trainer.graph().tasks().size());

  std::vector<float> losses;
  losses.reserve(options.rounds);
  digits::Progress progress(options.rounds);
  for (std::uint64_t round = 0; round < options.rounds; ++round) {
    batches.next();
    losses.push_back(trainer.step(batches.pixels(), batches.labels(), digits::rate_at(round, options.rounds)));
    progress.update(round + 1, losses.back());
  }
  const double seconds = progress.seconds();

  const digits::Verdicts verdicts(test, digits::classify<SelectedPlatform>(trainer.weights(), test));
  std::printf("%s in %.2f s: %s rounds/s\n", digits::counted(options.rounds, "round").c_str(), seconds,
              digits::with_commas(static_cast<std::uint64_t>(static_cast<double>(options.rounds) / seconds)).c_str());
  std::printf("%zu of %zu test digits read right\n", verdicts.right(), verdicts.size());

  int exit_code = 0;
  try {
    const std::string where = write_picture(digits::draw({.platform = SelectedPlatform::name,
                                                          .rounds = options.rounds,
                                                          .batch = options.batch,
                                                          .train_size = train.size(),
                                                          .seed = options.seed,
                                                          .losses = losses,
                                                          .verdicts = verdicts}));
    std::printf("picture: %s\n", where.c_str());
  } catch (const std::exception& e) {  // the accuracy is printed in any case
    std::fprintf(stderr, "digits: %s\n", e.what());
    exit_code = 1;
  }
  std::printf("accuracy %.3f\n", verdicts.accuracy());
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  CLI::App app{
      "Trains a small network on hand-written digits, one round of a device graph per step, and draws digits.svg."};
  app.option_defaults()->always_capture_default();
  app.add_option("--rounds", options.rounds, "Training steps to take, 1 to 10,000,000")
      ->check(whole_number(1, 10'000'000))
      ->type_name("N");
  app.add_option("--batch", options.batch, "Digits in each step, at most those to train on")
      ->check(whole_number(1, 1'000'000))
      ->type_name("N");
  app.add_option("--seed", options.seed, "Decides the test digits, the first weights and the batches")
      ->check(whole_number(0))
      ->type_name("N");
  app.add_option("--data", options.data, "The digits, 65 numbers a line; found without this too")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  app.add_flag("--platform-info", options.platform_info,
               "Print the facts of the platform that this was built for, and end");
  CLI11_PARSE(app, argc, argv);
  if (options.platform_info) {
    print_platform_info();
    return 0;
  }
  return run(options);
} catch (const std::exception& e) {
  std::fprintf(stderr, "digits: %s\n", e.what());
  return 1;
}
