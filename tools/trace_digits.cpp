// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Traces rounds of the digits example:  trace_digits trace.json --memory memory.svg --graph graph.svg
// The trace opens at https://ui.perfetto.dev, and tools/report draws all three.

#include "../examples/02_digits/network.hpp"

#include <rondo/memory/report.hpp>
#include <rondo/observe/graph_svg.hpp>
#include <rondo/observe/trace.hpp>
#include <rondo/observe/trace_json.hpp>
#include <rondo/observe/traced.hpp>
#include <rondo/platform/file.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>
#include <rondo/search/plan_svg.hpp>
#include <rondo/session/memory_report.hpp>

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Tracing : rondo::DefaultPolicies {
  using Observe = rondo::observe::Trace;
};

/// Training steps on noise.
class Rounds {
 public:
  explicit Rounds(std::size_t batch) : step{batch}, pixels_(batch * digits::pixels_per_digit), labels_(batch) {}

  void run(auto& session, std::uint64_t rounds) {
    const auto check = [&](rondo::Status status) {
      if (!status) throw rondo::Error(status.code(), session.explain(status));
    };
    const digits::Weights weights = digits::random_weights(random_);
    check(session.upload(step.net.w1, weights.w1));
    check(session.upload(step.net.b1, weights.b1));
    check(session.upload(step.net.w2, weights.w2));
    check(session.upload(step.net.b2, weights.b2));
    const float rate = 0.1F;
    float loss = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (float& each : pixels_) each = random_.uniform(1);
      for (auto& each : labels_) each = static_cast<std::int32_t>(random_.next() % digits::classes);
      check(session.run_round(bind(step.pixels, pixels_), bind(step.labels, labels_), bind(step.rate, rate),
                              bind(step.loss, loss)));
    }
  }
  digits::TrainingStep step;

 private:
  digits::Random random_{1};
  std::vector<float> pixels_;
  std::vector<std::int32_t> labels_;
};

int run(int argc, char** argv) {
  CLI::App app{
      "Traces training steps of the digits example, on the host's threads and as the chip is predicted to run them.",
      "trace_digits"};
  std::string trace, memory, graph;
  std::uint64_t rounds = 100;
  std::size_t batch = 32;
  app.add_option("trace", trace, "the file to write, in Chrome's trace format")->required();
  app.add_option("--rounds", rounds, "how many")->check(CLI::Range(1, 100'000))->capture_default_str();
  app.add_option("--batch", batch, "digits in each")->check(CLI::Range(1, 10'000))->capture_default_str();
  app.add_option("--memory", memory, "also draw what lies where in the arena, to this SVG");
  app.add_option("--graph", graph, "also draw the graph with its critical path, to this SVG");
  const auto write_file = [](const std::string& path, const char* what, const auto& write) {
    std::ostringstream text;
    write(text);
    rondo::detail::write_file(path.c_str(), what, text.view());
  };
  try {
    app.parse(argc, argv);
    Rounds host(batch), chip(batch);
    auto on_host = rondo::open<rondo::A2A3SimOn<rondo::observe::Traced<rondo::Pool>>, Tracing>(host.step.graph);
    auto on_chip = rondo::open<rondo::A2A3SimOn<rondo::Model>, Tracing>(chip.step.graph);
    host.run(on_host, rounds);
    chip.run(on_chip, 1);
    write_file(trace, "the trace cannot be written there",
               [&](std::ostream& out) { rondo::observe::write_trace(out, on_host, on_chip); });
    if (!memory.empty()) {
      write_file(memory, "the picture cannot be written there",
                 [&](std::ostream& out) { rondo::search::write_memory_map(out, on_host.memory_report()); });
    }
    if (!graph.empty()) {
      write_file(graph, "the picture cannot be written there",
                 [&](std::ostream& out) { rondo::observe::write_graph(out, on_host); });
    }
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    std::cerr << "trace_digits: " << error.what() << '\n';
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
