// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Measures what a platform costs on this machine, and writes a file that sessions take their costs from:
//
//   calibrate --platform cuda --output costs.json
//   calibrate --platform a2a3_onboard --kernels refresh.o --output costs.json
//
// Name the file in Options::cost_file, or in the environment: RONDO_COSTS=costs.json.

#include <rondo/measure/calibrate.hpp>
#include <rondo/platform/cuda/cuda.hpp>
#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/platform/select.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

namespace {

template <class P>
void calibrate(const typename P::Options& options, std::uint32_t passes, const std::string& output) {
  P platform{options};
  const rondo::MeasuredCosts costs = rondo::measure::calibrate(platform, passes);
  rondo::write_costs(output.c_str(), costs);
  std::printf("%s on %s\n", costs.platform.c_str(), costs.machine.c_str());
  const auto print = [](const char* name, std::uint64_t ps, bool is_measured) {
    std::printf("%-14s %12.3f ns%s\n", name, static_cast<double>(ps) / 1000, is_measured ? "" : " (not measured)");
  };
  for (const auto& cost : rondo::detail::named_costs) {
    const bool is_of_device = cost.value == &rondo::RefreshCosts::device_op ||
                              cost.value == &rondo::RefreshCosts::device_slot ||
                              cost.value == &rondo::RefreshCosts::launched_byte;
    print(cost.name, costs.refresh.*cost.value, !is_of_device || platform.can_refresh_args());
  }
  print("launch", costs.launch, costs.launch != 0);
  print("wait", costs.wait, true);
  if (!platform.can_refresh_args()) std::puts("without Rondo's refresh kernel (--kernels), only copies are measured");
  (void)platform.close();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures what a platform costs on this machine, for the choices of sessions"};
  std::string platform, kernels, output = "costs.json";
  std::uint32_t device = 0, passes = 60;
  app.add_option("--platform", platform, "cuda, a2a3_onboard or a5_onboard")
      ->required()
      ->check(CLI::IsMember({"cuda", "a2a3_onboard", "a5_onboard"}));
  app.add_option("--device", device, "the number of the device");
  app.add_option("--kernels", kernels, "on an NPU: a binary with Rondo's refresh kernel")->check(CLI::ExistingFile);
  app.add_option("--passes", passes, "how often each table is measured; the best counts")->check(CLI::PositiveNumber);
  app.add_option("--output", output, "the file to write");
  CLI11_PARSE(app, argc, argv);
  try {
    rondo::KernelBinary binary;
    if (!kernels.empty()) binary = rondo::KernelBinary::from_file(kernels.c_str());
    const auto onboard = [&]<class P>() {
      typename P::Options options;
      options.device = device;
      if (!kernels.empty()) options.kernels = {&binary, 1};
      calibrate<P>(options, passes, output);
    };
    if (platform == "cuda") {
      rondo::Cuda::Options options;
      options.device = device;
      calibrate<rondo::Cuda>(options, passes, output);
    } else if (platform == "a5_onboard") {
      onboard.operator()<rondo::A5Onboard>();
    } else {
      onboard.operator()<rondo::A2A3Onboard>();
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "calibrate: %s\n", error.what());
    return 1;
  }
}
