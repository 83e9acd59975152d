// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Teaches the network of 02_digits to read hand-written digits, on several ranks at once:
//
//     mpirun -n 4 digits_mpi --rounds 500
//
// Every rank holds the whole network and takes an equal part of each batch. The gradients are added up over the ranks
// by tasks of the graph, so a training step is one round. The losses differ from those of one rank with the same batch
// by at most 1e-6 of their value, however long it trains: see exact.hpp.
//
//   pixels, labels ─▶[[ forward, backward ]]─┬─▶ dw2, db2 ─▶ all_reduce ─▶ [ w2 −= rate·dw2, b2 … ]
//                             ▲              └─▶ dw1, db1 ─▶ all_reduce ─▶ [ w1 −= rate·dw1, b1 … ]
//                             └──────────────────────── the next round ◀───────────────┘
//
// The weights stay on the device. The gradients of the second layer travel while those of the first are computed.

#include "../02_digits/dataset.hpp"
#include "../02_digits/network.hpp"
#include "../02_digits/training.hpp"
#include "exact.hpp"

#include <rondo/mpi/all_reduce.hpp>
#include <rondo/mpi/communicator.hpp>
#include <rondo/rondo.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iomanip>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using rondo::SelectedPlatform;
namespace mpi = rondo::mpi;

struct Options {
  std::uint64_t rounds = 1000;
  std::size_t batch = 32;
  std::uint64_t seed = 1;
  std::string data = RONDO_EXAMPLE_DATA_DIR "/digits.csv";
  std::string losses;
};

/// The training step of the picture, for `rows` digits, which are `share` of the batch.
struct SharedStep {
  mpi::Communicator ranks;
  rondo::TaskGraph graph;
  rondo::Input<float> pixels;
  rondo::Input<std::int32_t> labels;
  rondo::Input<float> rate;
  rondo::Output<float> loss;
  digits::Layers net;

  SharedStep(const mpi::Group& group, std::size_t rows, float share)
      : ranks{group},
        pixels{graph.input<float>("pixels", {rows, digits::pixels_per_digit})},
        labels{graph.input<std::int32_t>("labels", {rows})},
        rate{graph.input<float>("rate", {1})},
        loss{graph.output<float>("loss", {1})},
        net{graph} {
    const auto dw1 = graph.workspace<std::int64_t>("dw1", {digits::pixels_per_digit, digits::hidden});
    const auto db1 = graph.workspace<std::int64_t>("db1", {digits::hidden});
    const auto dw2 = graph.workspace<std::int64_t>("dw2", {digits::hidden, digits::classes});
    const auto db2 = graph.workspace<std::int64_t>("db2", {digits::classes});
    const auto p = graph.workspace<float>("p", {rows, digits::classes});

    const auto h = digits::add_forward(graph, net, rows, pixels, p);
    graph.add<digits::CrossEntropy>(p, labels, loss);
    const auto [dz1, dz2] = digits::add_backward(graph, net, rows, labels, h, p);
    graph.add<digits::ExactMatMulAt>(h, dz2, share, dw2);
    graph.add_collective(rondo::Collective::all_reduce, dw2, ranks);
    graph.add<digits::ExactColumnSum>(dz2, share, db2);
    graph.add_collective(rondo::Collective::all_reduce, db2, ranks);
    graph.add<digits::ExactMatMulAt>(pixels, dz1, share, dw1);
    graph.add_collective(rondo::Collective::all_reduce, dw1, ranks);
    graph.add<digits::ExactColumnSum>(dz1, share, db1);
    graph.add_collective(rondo::Collective::all_reduce, db1, ranks);

    graph.add<digits::ExactDescend>(net.w2, dw2, rate);
    graph.add<digits::ExactDescend>(net.b2, db2, rate);
    graph.add<digits::ExactDescend>(net.w1, dw1, rate);
    graph.add<digits::ExactDescend>(net.b1, db1, rate);
  }
};

/// This rank's part of the training.
class Trainer {
 public:
  Trainer(const digits::Weights& initial, std::size_t batch, const mpi::Group& group)
      : step_{group, batch / static_cast<std::size_t>(group.size()), 1.0F / static_cast<float>(group.size())},
        session_{rondo::open<SelectedPlatform>(step_.graph)} {
    check(session_.upload(step_.net.w1, initial.w1));
    check(session_.upload(step_.net.b1, initial.b1));
    check(session_.upload(step_.net.w2, initial.w2));
    check(session_.upload(step_.net.b2, initial.b2));
  }

