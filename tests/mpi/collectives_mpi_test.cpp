// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Collectives as tasks of a graph.
#include "mpi/patient.hpp"
#include "mpi/until.hpp"

#include <rondo/mpi/collectives.hpp>
#include <rondo/mpi/communicator.hpp>
#include <rondo/platform/host/host.hpp>
#include <rondo/platform/sim/checked.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace {

using rondo::Collective;
using rondo::Errc;
using rondo::Reduction;
using rondo::Status;
namespace mpi = rondo::mpi;

using Floats = std::vector<float>;

/// y = 2 x
struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
/// z = x + y
struct Sum {
  static constexpr std::string_view name = "sum";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::In<float> y, rondo::Out<float> z) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] + y[i];
  }
};

constexpr std::size_t n = 6;

/// Element i of the input of a rank in a round.
float input_at(int rank, int round, std::size_t i) {
  return static_cast<float>(100 * rank + 10 * round + static_cast<int>(i));
}
Floats input_of(int rank, int round, std::size_t count = n) {
  Floats x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = input_at(rank, round, i);
  return x;
}

/// sum = the ranks' 2 x, added up, + x; all = the ranks' x; part = this rank's share of all of them, added up; given =
/// the last rank's x.
struct Everything {
  mpi::Communicator ranks;
  std::size_t size;
  rondo::TaskGraph graph;
  rondo::Input<float> x = graph.input<float>("x", {n});
  rondo::Output<float> sum = graph.output<float>("sum", {n});
  rondo::Output<float> all = graph.output<float>("all", {size, n});
  rondo::Output<float> part = graph.output<float>("part", {n});
  rondo::Output<float> given = graph.output<float>("given", {n});
  rondo::Workspace<float> doubled = graph.workspace<float>("doubled", {n});
  rondo::Workspace<float> gathered = graph.workspace<float>("gathered", {size, n});
  rondo::Workspace<float> from_last = graph.workspace<float>("from_last", {n});

  explicit Everything(const mpi::Group& group) : ranks{group}, size{static_cast<std::size_t>(group.size())} {
    graph.add<Twice>(x, doubled);
    graph.add_collective(Collective::all_reduce, doubled, ranks);
    graph.add_collective(Collective::all_gather, x, gathered, ranks);
    graph.add<Sum>(doubled, x, sum);
    graph.add<Copy>(gathered, all);
    graph.add_collective(Collective::reduce_scatter, gathered, part, ranks, {.reduction = Reduction::mean});
    if (ranks.rank() + 1 == ranks.size()) graph.add<Copy>(x, from_last);
    graph.add_collective(Collective::broadcast, from_last, ranks, {.rank = ranks.size() - 1});
    graph.add<Copy>(from_last, given);
  }

  struct Copy {
    static constexpr std::string_view name = "copy";
    static constexpr auto core = rondo::CoreType::vector;
    static void run(rondo::In<float> x, rondo::Out<float> y) noexcept {
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i];
    }
  };

  /// What a round gives.
  struct Result {
    Floats sum, all, part, given;
    explicit Result(std::size_t ranks) : sum(n), all(ranks * n), part(n), given(n) {}
    friend bool operator==(const Result&, const Result&) = default;
  };
  [[nodiscard]] Result expected(int round) const {
    Result r(size);
    for (int rank = 0; rank < ranks.size(); ++rank) {
      for (std::size_t i = 0; i < n; ++i) {
        r.sum[i] += 2 * input_at(rank, round, i);
        r.all[static_cast<std::size_t>(rank) * n + i] = input_at(rank, round, i);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      r.sum[i] += input_at(ranks.rank(), round, i);
      r.part[i] = input_at(ranks.rank(), round, i);
      r.given[i] = input_at(ranks.size() - 1, round, i);
    }
    return r;
  }
};

