// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The accuracy of update/cost_model.hpp: fits the costs as tools/calibrate does, and compares the predicted with the
// measured times of refreshes of other tables, for each mechanism. It runs over the tests' stand-in for an NPU, whose
// calls take the host's time, or with `--platform cuda` on a GPU.
//
//   cost_model [--platform stand_in|cuda] [--costs costs.json] [--passes 60]

#include "stand_in/over_stand_in.hpp"

#include <rondo/measure/calibrate.hpp>
#include <rondo/platform/cuda/cuda.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string>

namespace {

using namespace rondo;
using update::Mechanism;

/// Numbers of slots and of moved bases other than those to which the costs are fitted.
constexpr std::uint32_t slots[] = {300, 1000, 6000};
constexpr std::uint32_t moved[] = {2, 8, 40};

template <class P>
int compare(const std::string& file, std::uint32_t passes) {
  P platform{{}};
  measure::RefreshProbes<P> fitted(platform, measure::calibration_slots, measure::calibration_moved);
  measure::RefreshProbes<P> others(platform, slots, moved);
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    if (file.empty()) fitted.measure();
    others.measure();
  }
  const RefreshCosts costs = file.empty() ? measure::fit_costs(fitted.samples()) : read_costs(file.c_str()).refresh;
  for (const auto& cost : rondo::detail::named_costs) {
    std::printf("%-14s %10.1f ns\n", cost.name, static_cast<double>(costs.*cost.value) / 1000);
  }
  const std::span<const measure::RefreshSample> samples = others.samples();
  std::printf("\n%-14s %8s %10s %14s %13s %7s\n", "mechanism", "slots", "bytes", "predicted", "measured", "error");
  for (const measure::RefreshSample& s : samples) {
    const bool is_copy = s.mechanism == Mechanism::segment_copy;
    const bool is_carried = s.mechanism == Mechanism::in_launch;
    const std::uint64_t bytes = is_copy      ? s.facts.segment_bytes
                                : is_carried ? s.facts.launch_bytes
                                             : s.facts.base_bytes;
    const auto predicted = static_cast<double>(update::cost_of(s.mechanism, costs, s.facts));
    std::printf("%-14s %8llu %10llu %11.2f us %10.2f us %+6.1f%%\n", to_string(s.mechanism),
                static_cast<unsigned long long>(is_copy ? s.facts.slots : s.facts.relocations),
                static_cast<unsigned long long>(bytes), predicted / 1e6, s.ps / 1e6, 100 * (predicted / s.ps - 1));
  }
  std::printf("\nmedian error: %.1f %%\n", 100 * measure::median_error(samples, costs));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Compares what refreshes cost with what the cost model predicts"};
  std::string platform = "stand_in";
  std::string costs;
  app.add_option("--platform", platform)->check(CLI::IsMember({"stand_in", "cuda"}));
  app.add_option("--costs", costs, "a file of tools/calibrate, in place of a calibration");
  std::uint32_t passes = 60;
  app.add_option("--passes", passes, "how often each table is measured; the best counts");
  app.allow_extras();  // the options of the other benchmarks
  CLI11_PARSE(app, argc, argv);
  try {
    return platform == "cuda" ? compare<Cuda>(costs, passes) : compare<A2A3ThatComputes>(costs, passes);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cost_model: %s\n", error.what());
    return 1;
  }
}
