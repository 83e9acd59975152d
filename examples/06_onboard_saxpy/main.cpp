// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

//   x (in) ──▶ [ saxpy: y += a·x ] ──▶ y (inout)         on a real NPU
//
//   onboard_saxpy saxpy.o         the kernel, compiled by the vendor's compiler; see docs/onboard.md
//
// Afterwards it runs the same graph in simulation, and compares the results.

#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/rondo.hpp>

#include <cstdio>
#include <vector>

namespace {

struct Saxpy {
  static constexpr std::string_view name = "saxpy";  // also the kernel's name in the binary
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept {  // for simulation
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
  }
};

constexpr std::size_t n = 4096;
constexpr int rounds = 100;

template <class P>
std::vector<float> run(const typename P::Options& options) {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.inout<float>("y", {n});
  graph.add<Saxpy>(x, y, 2.0F);

  auto session = rondo::open<P>(graph, options);
  std::vector<float> hx(n), hy(n);
  const auto binding = session.prebind(bind(x, hx), bind(y, hy));
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < n; ++i) hx[i] = static_cast<float>((i + static_cast<std::size_t>(round)) % 8);
    if (const auto status = session.run_round(binding); !status) {
      throw rondo::Error(status.code(), session.explain(status));
    }
  }
  if (const auto status = session.close(); !status) throw rondo::Error(status.code(), session.explain(status));
  std::printf("%s: y[0] = %.0f after %d rounds\n", P::name, static_cast<double>(hy[0]), rounds);
  return hy;
}

/// Runs on the chip that the machine has.
std::vector<float> run_onboard(const char* kernels) {
  const rondo::KernelBinary binaries[] = {rondo::KernelBinary::from_file(kernels)};
  rondo::A2A3Onboard::Options options;
  options.kernels = binaries;
  try {
    return run<rondo::A2A3Onboard>(options);
  } catch (const rondo::Error& e) {
    if (e.code() != rondo::Errc::unsupported) throw;
    return run<rondo::A5Onboard>(options);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s <kernel binary>\n", argv[0]);
    return 2;
  }
  try {
    const std::vector<float> onboard = run_onboard(argv[1]);
    const bool same = onboard == run<rondo::A2A3Sim>({});
    std::puts(same ? "the same as in simulation" : "not what simulation gives");
    return same ? 0 : 1;
  } catch (const rondo::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
