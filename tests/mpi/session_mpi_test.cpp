// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "mpi/patient.hpp"

#include <rondo/mpi/all_reduce.hpp>
#include <rondo/mpi/collectives.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace {

using rondo::Errc;
using rondo::Status;
namespace mpi = rondo::mpi;

/// total += x, and what total was goes out.
struct Accumulate {
  static constexpr std::string_view name = "accumulate";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> total, rondo::Out<float> seen) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) {
      seen[i] = total[i];
      total[i] += x[i];
    }
  }
};

struct Accumulation {
  rondo::TaskGraph graph;
  rondo::Input<float> x;
  rondo::Output<float> seen;
  rondo::Resident<float> total;

  explicit Accumulation(std::size_t n = 5)
      : x{graph.input<float>("x", {n})},
        seen{graph.output<float>("seen", {n})},
        total{graph.resident<float>("total", {n})} {
    graph.add<Accumulate>(x, total, seen);
  }
};

std::vector<float> ramp(float first) {
  std::vector<float> values(5);
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// What the ranks' ramps, each beginning with its number, become.
float expected(mpi::Op op, int ranks, float i) {
  float value = i;
  for (int r = 1; r < ranks; ++r) {
    const float other = static_cast<float>(r) + i;
    if (op == mpi::Op::sum || op == mpi::Op::mean) value += other;
    if (op == mpi::Op::min) value = std::min(value, other);
    if (op == mpi::Op::max) value = std::max(value, other);
    if (op == mpi::Op::product) value *= other;
  }
  return op == mpi::Op::mean ? value / static_cast<float>(ranks) : value;
}

using ThreeInFlight = rondo::PipelinedSession<rondo::A2A3Sim, 3>;

}  // namespace

TEST_CASE_TEMPLATE("a resident tensor is reduced over all ranks by each operation", Session,
                   rondo::RoundSession<rondo::A2A3Sim>, ThreeInFlight) {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Accumulation a;
  Session session(rondo::freeze(a.graph));
  for (const mpi::Op op : {mpi::Op::sum, mpi::Op::mean, mpi::Op::min, mpi::Op::max, mpi::Op::product}) {
    CAPTURE(mpi::to_string(op));
    REQUIRE(session.upload(a.total, ramp(static_cast<float>(group.rank()))).ok());
    REQUIRE(mpi::all_reduce(session, a.total, op, group).ok());
    std::vector<float> total(5);
    REQUIRE(session.download(a.total, total).ok());
    for (std::size_t i = 0; i < 5; ++i) CHECK(total[i] == expected(op, group.size(), static_cast<float>(i)));
  }
}

TEST_CASE("several tensors travel together and keep apart") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {2});
  const auto y = graph.output<float>("y", {2});
  const auto first = graph.resident<float>("first", {2});
  const auto z = graph.output<float>("z", {3});
  const auto x3 = graph.input<float>("x3", {3});
  const auto second = graph.resident<float>("second", {3});
  graph.add<Accumulate>(x, first, y);
  graph.add<Accumulate>(x3, second, z);
  auto session = rondo::open<rondo::A5Sim>(graph);
  const float r = static_cast<float>(group.rank());
  REQUIRE(session.upload(first, std::vector<float>{r, r}).ok());
  REQUIRE(session.upload(second, std::vector<float>{10 * r, 10 * r, 10 * r}).ok());
  mpi::AllReduce reduce(session, group, mpi::Op::sum, first, second);
  for (int again = 0; again < 2; ++again) {
    REQUIRE(reduce.start().ok());
    REQUIRE(reduce.finish().ok());
  }
  std::vector<float> a(2), b(3);
  REQUIRE(session.download(first, a).ok());
  REQUIRE(session.download(second, b).ok());
  const auto n = static_cast<float>(group.size());
  const float sum = n * n * (n - 1) / 2;  // reduced twice
  CHECK(a == std::vector<float>{sum, sum});
  CHECK(b == std::vector<float>{10 * sum, 10 * sum, 10 * sum});
}