  /// Takes one step with this learning rate on these digits and those of the other ranks. Returns the mean loss of this
  /// rank's digits.
  float step(std::span<const float> pixels, std::span<const std::int32_t> labels, float rate) {
    float loss = 0.0F;
    check(session_.run_round(rondo::bind(step_.pixels, pixels), rondo::bind(step_.labels, labels),
                             rondo::bind(step_.rate, rate), rondo::bind(step_.loss, loss)));
    return loss;
  }

  [[nodiscard]] digits::Weights weights() {
    digits::Weights weights = digits::random_weights(digits::Random{0});  // for the sizes
    check(session_.download(step_.net.w1, weights.w1));
    check(session_.download(step_.net.b1, weights.b1));
    check(session_.download(step_.net.w2, weights.w2));
    check(session_.download(step_.net.b2, weights.b2));
    return weights;
  }

 private:
  void check(rondo::Status status) const {
    if (!status) throw rondo::Error(status.code(), session_.explain(status));
  }

  SharedStep step_;
  rondo::RoundSession<SelectedPlatform> session_;
};

void run(const Options& options, const mpi::Group& group) {
  const auto ranks = static_cast<std::size_t>(group.size());
  const auto rank = static_cast<std::size_t>(group.rank());
  const bool is_first = rank == 0;
  // Every rank reads all digits and draws the same batches.
  const auto [train, test] =
      digits::split(digits::read_digits(options.data), digits::random_for(options.seed, digits::Stream::split));
  if (options.batch % ranks != 0 || options.batch > train.size()) {
    throw std::runtime_error("--batch " + std::to_string(options.batch) + " must be a multiple of the " +
                             std::to_string(ranks) + " ranks, and at most " + std::to_string(train.size()));
  }
  const std::size_t rows = options.batch / ranks;
  const digits::Weights initial = digits::random_weights(digits::random_for(options.seed, digits::Stream::weights));
  Trainer trainer(initial, options.batch, group);
  digits::Batches batches(train, options.batch, digits::random_for(options.seed, digits::Stream::batches));
  if (is_first) {
    std::printf("A 64-32-10 network on %zu × %s: %zu digits to train on, %zu a round on each rank\n", ranks,
                SelectedPlatform::name, train.size(), rows);
  }

  std::vector<double> losses;
  losses.reserve(options.rounds);
  for (std::uint64_t round = 0; round < options.rounds; ++round) {
    batches.next();
    const auto pixels =
        std::span{batches.pixels()}.subspan(rank * rows * digits::pixels_per_digit, rows * digits::pixels_per_digit);
    const auto labels = std::span{batches.labels()}.subspan(rank * rows, rows);
    losses.push_back(static_cast<double>(trainer.step(pixels, labels, digits::rate_at(round, options.rounds))));
  }
  mpi::all_reduce(std::span<double>{losses}, mpi::Op::mean, group);

  const digits::Weights weights = trainer.weights();
  if (!is_first) return;
  if (!options.losses.empty()) {
    std::ofstream out{options.losses};
    out << std::setprecision(17);
    for (const double loss : losses) out << loss << '\n';
    out.close();
    if (!out) throw std::runtime_error("cannot write " + options.losses);
  }
  const std::vector<float> probabilities = digits::classify<SelectedPlatform>(weights, test);
  std::size_t right = 0;
  for (std::size_t i = 0; i < test.size(); ++i) {
    const auto first = probabilities.begin() + static_cast<std::ptrdiff_t>(i * digits::classes);
    const auto guess = std::max_element(first, first + digits::classes) - first;
    right += guess == test.labels[i] ? 1U : 0U;
  }
  std::printf("loss %.4f in the first round, %.4f in the last\n", losses.front(), losses.back());
  std::printf("accuracy %.3f\n", static_cast<double>(right) / static_cast<double>(test.size()));
}

}  // namespace

int main(int argc, char** argv) try {
  const mpi::Environment environment(&argc, &argv);
  Options options;
  CLI::App app{"Trains the digits example on all ranks that mpirun starts, the gradients reduced in each round."};
  app.option_defaults()->always_capture_default();
  app.add_option("--rounds", options.rounds, "Training steps to take")->check(CLI::Range(1, 10'000'000));
  app.add_option("--batch", options.batch, "Digits in each step, over all ranks")->check(CLI::Range(1, 1'000'000));
  app.add_option("--seed", options.seed, "Decides the test digits, the first weights and the batches");
  app.add_option("--data", options.data, "The digits, 65 numbers a line")->check(CLI::ExistingFile.description(""));
  app.add_option("--losses", options.losses, "Where to write the loss of each step, one a line");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options, mpi::Group{});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "digits_mpi: %s\n", e.what());
    environment.abort(1);  // the other ranks would wait for this one
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "digits_mpi: %s\n", e.what());
  return 1;
}
