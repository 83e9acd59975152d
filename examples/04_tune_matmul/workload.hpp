// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/trial.hpp>
#include <rondo/rondo.hpp>

#include <cstddef>
#include <random>
#include <vector>

namespace tune {

/// The workload of each candidate: c = a·b for two fixed matrices, as one round of a graph with one task.
class Workload {
 public:
  explicit Workload(std::size_t size) : size_{size}, a_(size * size), b_(size * size), c_(size * size) {
    std::mt19937_64 random{1};
    const auto draw = [&random] { return static_cast<float>(random() >> 40) * 0x1p-23F - 1.0F; };
    for (float& each : a_) each = draw();
    for (float& each : b_) each = draw();
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < size; ++k) sum += double{a_[i * size + k]} * double{b_[k * size + j]};
        c_[i * size + j] = sum;
      }
    }
  }

  /// Called in the worker process: opens a session with the candidate, checks one round, and times others.
  void operator()(rondo::measure::Trial& trial) const {
    using namespace rondo;
    const auto n = static_cast<std::int64_t>(size_);
    TaskGraph graph;
    const auto a = graph.input<float>("a", {n, n});
    const auto b = graph.input<float>("b", {n, n});
    const auto c = graph.output<float>("c", {n, n});
    graph.add_raw("matmul", CoreType::cube, trial.symbol<void(ArgWord*)>("matmul"), reads(a), reads(b), writes(c));
    auto session = open<SelectedPlatform>(graph);

    std::vector<float> result(size_ * size_);
    if (const Status status = session.run_round(bind(a, a_), bind(b, b_), bind(c, result)); !status) {
      throw measure::Failure(measure::fault_of(status.code()), session.explain(status).c_str());
    }
    trial.check("c", result, c_, {.relative = 1e-3, .absolute = 1e-3});
    trial.time_rounds(session, bind(a, a_), bind(b, b_), bind(c, result));
  }

 private:
  std::size_t size_;
  std::vector<float> a_, b_;
  std::vector<double> c_;  ///< the reference
};

}  // namespace tune