/// A pool that spreads even short tasks over three threads from the first round on.
template <class P>
typename P::Options busy_options() {
  typename P::Options options{};
  if constexpr (requires { options.engine.threads; }) {
    options.engine.threads = 3;
    options.engine.scheduling = rondo::platform::sim::Scheduling::uniform;
  }
  return options;
}

}  // namespace

TEST_CASE_TEMPLATE("Collectives are tasks among others, on each engine", P, rondo::A2A3Sim, rondo::HostOn<rondo::Pool>,
                   rondo::A5SimOn<rondo::Checked<rondo::Pool>>) {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Everything e(group);
  auto session = rondo::open<P>(e.graph, busy_options<P>());
  for (int round = 0; round < 5; ++round) {
    const Floats x = input_of(group.rank(), round);
    Everything::Result r(e.size);
    const Status status = session.run_round(bind(e.x, x), bind(e.sum, r.sum), bind(e.all, r.all), bind(e.part, r.part),
                                            bind(e.given, r.given));
    const std::string text = session.explain(status).c_str();
    INFO(text);
    REQUIRE(status.ok());
    CHECK(r == e.expected(round));
  }
}

TEST_CASE_TEMPLATE("Collectives of rounds in flight do not mix", P, rondo::A2A3Sim, rondo::A2A3SimOn<rondo::Pool>) {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Everything e(group);
  auto session = rondo::open_pipelined<P, 3>(e.graph, busy_options<P>());
  std::vector<Floats> x;
  std::vector<Everything::Result> r(40, Everything::Result(e.size));
  for (int round = 0; round < 40; ++round) x.push_back(input_of(group.rank(), round));
  for (std::size_t i = 0; i < r.size(); ++i) {
    (void)session.submit_round(bind(e.x, x[i]), bind(e.sum, r[i].sum), bind(e.all, r[i].all), bind(e.part, r[i].part),
                               bind(e.given, r[i].given));
  }
  REQUIRE(session.wait_all().ok());
  for (std::size_t i = 0; i < r.size(); ++i) CHECK(r[i] == e.expected(static_cast<int>(i)));
}

TEST_CASE("Tasks that need not wait for a collective run before its end") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  Everything e(group);
  const rondo::FrozenGraph frozen = rondo::freeze(e.graph);
  const auto view = frozen.view();
  std::string order;
  for (const auto& task : view.tasks) order.append(view.name(task.name)).append("; ");
  const bool has_it = group.rank() + 1 == group.size();  // the elements that the last rank broadcasts
  CHECK(order == std::string("twice; all_reduce(doubled) begins; all_gather(gathered) begins; ") +
                     (has_it ? "copy; copy; " : "") +
                     "all_reduce(doubled); sum; all_gather(gathered); copy; reduce_scatter(part) begins; "
                     "broadcast(from_last) begins; reduce_scatter(part); broadcast(from_last); " +
                     (has_it ? "" : "copy; "));
}

TEST_CASE("Collectives begin in the order in which they were added, over all communicators") {
  const mpi::Group group(MPI_COMM_WORLD, patient), other_group(MPI_COMM_WORLD, patient);
  mpi::Communicator ranks(group), others(other_group);
  rondo::TaskGraph graph;
  for (const char* const name : {"a", "b", "c", "d"}) {
    const auto x = graph.inout<float>(name, {n});
    const bool is_even = name[0] % 2 == 0;
    graph.add_collective(is_even ? Collective::broadcast : Collective::all_reduce, x, is_even ? others : ranks);
  }
  const rondo::FrozenGraph frozen = rondo::freeze(graph);
  const auto view = frozen.view();
  std::vector<std::uint32_t> begins;
  for (std::uint32_t t = 0; t < view.tasks.size(); ++t) {
    if (view.name(view.tasks[t].name).ends_with(" begins")) begins.push_back(t);
  }
  REQUIRE(begins.size() == 4);
  for (std::size_t i = 1; i < begins.size(); ++i) {
    const auto next = view.successors_of(begins[i - 1]);
    CHECK(std::find(next.begin(), next.end(), begins[i]) != next.end());
    CHECK(view.tasks[begins[i - 1]].added_as < view.tasks[begins[i]].added_as);
  }
}

