// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/rondo.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

/// A loop that counts: [clear] ▶ [until], repeated ▶ [copy].
namespace counting {

using Int = std::int32_t;
using Ints = std::vector<Int>;

struct Clear {
  static constexpr std::string_view name = "clear";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::Out<Int> count) noexcept { count[0] = 0; }
};
/// Counts, and is done when the count is the input. If the input is negative, it throws after that many repetitions.
struct Until {
  static constexpr std::string_view name = "until";
  static constexpr auto core = rondo::CoreType::vector;
  static double cost(rondo::In<Int>, rondo::InOut<Int>, rondo::Out<Int>) noexcept { return 1000; }
  static void run(rondo::In<Int> x, rondo::InOut<Int> count, rondo::Out<Int> done) {
    if (x[0] < 0 && count[0] == -x[0]) throw std::runtime_error("enough");
    done[0] = ++count[0] == x[0] ? 1 : 0;
  }
};
struct Copy {
  static constexpr std::string_view name = "copy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<Int> a, rondo::Out<Int> y) noexcept { y[0] = a[0]; }
};

/// A loop that ends after as many repetitions as the input says, or `most`; the output counts them.
struct Counting {
  explicit Counting(rondo::Extent most = 10, double expected = 0) {
    graph.add<Clear>(count);
    loop = graph.repeat_until(done, most, [&] { body = graph.add<Until>(x, count, done); }, expected);
    graph.add<Copy>(count, y);
  }
  /// Runs a round, and stores its `status`. @returns the number of repetitions, or 0 if the round failed
  template <class Session>
  Int count_of(Session& session, Int wanted) {
    const Ints in{wanted};
    Ints out{0};
    status = session.run_round(bind(x, in), bind(y, out));
    return status.ok() ? out[0] : 0;
  }

  rondo::TaskGraph graph;
  rondo::Input<Int> x = graph.input<Int>("x", {1});
  rondo::Output<Int> y = graph.output<Int>("y", {1});
  rondo::Workspace<Int> count = graph.workspace<Int>("count", {1});
  rondo::Workspace<Int> done = graph.workspace<Int>("done", {1});
  rondo::TaskId loop{};
  rondo::TaskId body{};
  rondo::Status status;
};

/// Calls check(report, line) for the memory report of a session, and for that of one with three rounds in flight;
/// `one` and `three` are the texts that they must contain about the memory of loops.
template <class P, class Check>
void check_reports(const Check& check, const char* one, const char* three) {
  Counting loops;
  auto session = rondo::open<P>(loops.graph);
  (void)loops.count_of(session, 3);
  check(session.memory_report(), one);
  REQUIRE(session.close().ok());
  auto in_flight = rondo::open_pipelined<P, 3>(loops.graph);
  check(in_flight.memory_report(), three);
  REQUIRE(in_flight.close().ok());
}

}  // namespace counting
