// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

//   x (in) ──▶ [ saxpy: y += a·x ] ──▶ y (inout) ──▶ [ roll, of an operator library ] ──▶ y        on a real NPU
//
//   library_calls saxpy.o liboperators.so      a kernel of your own, and a library with the functions of operators.hpp
//
// It also runs the graph without a capture, so that the library is called in each round, and in simulation, without the
// library, and compares the results.

#include "operators.hpp"

#include <rondo/platform/onboard/onboard.hpp>
#include <rondo/rondo.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

struct Saxpy {
  static constexpr std::string_view name = "saxpy";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::InOut<float> y, float a) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
  }
};

constexpr std::int64_t n = 4096;
constexpr std::int64_t shift = 1;
constexpr int rounds = 100;

/// The operator as a library call. The first stage runs before the graph is built, since it returns the size of the
/// workspace; the second stage is the call.
class RollCall {
 public:
  explicit RollCall(const char* path) : library_{dlopen(path, RTLD_NOW)} {
    if (library_ == nullptr) throw rondo::Error(rondo::Errc::invalid_argument, rondo::Error::Text(dlerror()));
    const auto first_stage = reinterpret_cast<RollGetWorkspaceSize*>(dlsym(library_, "op_roll_get_workspace_size"));
    const auto set_repeatable = reinterpret_cast<SetRepeatable*>(dlsym(library_, "op_set_repeatable"));
    roll_ = reinterpret_cast<Roll*>(dlsym(library_, "op_roll"));
    destroy_ = reinterpret_cast<DestroyExecutor*>(dlsym(library_, "op_destroy_executor"));
    if (first_stage == nullptr || set_repeatable == nullptr || roll_ == nullptr || destroy_ == nullptr ||
        first_stage(n, shift, &workspace_bytes_, &executor_) != 0 || set_repeatable(executor_) != 0) {
      dlclose(library_);
      throw rondo::Error(rondo::Errc::invalid_argument,
                         rondo::Error::Text{path, " has no operator roll for these sizes"});
    }
  }
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;
  ~RollCall() {
    destroy_(executor_);
    dlclose(library_);
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const { return workspace_bytes_; }

  int operator()(const rondo::LibraryCall& call) const {
    if (call.stream() == nullptr) {  // simulation: the CPU is the device
      auto* const x = call.data<float>(0);
      std::rotate(x, x + shift, x + call.elements(0));
      return 0;
    }
    return roll_(call.data<float>(0), call.data<void>(1), workspace_bytes_, executor_, call.stream());
  }

 private:
  void* library_;
  Roll* roll_ = nullptr;
  DestroyExecutor* destroy_ = nullptr;
  Executor* executor_ = nullptr;
  std::uint64_t workspace_bytes_ = 0;
};

template <class P>
std::vector<float> run(const RollCall& roll, const typename P::Options& options) {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {n});
  const auto y = graph.inout<float>("y", {n});
  const auto scratch = graph.workspace<std::uint8_t>("scratch", {roll.workspace_bytes()});
  graph.add<Saxpy>(x, y, 2.0F);
  graph.add_call("roll", {updates(y), writes(scratch)}, roll);

  auto session = rondo::open<P>(graph, options);
  std::vector<float> hx(n), hy(n);
  const auto binding = session.prebind(bind(x, hx), bind(y, hy));
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < hx.size(); ++i) hx[i] = static_cast<float>((i + static_cast<std::size_t>(round)) % 8);
    if (const auto status = session.run_round(binding); !status) {
      throw rondo::Error(status.code(), session.explain(status));
    }
  }
  if (const auto status = session.close(); !status) throw rondo::Error(status.code(), session.explain(status));
  std::printf("%s: y[0] = %.0f after %d rounds\n", P::name, static_cast<double>(hy[0]), rounds);
  return hy;
}

/// Runs on the chip that the machine has.
std::vector<float> run_onboard(const RollCall& roll, const char* kernels, bool is_captured) {
  const rondo::KernelBinary binaries[] = {rondo::KernelBinary::from_file(kernels)};
  rondo::A2A3Onboard::Options options;
  options.kernels = binaries;
  options.capture = is_captured;
  try {
    return run<rondo::A2A3Onboard>(roll, options);
  } catch (const rondo::Error& e) {
    if (e.code() != rondo::Errc::unsupported) throw;
    return run<rondo::A5Onboard>(roll, options);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s <kernel binary> <operator library>\n", argv[0]);
    return 2;
  }
  try {
    const RollCall roll(argv[2]);
    const std::vector<float> simulated = run<rondo::A2A3Sim>(roll, {});
    const bool same = run_onboard(roll, argv[1], true) == simulated && run_onboard(roll, argv[1], false) == simulated;
    std::puts(same ? "the same as in simulation" : "not what simulation gives");
    return same ? 0 : 1;
  } catch (const rondo::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