TEST_CASE("Neighbours exchange elements by send and recv, round after round") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  mpi::Communicator ranks(group);
  const int next = (ranks.rank() + 1) % ranks.size();
  const int previous = (ranks.rank() + ranks.size() - 1) % ranks.size();
  rondo::TaskGraph graph;
  constexpr std::size_t many = 100'000;  // more than MPI sends ahead of the receiver
  const auto x = graph.input<float>("x", {many});
  const auto y = graph.output<float>("y", {many});
  graph.add_collective(Collective::send, x, ranks, {.rank = next});
  graph.add_collective(Collective::recv, y, ranks, {.rank = previous});
  auto session = rondo::open<rondo::A2A3Sim>(graph);
  for (int round = 0; round < 5; ++round) {
    const Floats in = input_of(ranks.rank(), round, many);
    Floats out(many);
    REQUIRE(session.run_round(bind(x, in), bind(y, out)).ok());
    CHECK(out == input_of(previous, round, many));
  }
  CHECK(session.close().ok());
}

TEST_CASE("Messages of host memory and those of a graph do not mix") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  mpi::Communicator ranks(group);
  const int next = (ranks.rank() + 1) % ranks.size();
  const int previous = (ranks.rank() + ranks.size() - 1) % ranks.size();
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.output<float>("y", {n});
  graph.add_collective(Collective::send, x, ranks, {.rank = next});
  graph.add_collective(Collective::recv, y, ranks, {.rank = previous});
  auto session = rondo::open<rondo::A2A3Sim>(graph);
  const Floats in = input_of(ranks.rank(), 1), sent = input_of(ranks.rank(), 2);
  Floats out(n), received(n);
  mpi::send(std::span<const float>{sent}, next, group);
  REQUIRE(session.run_round(bind(x, in), bind(y, out)).ok());
  mpi::recv(std::span<float>{received}, previous, group);
  CHECK(out == input_of(previous, 1));
  CHECK(received == input_of(previous, 2));
}

TEST_CASE("Sizes follow the symbols of a graph, and each shape is compared") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  mpi::Communicator ranks(group);
  rondo::TaskGraph graph;
  const rondo::Dim m = graph.dim("m");
  const auto x = graph.input<float>("x", {m, 2});
  const auto y = graph.output<float>("y", {m, 2});
  const auto z = graph.output<float>("z", {m, 2});
  graph.add<Twice>(x, y);
  graph.add_collective(Collective::all_reduce, y, ranks, {.reduction = Reduction::max});
  graph.add_collective(Collective::all_reduce, x, z, ranks, {.reduction = Reduction::min});
  auto session = rondo::open_shaped<rondo::A2A3Sim>(graph);
  for (const std::size_t count : {3U, 8U, 3U, 1U}) {
    const Floats in = input_of(ranks.rank(), 0, 2 * count);
    Floats most(2 * count), least(2 * count);
    REQUIRE(session.run_round(bind(x, in), bind(y, most), bind(z, least)).ok());
    for (std::size_t i = 0; i < in.size(); ++i) {
      CHECK(most[i] == 2 * input_at(ranks.size() - 1, 0, i));
      CHECK(least[i] == input_at(0, 0, i));
    }
  }
  if (ranks.size() == 1) return;
  const std::size_t wrong = ranks.rank() == 1 ? 5 : 4;
  const Floats in(2 * wrong);
  Floats most(2 * wrong), least(2 * wrong);
  const Status status = session.run_round(bind(x, in), bind(y, most), bind(z, least));
  const std::string text = session.explain(status).c_str();
  INFO(text);
  CHECK_FALSE(status.ok());
  CHECK(
      text.find("all_reduce of 8 float32 with the max on rank 0 and all_reduce of 10 float32 with the max on rank 1") !=
      std::string::npos);
}

