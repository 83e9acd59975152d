// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The host's time in a round, phase by phase:  bench_rounds digits_step --rounds 5000 --json before.json
// The effect of a change on it:                bench_rounds digits_step --rounds 5000 --compare before.json
// On a real NPU, with the device's time:       bench_rounds saxpy --platform a2a3_onboard --kernels saxpy.o
// The cases are the rounds of the examples and of the benchmarks; --list names them.

#include "lib/bench_rounds/cases.hpp"

#include <rondo/observe/bench_main.hpp>
#include <rondo/orchestrated.hpp>
#include <rondo/platform/null.hpp>
#include <rondo/platform/sim/model.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/rondo.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace {

using namespace bench_rounds;
using rondo::observe::BenchCase;
using rondo::observe::detail::bench::Result;

/// The platform and engine that the command line names.
struct Where {
  std::string platform = "a2a3_sim";
  std::string engine = "inline";

  [[nodiscard]] bool has_engine() const { return platform.ends_with("_sim"); }
};

/// A case on one platform.
template <class P, class Case>
struct On {
  Case the_case;
  auto open() { return the_case.template open<P>(); }
  [[gnu::always_inline]] rondo::Status round(auto& session) { return the_case.round(session); }
  void prepare(auto& session)
    requires requires { the_case.prepare(session); }
  {
    the_case.prepare(session);
  }
  rondo::Status finish(auto& session)
    requires requires { the_case.finish(session); }
  {
    return the_case.finish(session);
  }
  void release(auto& session)
    requires requires { the_case.release(session); }
  {
    the_case.release(session);
  }
};

/// The other platforms, besides simulated chips, on which a case can run.
struct Runs {
  bool on_null = true;
  bool on_model = true;
  bool on_npu = true;
};
constexpr Runs everywhere;
constexpr Runs orchestrated{.on_null = false, .on_model = false, .on_npu = false};  // a program on the AICPU is needed
constexpr Runs replayed{.on_npu = false};                                           // its tasks have no arguments

template <Runs on, class Make>
BenchCase make_case(const Where& where, const std::string& name, const std::string& what, const Make& make) {
  return {name, what, [=, &where](const BenchCase::Settings& settings) {
            using namespace rondo;
            const std::string &platform = where.platform, &engine = where.engine;
            std::optional<Result> result;
            const auto run = [&]<class P>() {
              result = observe::detail::bench::measure(settings, name,
                                                       where.has_engine() ? platform + "/" + engine : platform,
                                                       [&] { return On<P, decltype(make())>{make()}; });
            };
            if (platform == "null") {
              if constexpr (on.on_null) run.template operator()<NullPlatform>();
            } else if (platform == "a2a3_onboard") {
              if constexpr (on.on_npu) run.template operator()<A2A3Onboard>();
            } else if (platform == "a5_onboard") {
              if constexpr (on.on_npu) run.template operator()<A5Onboard>();
            } else if (platform == "a5_sim") {
              if (engine == "inline") run.template operator()<A5Sim>();
              if (engine == "pool") run.template operator()<A5SimOn<Pool>>();
            } else {
              if (engine == "inline") run.template operator()<A2A3Sim>();
              if (engine == "pool") run.template operator()<A2A3SimOn<Pool>>();
              if constexpr (on.on_model) {
                if (engine == "model") run.template operator()<A2A3SimOn<Model>>();
              }
            }
            return result;
          }};
}

std::vector<BenchCase> all_cases(const Where& where) {
  std::vector<BenchCase> cases = {
      make_case<everywhere>(where, "saxpy", "examples/01_saxpy: one task over 1024 floats",
                            [] { return SaxpyRound(); }),
      make_case<everywhere>(where, "digits_step", "examples/02_digits: a training step, 16 tasks, 32 digits",
                            [] { return DigitsStep(); }),
      make_case<everywhere>(where, "digits_classify", "examples/02_digits: 32 digits classified, 4 tasks",
                            [] { return DigitsClassify(); }),
      make_case<Runs{.on_null = false}>(where, "decode_token",
                                        "examples/03_decode_loop: a token, addresses change each round",
                                        [] { return DecodeToken(); }),
      make_case<everywhere>(where, "matmul", "examples/04_tune_matmul: 64 x 64 matrices", [] { return MatMul(); }),
      make_case<everywhere>(where, "scale_add", "examples/07_toy_platform: two tasks over 256 floats",
                            [] { return ScaleAdd(); }),
      make_case<everywhere>(where, "overhead_1", "bench/round_overhead: 1 tensor of 64 bytes",
                            [] { return Overhead<1>(); }),
      make_case<everywhere>(where, "overhead_4", "bench/round_overhead: 4 tensors of 64 bytes",
                            [] { return Overhead<4>(); }),
      make_case<everywhere>(where, "overhead_16", "bench/round_overhead: 16 tensors of 64 bytes",
                            [] { return Overhead<16>(); }),
      make_case<Runs{.on_null = false, .on_model = false}>(where, "pipeline", "bench/pipeline: three rounds in flight",
                                                           [] { return Pipeline(); }),
      make_case<everywhere>(where, "shapes", "bench/launch_cache: four shapes in turn", [] { return Shapes(); }),
      make_case<orchestrated>(where, "orchestrated_aicpu", "bench/runtimes: 64 tasks added each round, with edges",
                              [] { return Orchestrated<rondo::runtime::AicpuBuildGraph>(); }),
      make_case<orchestrated>(where, "orchestrated_tensormap", "bench/runtimes: 64 tasks added each round, edges found",
                              [] { return Orchestrated<rondo::runtime::TensorMapRingBuffer>(); }),
  };
  for (const int work : {0, 1}) {
    for (const graph_shapes::Shape& shape : graph_shapes::all()) {
      cases.push_back(make_case<replayed>(
          where, fmt::format("replay_{}{}", shape.name, work == 0 ? "" : "_1us"),
          fmt::format("bench/graph_replay: {} {}", shape.tasks, work == 0 ? "empty tasks" : "tasks of 1 us"),
          [shape, work] { return Replay(shape, work); }));
    }
  }
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  Where where;
  return rondo::observe::bench_main(argc, argv, all_cases(where), [&](CLI::App& app) {
    app.add_option("--platform", where.platform, "a2a3_sim, a5_sim, null, or a real NPU: a2a3_onboard, a5_onboard")
        ->check(CLI::IsMember({"a2a3_sim", "a5_sim", "null", "a2a3_onboard", "a5_onboard"}))
        ->capture_default_str();
    app.add_option("--kernels", kernel_files, "for a real NPU: the files with the kernels of the cases");
    app.add_option("--engine", where.engine, "of a simulated chip: inline, pool or, on a2a3_sim, model")
        ->check(CLI::IsMember({"inline", "pool", "model"}))
        ->capture_default_str();
  });
}