TEST_CASE("a reduction finishes between the copy-in of the next round and its launch") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Accumulation a;
  auto session = rondo::open<rondo::A2A3Sim>(a.graph);
  REQUIRE(session.upload(a.total, ramp(0)).ok());
  mpi::AllReduce reduce(session, group, mpi::Op::sum, a.total);
  std::vector<float> x(5, 1.0F), seen(5);
  float expect = 0;  // of element 0
  for (int round = 0; round < 3; ++round) {
    REQUIRE(reduce.start().ok());
    auto bound = session.begin_round(bind(a.x, x), bind(a.seen, seen));
    x.assign(5, -100.0F);  // it has been taken
    REQUIRE(reduce.finish().ok());
    REQUIRE(std::move(bound).launch().finish().status().ok());
    expect *= static_cast<float>(group.size());
    CHECK(seen[0] == expect);
    expect += 1.0F;
    x.assign(5, 1.0F);
  }
  std::vector<float> total(5);
  REQUIRE(session.download(a.total, total).ok());
  CHECK(total[0] == expect);
}

TEST_CASE("ranks that reduce tensors of different sizes are all told which and whose") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  const bool is_last = group.rank() + 1 == group.size();
  Accumulation a(is_last ? 7 : 5);
  auto session = rondo::open<rondo::A2A3Sim>(a.graph);
  std::string text;
  try {
    mpi::AllReduce reduce(session, group, mpi::Op::sum, a.total);
  } catch (const rondo::Error& e) {
    CHECK(e.code() == Errc::invalid_argument);
    text = e.what();
  }
  if (group.size() == 1) {
    CHECK(text.empty());
  } else {
    CHECK(text == "all_reduce: 'total' has 5 elements on rank 0 and 7 on rank " + std::to_string(group.size() - 1) +
                      "; give all ranks the same sizes");
  }
}

TEST_CASE("ranks that ask for different operations or types are told so") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  std::vector<float> values(3);
  CHECK_THROWS_WITH_AS(
      mpi::all_reduce(std::span<float>{values}, group.rank() == 1 ? mpi::Op::min : mpi::Op::max, group),
      "all_reduce: rank 0 asks for max, rank 1 for min", rondo::Error);
  std::vector<std::int32_t> integers(3);
  const auto reduce = [&] {
    if (group.rank() == 1) {
      mpi::all_reduce(std::span<std::int32_t>{integers}, mpi::Op::sum, group);
    } else {
      mpi::all_reduce(std::span<float>{values}, mpi::Op::sum, group);
    }
  };
  CHECK_THROWS_WITH_AS(reduce(), "all_reduce: ranks 0 and 1 have different types of elements", rondo::Error);
}

TEST_CASE("the mean of integers is refused and host memory of any kind is reduced") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  std::vector<std::int64_t> counts{1, group.rank()};
  CHECK_THROWS_AS(mpi::all_reduce(std::span<std::int64_t>{counts}, mpi::Op::mean, group), rondo::Error);
  mpi::all_reduce(std::span<std::int64_t>{counts}, mpi::Op::sum, group);
  CHECK(counts == std::vector<std::int64_t>{group.size(), group.size() * (group.size() - 1) / 2});
  std::vector<double> loss{static_cast<double>(group.rank())};
  mpi::all_reduce(std::span<double>{loss}, mpi::Op::mean, group);
  CHECK(loss[0] == static_cast<double>(group.size() - 1) / 2);
}

TEST_CASE("steps out of order are refused and change nothing") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Accumulation a;
  auto session = rondo::open<rondo::A2A3Sim>(a.graph);
  REQUIRE(session.upload(a.total, ramp(1)).ok());
  mpi::AllReduce reduce(session, group, mpi::Op::max, a.total);
  const Status early = reduce.finish();
  CHECK(early.code() == Errc::invalid_argument);
  CHECK(std::string{reduce.explain(early).c_str()} == "all_reduce: finish() without start()");
  REQUIRE(reduce.start().ok());
  CHECK(reduce.start().code() == Errc::busy);
  while (!reduce.is_done()) {
  }
  CHECK(reduce.start().code() == Errc::busy);  // its result has not been taken
  REQUIRE(reduce.finish().ok());
  CHECK_FALSE(reduce.is_done());
  std::vector<float> total(5);
  REQUIRE(session.download(a.total, total).ok());
  CHECK(total == ramp(1));
}