TEST_CASE("Ranks with different graphs are all told what differs, when they open them") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  const auto opens = [&](auto build) {
    mpi::Communicator ranks(group);
    rondo::TaskGraph graph;
    const auto x = graph.inout<float>("x", {n});
    const auto more = graph.inout<float>("more", {2 * n});
    build(graph, x, more, ranks);
    graph.add<Twice>(x, graph.workspace<float>("unused", {n}));
    graph.add<Twice>(more, graph.workspace<float>("unused too", {2 * n}));
    try {
      auto session = rondo::open<rondo::A2A3Sim>(graph);
    } catch (const rondo::Error& e) {
      CHECK(e.code() == Errc::invalid_argument);
      return std::string(e.what());
    }
    return std::string("opened");
  };
  CHECK(opens([](auto& graph, auto x, auto more, auto& ranks) {
          graph.add_collective(Collective::all_reduce, x, ranks);
          if (ranks.rank() == 0) graph.add_collective(Collective::all_reduce, more, ranks);
        }) ==
        "a2a3_sim: the ranks open different graphs: 1 is all_reduce of 12 float32 with the sum on rank 0 and none on "
        "rank 1; add the same collectives, in the same order and of the same sizes, on all ranks");
  CHECK(opens([](auto& graph, auto x, auto more, auto& ranks) {
          if (ranks.rank() == 0) graph.add_collective(Collective::send, x, ranks, {.rank = 1});
          if (ranks.rank() != 0) graph.add_collective(Collective::recv, more, ranks, {.rank = 0});
        }) ==
        "a2a3_sim: the ranks open different graphs: 0 is send of 6 float32 to rank 1 on rank 0 and recv of 12 float32 "
        "from rank 0 on rank 1; add the same collectives, in the same order and of the same sizes, on all ranks");
  CHECK(opens([](auto& graph, auto x, auto, auto& ranks) {
          graph.add_collective(Collective::broadcast, x, ranks, {.rank = ranks.rank() == 1 ? 1 : 0});
        }).find("0 is broadcast of 6 float32 from rank 0 on rank 0 and broadcast of 6 float32 from rank 1 on rank 1") !=
        std::string::npos);
  CHECK(opens([](auto& graph, auto x, auto, auto& ranks) { graph.add_collective(Collective::all_reduce, x, ranks); }) ==
        "opened");
}

TEST_CASE("Collectives that cannot be are refused when they are added") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  mpi::Communicator ranks(group);
  rondo::TaskGraph graph, other;
  const auto x = graph.inout<float>("x", {n});
  const auto in = graph.input<float>("in", {n});
  const auto numbers = graph.inout<std::int32_t>("numbers", {n});
  const auto half = graph.inout<rondo::Float16>("half", {n});
  const auto wide = graph.inout<float>("wide", {n * static_cast<std::size_t>(group.size()) + 1});
  const auto foreign = other.inout<float>("x", {n});
  const auto text = [&](auto add) {
    try {
      add();
    } catch (const rondo::Error& e) {
      return std::string(e.what());
    }
    return std::string("added");
  };
  const std::string count = std::to_string(group.size());
  const std::string own = std::to_string(group.rank());
  CHECK(text([&] { graph.add_collective(Collective::all_gather, x, ranks); }) ==
        "all_gather(x) takes two tensors: the one to read and the one to write");
  CHECK(text([&] { graph.add_collective(Collective::all_gather, x, wide, ranks); }).find("must be that many times") !=
        std::string::npos);
  CHECK(text([&] {
          graph.add_collective(Collective::reduce_scatter, wide, x, ranks);
        }).find("must be that many times") != std::string::npos);
  CHECK(text([&] { graph.add_collective(Collective::all_reduce, x, wide, ranks); }).find("of the same size") !=
        std::string::npos);
  CHECK(text([&] { graph.add_collective(Collective::broadcast, x, wide, ranks); }) ==
        "broadcast(wide) takes one tensor");
  CHECK(text([&] { graph.add_collective(Collective::broadcast, x, ranks, {.rank = group.size()}); }) ==
        "broadcast(x) names rank " + count + "; there are " + count + ", counted from 0");
  CHECK(text([&] { graph.add_collective(Collective::send, x, ranks, {.rank = group.rank()}); }) ==
        "send(x) names rank " + own + ", which is this one");
  CHECK(text([&] { graph.add_collective(Collective::all_reduce, in, ranks); }) ==
        "all_reduce(in) would write an input; make the tensor an inout, or copy it");
  CHECK(text([&] { graph.add_collective(Collective::all_reduce, numbers, ranks, {.reduction = Reduction::mean}); }) ==
        "all_reduce(numbers) cannot take the mean of integers; choose the sum");
  CHECK(text([&] { graph.add_collective(Collective::all_reduce, half, ranks); }) ==
        "all_reduce(half): MPI cannot calculate with float16");
  CHECK(text([&] { graph.add_collective(Collective::all_reduce, foreign, ranks); }) ==
        "all_reduce receives a tensor of another graph");
  CHECK(graph.tasks().empty());
}

