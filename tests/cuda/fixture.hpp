// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conformance/kernels.hpp"
#include "cuda_stand_in/over_cuda_stand_in.hpp"

#include <rondo/rondo.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// Helpers of the tests of the platform Cuda.
namespace cuda_test {

using Floats = std::vector<float>;
using P = CudaOverStandIn;

/// y = 3 (x + w), s += x, through a workspace.
struct Graph {
  static constexpr std::size_t n = 8;
  Graph() {
    const auto sum = graph.workspace<float>("sum", {n});
    graph.add<kernels::Add>(x, w, sum);
    scale = graph.add<kernels::Scale>(sum, y, 3.0F);
    graph.add<kernels::Accumulate>(x, s);
  }
  rondo::TaskGraph graph;
  rondo::Input<float> x = graph.input<float>("x", {n});
  rondo::Input<float> w = graph.input<float>("w", {n});
  rondo::Output<float> y = graph.output<float>("y", {n});
  rondo::InputOutput<float> s = graph.inout<float>("s", {n});
  rondo::TaskId scale{};
};

/// Runs a round of the graph. @returns its status, and whether the results are right if it succeeded
template <class Session>
std::pair<rondo::Status, bool> run(Session& session, const Graph& g, float value) {
  const Floats x(Graph::n, value), w(Graph::n, 1);
  Floats y(Graph::n, -1), s(Graph::n, 10);
  const rondo::Status status = session.run_round(bind(g.x, x), bind(g.w, w), bind(g.y, y), bind(g.s, s));
  return {status, y == Floats(Graph::n, 3 * (value + 1)) && s == Floats(Graph::n, 10 + value)};
}

inline std::uint64_t calls(const char* name) { return rondo_cuda_stand_in_calls(name); }
inline std::string misuses() {
  std::vector<char> text(65536);
  (void)rondo_cuda_stand_in_misuses(text.data(), text.size());
  return text.data();
}

/// Each test begins with a machine in its first state, and must leave no object of its own.
struct Clean {
  Clean() { rondo_cuda_stand_in_reset(); }
  Clean(const Clean&) = delete;
  Clean& operator=(const Clean&) = delete;
  ~Clean() {
    cuda_stand_in::must_be_clean(true);
    rondo_cuda_stand_in_reset();
  }
};

/// The message that opening throws, or an empty one.
template <class Session = P, class G>
std::pair<rondo::Errc, std::string> refusal(const G& graph, const typename Session::Options& options = {}) {
  try {
    auto session = rondo::open<Session>(graph, options);
    return {rondo::Errc::ok, ""};
  } catch (const rondo::Error& e) {
    return {e.code(), e.what()};
  }
}
inline bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace cuda_test