TEST_CASE("a session that cannot download cannot start and says why") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Accumulation a;
  auto session = rondo::open<rondo::A2A3Sim>(a.graph);
  mpi::AllReduce reduce(session, group, mpi::Op::sum, a.total);
  REQUIRE(session.close().ok());
  const Status status = reduce.start();
  CHECK(status.code() == Errc::closed);
  CHECK(std::string{reduce.explain(status).c_str()}.find("closed") != std::string::npos);
}

TEST_CASE("a rank that does not come is waited for with patience and not for ever") {
  mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  Accumulation a;
  auto session = rondo::open<rondo::A2A3Sim>(a.graph);
  REQUIRE(session.upload(a.total, ramp(1)).ok());
  mpi::AllReduce reduce(session, group, mpi::Op::sum, a.total);
  group.set_patience(0.2);
  int token = 0;
  if (group.rank() != 0) {
    REQUIRE(reduce.start().ok());
    const Status status = reduce.finish();
    CHECK(status.code() == Errc::timed_out);
    const std::string text = reduce.explain(status).c_str();
    CHECK(text.starts_with("all_reduce: rank " + std::to_string(group.rank()) + " waited 200 ms for the others"));
    CHECK(reduce.start() == status);
    CHECK(reduce.finish() == status);
    MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {  // it comes when they have all given up
    for (int r = 1; r < group.size(); ++r) MPI_Recv(&token, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    REQUIRE(reduce.start().ok());
  }
}

TEST_CASE("a rank that does not construct its reduction is told of and not waited for for ever") {
  const mpi::Group group(MPI_COMM_WORLD, {.patience = 0.2});
  if (group.size() == 1) return;
  std::vector<float> values(3);
  int token = 0;
  if (group.rank() != 0) {
    std::string text;
    try {
      mpi::all_reduce(std::span<float>{values}, mpi::Op::sum, group);
    } catch (const rondo::Error& e) {
      CHECK(e.code() == Errc::timed_out);
      text = e.what();
    }
    CHECK(text == "rank " + std::to_string(group.rank()) +
                      " waited 200 ms for the others; does every rank come here, in the same order?");
    MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {
    for (int r = 1; r < group.size(); ++r) MPI_Recv(&token, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

TEST_CASE("a rank that leaves by an exception does not wait for the others first") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  int token = 0;
  if (group.rank() == 0) {
    bool is_caught = false;
    try {
      const mpi::Group other_group(MPI_COMM_WORLD, patient);
      Accumulation a;
      auto session = rondo::open<rondo::A2A3Sim>(a.graph);
      REQUIRE(session.upload(a.total, ramp(1)).ok());
      mpi::AllReduce reduce(session, other_group, mpi::Op::sum, a.total);
      REQUIRE(reduce.start().ok());
      throw rondo::Error(Errc::stopped, rondo::Error::Text("on purpose"));
    } catch (const rondo::Error& e) {
      is_caught = e.code() == Errc::stopped;
    }
    CHECK(is_caught);
    for (int r = 1; r < group.size(); ++r) MPI_Send(&token, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
  } else {  // they come to the reduction only when the other has left
    mpi::Group impatient(MPI_COMM_WORLD, patient);
    Accumulation a;
    auto session = rondo::open<rondo::A2A3Sim>(a.graph);
    REQUIRE(session.upload(a.total, ramp(1)).ok());
    mpi::AllReduce reduce(session, impatient, mpi::Op::sum, a.total);
    impatient.set_patience(0.2);
    MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    REQUIRE(reduce.start().ok());
    (void)reduce.finish();  // it may come to an end or not: the other's part was on its way
  }
}

TEST_CASE("Between rounds, residents are broadcast, gathered, scattered and exchanged") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  const auto ranks = static_cast<std::size_t>(group.size());
  const int next = (group.rank() + 1) % group.size();
  const int previous = (group.rank() + group.size() - 1) % group.size();
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {5});
  const auto seen = graph.output<float>("seen", {5});
  const auto own = graph.resident<float>("own", {5});
  const auto all = graph.resident<float>("all", {ranks * 5});
  const auto part = graph.resident<float>("part", {5});
  graph.add<Accumulate>(x, own, seen);
  auto session = rondo::open<rondo::A2A3Sim>(graph);
  const auto get = [&](auto tensor) {
    std::vector<float> values(session.pair(tensor).size());
    REQUIRE(session.download(tensor, values).ok());
    return values;
  };
  REQUIRE(session.upload(own, ramp(static_cast<float>(group.rank()))).ok());
  REQUIRE(mpi::all_gather(session, own, all, group).ok());
  for (std::size_t i = 0; i < ranks * 5; ++i) CHECK(get(all)[i] == static_cast<float>(i / 5 + i % 5));
  REQUIRE(mpi::reduce_scatter(session, all, part, mpi::Op::mean, group).ok());
  CHECK(get(part) == ramp(static_cast<float>(group.rank())));
  if (group.size() > 1) {
    if (group.rank() == 0) {
      REQUIRE(mpi::send(session, own, next, group).ok());
      REQUIRE(mpi::recv(session, part, previous, group).ok());
    } else {
      REQUIRE(mpi::recv(session, part, previous, group).ok());
      REQUIRE(mpi::send(session, own, next, group).ok());
    }
    CHECK(get(part) == ramp(static_cast<float>(previous)));
  }
  REQUIRE(mpi::broadcast(session, own, group.size() - 1, group).ok());
  CHECK(get(own) == ramp(static_cast<float>(group.size() - 1)));
}

TEST_CASE("Collectives between rounds that do not fit together are refused on all ranks that take part") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  std::vector<float> values(static_cast<std::size_t>(group.size()) * 2);
  CHECK_THROWS_WITH_AS(mpi::broadcast(std::span<float>{values}, group.size(), group),
                       ("broadcast: there is no rank " + std::to_string(group.size()) + "; there are " +
                        std::to_string(group.size()) + ", counted from 0")
                           .c_str(),
                       rondo::Error);
  CHECK_THROWS_AS(mpi::send(std::span<const float>{values}, group.rank(), group), rondo::Error);
  std::vector<float> part(3);
  CHECK_THROWS_AS(mpi::all_gather(std::span<const float>{part}, std::span<float>{values}, group), rondo::Error);
  CHECK_THROWS_AS(mpi::reduce_scatter(std::span<const float>{values}, std::span<float>{part}, mpi::Op::sum, group),
                  rondo::Error);
  if (group.size() == 1) return;
  std::vector<float> different(group.rank() == 1 ? 4 : 3);
  CHECK_THROWS_WITH_AS(mpi::broadcast(std::span<float>{different}, 0, group),
                       "broadcast: rank 0 has 3 elements, rank 1 has 4", rondo::Error);
  CHECK_THROWS_WITH_AS(mpi::broadcast(std::span<float>{values}, group.rank() == 1 ? 1 : 0, group),
                       "broadcast: rank 0 passes rank 0, rank 1 passes 1", rondo::Error);
  if (group.rank() == 0) mpi::send(std::span<const float>{part}, 1, group);
  if (group.rank() == 1) {
    CHECK_THROWS_WITH_AS(mpi::recv(std::span<float>{different}, 0, group),
                         "recv: rank 0 sends 12 bytes to rank 1, which has memory for 16", rondo::Error);
  }
  const mpi::Group impatient(MPI_COMM_WORLD, {.patience = 0.2});
  if (group.rank() == 1) {
    CHECK_THROWS_WITH_AS(mpi::recv(std::span<float>{different}, 0, impatient), "recv: rank 1 waited 200 ms for rank 0",
                         rondo::Error);
  }
}