namespace {

/// A loop whose condition all ranks share: the first rank that wants to ends it.
struct Looping {
  rondo::TaskGraph graph;
  rondo::Input<std::int32_t> wanted = graph.input<std::int32_t>("wanted", {1});
  rondo::Input<std::int32_t> extra = graph.input<std::int32_t>("extra", {1});
  rondo::InputOutput<std::int32_t> count = graph.inout<std::int32_t>("count", {1});
  rondo::InputOutput<float> x = graph.inout<float>("x", {n});
  rondo::Workspace<std::int32_t> done = graph.workspace<std::int32_t>("done", {1});
  rondo::Workspace<std::int32_t> any = graph.workspace<std::int32_t>("any", {1});

  template <class Ranks>
  void add_loop(Ranks& ranks, rondo::Extent most = 20) {
    graph.repeat_until(done, most, [&] {
      graph.add<Until>(wanted, count, x, done);
      if (ranks.size() > 1 && ranks.rank() < 2) {  // both send first
        const auto other = graph.workspace<float>("other", {n});
        graph.add_collective(Collective::send, x, ranks, {.rank = 1 - ranks.rank()});
        graph.add_collective(Collective::recv, other, ranks, {.rank = 1 - ranks.rank()});
        graph.add<Add>(other, x);
      }
      graph.add_collective(Collective::all_reduce, x, ranks, {.reduction = Reduction::max});
      graph.add_collective(Collective::all_reduce, done, ranks, {.reduction = Reduction::max});
    });
  }
  struct Add {
    static constexpr std::string_view name = "add";
    static constexpr auto core = rondo::CoreType::vector;
    static void run(rondo::In<float> x, rondo::InOut<float> y) noexcept {
      for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[i];
    }
  };
};

}  // namespace

