// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The programs that docs/mpi.md shows.
#include "stand_in/control.hpp"

#include <rondo/measure/local_runner.hpp>
#include <rondo/measure/program_measurer.hpp>
#include <rondo/measure/source_builder.hpp>
#include <rondo/mpi/all_reduce.hpp>
#include <rondo/mpi/communicator.hpp>
#include <rondo/mpi/measure.hpp>
#include <rondo/platform/cuda/nccl.hpp>
#include <rondo/platform/onboard/hccl.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Gradient {
  static constexpr std::string_view name = "gradient";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> gradient, rondo::Out<float> seen) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) seen[i] = gradient[i], gradient[i] = x[i];
  }
};

struct Saxpy {
  static constexpr std::string_view name = "saxpy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
  }
};

}  // namespace

TEST_CASE("the training loop of the page sees the mean of all ranks one round later") {
  const rondo::mpi::Group group;
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {4});
  const auto gradient = graph.resident<float>("gradient", {4});
  const auto seen = graph.output<float>("seen", {4});
  graph.add<Gradient>(x, gradient, seen);
  auto session = rondo::open<rondo::SelectedPlatform>(graph);
  REQUIRE(session.upload(gradient, std::vector<float>(4)).ok());
  const std::vector<std::vector<float>> batches(3, std::vector<float>(4, static_cast<float>(group.rank())));
  std::vector<float> result(4, -1.0F);
  bool is_started = false;

  namespace mpi = rondo::mpi;

  mpi::AllReduce reduce(session, group, mpi::Op::mean, gradient);  // once: the ranks compare what they mean
  for (const auto& batch : batches) {
    auto round = session.begin_round(bind(x, batch), bind(seen, result));  // copied in while gradients travel
    if (is_started && !reduce.finish()) break;                             // waits for the ranks, and uploads the mean
    if (!std::move(round).launch().finish().status()) break;
    is_started = reduce.start().ok();  // downloads the gradients, and begins to send
  }

  REQUIRE(reduce.finish().ok());
  CHECK(session.rounds() == 3);
  CHECK(result == std::vector<float>(4, static_cast<float>(group.size() - 1) / 2));
}

TEST_CASE("the collectives of the page give what they say") {
  const rondo::mpi::Group group;
  constexpr std::size_t n = 3;

  using rondo::Collective, rondo::Reduction;

  rondo::mpi::Communicator ranks(group);
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.inout<float>("y", {n});
  const auto all = graph.output<float>("all", {ranks.size(), n});
  graph.add<Saxpy>(x, y, 2.0F);
  graph.add_collective(Collective::all_reduce, y, ranks, {.reduction = Reduction::mean});  // in place
  graph.add_collective(Collective::all_gather, x, all, ranks);                             // from x to all
  auto session = rondo::open<rondo::SelectedPlatform>(graph);  // the ranks compare their graphs

  const std::vector<float> hx(n, static_cast<float>(group.rank()));
  std::vector<float> hy(n, 1.0F), hall(n * static_cast<std::size_t>(group.size()));
  REQUIRE(session.run_round(bind(x, hx), bind(y, hy), bind(all, hall)).ok());
  CHECK(hy == std::vector<float>(n, 1.0F + static_cast<float>(group.size() - 1)));
  CHECK(hall.back() == static_cast<float>(group.size() - 1));
}

TEST_CASE("the communicators of the page for NPUs and GPUs join the ranks") {
  const rondo::mpi::Group group;
  rondo_stand_in_chip("a2a3");

  const std::uint32_t local = 0;  // over the stand-ins, all ranks can use one device

  rondo::HcclCommunicator npus(group, {.device = local});  // on NPUs: the group distributes HCCL's root information
  rondo::NcclCommunicator gpus(group, {.device = local});  // on GPUs: it distributes NCCL's unique id

  CHECK(npus.rank() == group.rank());
  CHECK(npus.size() == group.size());
  CHECK(gpus.rank() == group.rank());
  CHECK(gpus.size() == group.size());
}

TEST_CASE("the tuner of the page has its candidate built and run on another rank") {
  const rondo::mpi::Group group;
  if (group.size() == 1) return;
  const auto workload = [](rondo::measure::Trial& trial) {
    const int value = trial.symbol<int()>("value")();
    trial.time_calls([] {});
    trial.measured().seconds = {static_cast<double>(value)};
  };
  const std::string source = "extern \"C\" int value() { return 12; }";
  double best = 0;

  using namespace rondo::measure;
  using namespace rondo::mpi;

  if (group.rank() != 0) {
    LocalRunner runner(workload);
    SourceBuilder builder({.workers = 1, .flags = {"-O0"}});
    serve(group, builder, runner);  // until the tuner's builder and runner are gone
  } else {
    RankBuilder<> builder(group);
    RankRunner<> runner(group);
    ProgramMeasurer measurer(builder, runner);
    measurer.submit({.source = source}, [&](const Result& result) { best = result.best(); });
    measurer.wait();
    CHECK(best == 12);
  }
}