TEST_CASE_TEMPLATE("Collectives in loops: all ranks repeat a loop as often as its collective says", P, rondo::A2A3Sim,
                   rondo::HostOn<rondo::Pool>, rondo::A5SimOn<rondo::Checked<rondo::Pool>>) {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  mpi::Communicator ranks(group);
  Looping l;
  l.add_loop(ranks);
  // The last rank alone says whether another all_reduce runs.
  l.graph.add_collective(Collective::all_reduce, l.extra, l.any, ranks, {.reduction = Reduction::max});
  l.graph.when(l.any, [&] { l.graph.add_collective(Collective::all_reduce, l.x, ranks); });
  l.graph.add_collective(Collective::all_reduce, l.x, ranks);
  auto session = rondo::open<P>(l.graph, busy_options<P>());
  for (std::int32_t round = 0; round < 6; ++round) {
    const std::vector<std::int32_t> wanted{3 + round + 2 * group.rank()};
    const std::vector<std::int32_t> extra{round % 2 == 0 && group.rank() + 1 == group.size() ? 1 : 0};
    std::vector<std::int32_t> count{0};
    Floats x(n, 0);
    const Status status =
        session.run_round(bind(l.wanted, wanted), bind(l.extra, extra), bind(l.count, count), bind(l.x, x));
    const std::string text = session.explain(status).c_str();
    INFO(text);
    REQUIRE(status.ok());
    CHECK(count[0] == 3 + round);
    float expected = 0;
    for (std::int32_t i = 0; i < 3 + round; ++i) expected = group.size() > 1 ? 2 * (expected + 1) : expected + 1;
    const auto size = static_cast<float>(group.size());
    expected *= round % 2 == 0 ? size * size : size;
    CHECK(x == Floats(n, expected));
  }
}

TEST_CASE("Collectives in loops: rounds in flight do not mix") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  mpi::Communicator ranks(group);
  Looping l;
  l.add_loop(ranks);
  l.graph.add<Twice>(l.x, l.graph.workspace<float>("unused", {n}));
  l.graph.add_collective(Collective::all_reduce, l.extra, l.any, ranks, {.reduction = Reduction::max});
  auto session =
      rondo::open_pipelined<rondo::A2A3SimOn<rondo::Pool>, 3>(l.graph, busy_options<rondo::A2A3SimOn<rondo::Pool>>());
  using Ints = std::vector<std::int32_t>;
  std::vector<Ints> wanted, count(30, Ints{0});
  std::vector<Floats> x(30, Floats(n));
  const Ints extra{0};
  for (std::int32_t round = 0; round < 30; ++round) wanted.push_back({1 + round % 7 + group.rank()});
  for (std::size_t i = 0; i < 30; ++i) {
    (void)session.submit_round(bind(l.wanted, wanted[i]), bind(l.extra, extra), bind(l.count, count[i]),
                               bind(l.x, x[i]));
  }
  REQUIRE(session.wait_all().ok());
  for (std::int32_t round = 0; round < 30; ++round) CHECK(count[static_cast<std::size_t>(round)][0] == 1 + round % 7);
}

TEST_CASE("Collectives in loops that ranks could decide differently are refused on all ranks") {
  const mpi::Group group(MPI_COMM_WORLD, patient);
  const auto opens = [&](auto build) {
    mpi::Communicator ranks(group);
    Looping l;
    build(l, ranks);
    l.graph.add<Twice>(l.x, l.graph.workspace<float>("unused", {n}));
    l.graph.add<Until>(l.wanted, l.count, l.x, l.any);
    l.graph.add<Until>(l.extra, l.count, l.x, l.any);
    try {
      auto session = rondo::open<rondo::A2A3Sim>(l.graph);
    } catch (const rondo::Error& e) {
      CHECK(e.code() == Errc::invalid_argument);
      return std::string(e.what());
    }
    return std::string("opened");
  };
  const auto reduce = [](Looping& l, auto& ranks, auto tensor) {
    l.graph.add_collective(Collective::all_reduce, tensor, ranks, {.reduction = Reduction::max});
  };
  const std::string refused =
      "a2a3_sim: on rank 0, all_reduce of 6 float32 with the max in a loop might be repeated another number of times "
      "than on other ranks; let an all_reduce or a broadcast, over the same communicator, be the last to write the "
      "loop's condition";
  CHECK(opens([&](Looping& l, auto& ranks) { l.add_loop(ranks); }) == "opened");
  // Nothing gives the ranks the condition.
  CHECK(opens([&](Looping& l, auto& ranks) {
          l.graph.repeat_until(l.done, 3,
                               [&] { l.graph.add<Until>(l.wanted, l.count, l.x, l.done), reduce(l, ranks, l.x); });
        }) == refused);
  // Something writes it again.
  CHECK(opens([&](Looping& l, auto& ranks) {
          l.graph.repeat_until(l.done, 3, [&] {
            l.graph.add<Until>(l.wanted, l.count, l.x, l.done), reduce(l, ranks, l.x), reduce(l, ranks, l.done);
            l.graph.add<Until>(l.wanted, l.count, l.x, l.done);
          });
        }) == refused);
  // The collective that gives it might not run, or runs in another loop.
  CHECK(opens([&](Looping& l, auto& ranks) {
          reduce(l, ranks, l.count);
          l.graph.repeat_until(l.done, 3, [&] {
            l.graph.add<Until>(l.wanted, l.count, l.x, l.done), reduce(l, ranks, l.x);
            l.graph.when(l.extra, [&] { reduce(l, ranks, l.done); });
          });
        }) == refused);
  // A repetition of the outer loop decides the inner one by another value.
  const auto nested = [&](bool is_given_each_time) {
    return opens([&](Looping& l, auto& ranks) {
      reduce(l, ranks, l.count);
      l.graph.repeat_until(l.done, 3, [&] {
        if (is_given_each_time) reduce(l, ranks, l.count);
        l.graph.when(l.count, [&] { reduce(l, ranks, l.x); });
        l.graph.add<Until>(l.wanted, l.count, l.x, l.done), reduce(l, ranks, l.done);
      });
    });
  };
  CHECK(nested(true) == "opened");
  CHECK(nested(false) == refused);
  if (group.size() == 1) return;
  // The loops differ.
  CHECK(opens([&](Looping& l, auto& ranks) { l.add_loop(ranks, group.rank() == 1 ? 4 : 5); })
            .find("a2a3_sim: the ranks open different graphs: 0 is all_reduce of 6 float32 with the max in a loop on "
                  "rank 0 and all_reduce of 6 float32 with the max in a loop on rank 1") == 0);
  CHECK(opens([&](Looping& l, auto& ranks) {
          reduce(l, ranks, l.count);
          if (group.rank() != 1) l.graph.when(l.count, [&] { reduce(l, ranks, l.x); });
          if (group.rank() == 1) reduce(l, ranks, l.x);
        })
            .find("1 is all_reduce of 6 float32 with the max in a loop on rank 0 and all_reduce of 6 float32 with the "
                  "max on rank 1") != std::string::npos);
  CHECK(opens([&](Looping& l, auto& ranks) {
          reduce(l, ranks, l.count);
          if (group.rank() == 0)
            l.graph.when(l.count, [&] { l.graph.add_collective(Collective::send, l.x, ranks, {.rank = 1}); });
          if (group.rank() == 1) l.graph.add_collective(Collective::recv, l.x, ranks, {.rank = 0});
        }).find("0 is send of 6 float32 to rank 1 in a loop on rank 0 and recv of 6 float32 from rank 0 on rank 1") !=
        std::string::npos);
}

TEST_CASE("Collectives in loops: a rank that ends a loop early is waited for with patience, and the task is named") {
  mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  mpi::Communicator ranks(group);
  Looping l;
  l.add_loop(ranks);
  l.graph.add_collective(Collective::all_reduce, l.extra, l.any, ranks);
  auto session = rondo::open<rondo::A2A3Sim>(l.graph);
  group.set_patience(0.2);  // for rank 0, which never comes; opening may take longer
  const std::vector<std::int32_t> wanted{9}, extra{0};
  std::vector<std::int32_t> count{0};
  Floats x(n);
  if (group.rank() == 0) session.request_stop();
  const Status status =
      session.run_round(bind(l.wanted, wanted), bind(l.extra, extra), bind(l.count, count), bind(l.x, x));
  const std::string text = session.explain(status).c_str();
  INFO(text);
  CHECK(status.poisoned());
  CHECK(status.code() == (group.rank() == 0 ? Errc::stopped : Errc::kernel_failed));
  if (group.rank() == 1) CHECK(text.find("recv(other): rank 1 waited 200 ms for rank 0") != std::string::npos);
  if (group.rank() > 1) CHECK(text.find(" waited 200 ms for the other ranks") != std::string::npos);
  MPI_Barrier(MPI_COMM_WORLD);
  (void)session.close();
}

TEST_CASE("Patience without an end does not end") {
  int asked = 0;
  const auto test = [&](int* is_done) {
    *is_done = ++asked == 10'000 ? 1 : 0;
    return MPI_SUCCESS;
  };
  CHECK(mpi::detail::await_until(test, std::numeric_limits<double>::infinity()).is_done);
}

TEST_CASE("A rank that does not run its round is waited for with patience, and the task is named") {
  mpi::Group group(MPI_COMM_WORLD, patient);
  if (group.size() == 1) return;
  mpi::Communicator ranks(group);
  rondo::TaskGraph graph;
  const auto x = graph.inout<float>("x", {n});
  graph.add_collective(Collective::all_reduce, x, ranks);
  auto session = rondo::open<rondo::A2A3Sim>(graph);
  group.set_patience(0.2);
  int token = 0;
  if (group.rank() != 0) {
    Floats values(n);
    const Status status = session.run_round(bind(x, values));
    CHECK(status.code() == Errc::kernel_failed);
    CHECK(status.poisoned());
    const std::string text = session.explain(status).c_str();
    INFO(text);
    CHECK(text.find("all_reduce(x): rank " + std::to_string(group.rank()) + " waited 200 ms for the other ranks") !=
          std::string::npos);
    CHECK(session.run_round(bind(x, values)).poisoned());
    MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {
    for (int r = 1; r < group.size(); ++r) MPI_Recv(&token, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  (void)session.close();
  if (group.rank() == 0) return;
  // Another session over the same communicator is refused at once, although not all ranks would compare its graph.
  CHECK_THROWS_WITH_AS((void)rondo::open<rondo::A2A3Sim>(graph),
                       doctest::Contains(("all_reduce(x): an earlier collective failed on rank " +
                                          std::to_string(group.rank()) + "; end all ranks, or make another group")
                                             .c_str()),
                       rondo::Error);
}

TEST_CASE("Two communicators may reduce one tensor of a graph") {
  const mpi::Group group(MPI_COMM_WORLD, patient), other_group(MPI_COMM_WORLD, patient);
  mpi::Communicator ranks(group), others(other_group);
  rondo::TaskGraph graph;
  const auto x = graph.inout<float>("x", {n});
  graph.add_collective(Collective::all_reduce, x, ranks);
  REQUIRE_NOTHROW(graph.add_collective(Collective::all_reduce, x, others));
  auto session = rondo::open<rondo::A2A3Sim>(graph);
  Floats values(n, 1);
  REQUIRE(session.run_round(bind(x, values)).ok());
  CHECK(values == Floats(n, static_cast<float>(group.size() * group.size())));
}

TEST_CASE("A rank that does not open its session is waited for with patience") {
  const mpi::Group group(MPI_COMM_WORLD, {.patience = 0.2});
  if (group.size() == 1) return;
  int token = 0;
  if (group.rank() != 0) {
    mpi::Communicator ranks(group);
    rondo::TaskGraph graph;
    const auto x = graph.inout<float>("x", {n});
    graph.add_collective(Collective::all_reduce, x, ranks);
    CHECK_THROWS_WITH_AS(rondo::open<rondo::A2A3Sim>(graph),
                         ("rank " + std::to_string(group.rank()) +
                          " waited 200 ms for the others; does every rank come here, in the same order?")
                             .c_str(),
                         rondo::Error);
    MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  } else {
    for (int r = 1; r < group.size(); ++r) MPI_Recv(&token, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
