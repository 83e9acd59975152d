// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The calls of the runtime that an onboard round makes, by kind, counted by the stand-in. The raw rival is the
// same work written by hand against the runtime's calls as users of it commonly do: a copy for each tensor from
// ordinary memory, the args block by a copy each round, one launch for each task, a wait.
//
// refresh/* is the refresh of an args table alone, by mechanism: slots over 64 bases, of which some move each round.
// The counters are the calls except the wait, the bytes that are copied or are part of a launch, and the table's size.
//
// Times are those of the stand-in, so they mean nothing for a device. Own instructions per round are counted by
// tests/codegen/count_onboard_instructions.sh.

#include "refresh_cases.hpp"
#include "round_cases.hpp"
#include "stand_in/over_stand_in.hpp"

#include <rondo/platform/onboard/library.hpp>
#include <rondo/platform/pinned.hpp>

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

namespace {

using round_cases::RondoCase;
using P = A2A3OverStandIn;
constexpr std::size_t bytes = 4096;

/// Runs a case and reports its calls.
template <class Round>
void run(benchmark::State& state, Round round) {
  if (!round()) state.SkipWithError("a round failed");
  rondo_stand_in_reset();
  for (auto _ : state) {
    if (!round()) state.SkipWithError("a round failed");
  }
  const auto per_round = [&](const char* call) {
    return static_cast<double>(rondo_stand_in_calls(call)) / static_cast<double>(state.iterations());
  };
  state.counters["calls"] = per_round(nullptr);
  state.counters["copies"] = per_round("aclrtMemcpyAsync");
  state.counters["pageable"] = per_round("pageable");
  state.counters["replays"] = per_round("aclmdlRIExecuteAsync");
  state.counters["launches"] = per_round("aclrtLaunchKernelV2");
  state.counters["waits"] = per_round("aclrtSynchronizeStreamWithTimeout");
  rondo_stand_in_reset();
}

/// A chain of `tasks` tasks over an input and an output.
struct Chain {
  explicit Chain(std::size_t tasks) {
    auto last = graph.workspace<float>("t0", {bytes / 4});
    graph.add_raw("touch", rondo::CoreType::vector, &round_cases::touch, rondo::reads(x), rondo::writes(last));
    for (std::size_t t = 1; t < tasks; ++t) {
      const auto next = graph.workspace<float>("t" + std::to_string(t), {bytes / 4});
      graph.add_raw("touch", rondo::CoreType::vector, &round_cases::touch, rondo::updates(last), rondo::writes(next));
      last = next;
    }
    graph.add_raw("touch", rondo::CoreType::vector, &round_cases::touch, rondo::updates(last), rondo::writes(y));
  }
  rondo::TaskGraph graph;
  rondo::Input<float> x = graph.input<float>("x", {bytes / 4});
  rondo::Output<float> y = graph.output<float>("y", {bytes / 4});
};

/// The rival: such a chain by hand-written calls.
class Raw {
 public:
  explicit Raw(std::size_t tasks) : tasks_{tasks}, host_(bytes) {
    rondo::platform::onboard::open_library(c_);
    stand_in::Binary binary;
    binary.add("touch", &round_cases::touch);
    const auto data = binary.bytes();
    ok_ = c_.init(nullptr) == 0 && c_.set_device(0) == 0 && c_.create_stream(&stream_, 0, 0) == 0 &&
          c_.malloc(&memory_, 2 * bytes + 64, 0) == 0 &&
          c_.load_data(data.data(), data.size(), nullptr, &binary_) == 0 &&
          c_.get_function(binary_, "touch", &function_) == 0;
    args_[0] = reinterpret_cast<std::int64_t>(memory_);
  }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;
  ~Raw() {
    (void)c_.unload(binary_);
    (void)c_.destroy_stream(stream_);
    (void)c_.free(memory_);
    (void)c_.reset_device(0);
    (void)c_.finalize();
  }
  bool round() {
    auto* const at = static_cast<std::byte*>(memory_);
    bool ok = ok_ && c_.copy_async(at, bytes, host_.data(), bytes, 1, stream_) == 0;
    for (std::size_t t = 0; ok && t <= tasks_; ++t) {
      ok = c_.copy_async(at + 2 * bytes, 64, args_, sizeof(args_), 1, stream_) == 0 &&
           c_.launch_device_args(function_, 1, at + 2 * bytes, sizeof(args_), nullptr, stream_) == 0;
    }
    return ok && c_.copy_async(host_.data(), bytes, at, bytes, 2, stream_) == 0 && c_.synchronize(stream_, -1) == 0;
  }

 private:
  rondo::platform::onboard::Calls c_;
  std::size_t tasks_;
  std::vector<std::byte> host_;
  std::int64_t args_[2] = {};
  void *stream_ = nullptr, *memory_ = nullptr, *binary_ = nullptr, *function_ = nullptr;
  bool ok_ = false;
};

template <std::size_t K>
void register_pairs() {
  const std::string tail = "/k:" + std::to_string(K);
  benchmark::RegisterBenchmark(("pairs/checked" + tail).c_str(), [](benchmark::State& state) {
    RondoCase<P, K> onboard(bytes);
    run(state, [&] { return onboard.round().ok(); });
  });
  benchmark::RegisterBenchmark(("pairs/prebound" + tail).c_str(), [](benchmark::State& state) {
    RondoCase<P, K> onboard(bytes);
    const auto binding = onboard.prebind();
    run(state, [&] { return onboard.session().run_round(binding).ok(); });
  });
}

template <class Choice>
void register_refresh(const char* mechanism, std::uint32_t slots, std::uint32_t moved) {
  const std::string name =
      std::string("refresh/") + mechanism + "/slots:" + std::to_string(slots) + "/moved:" + std::to_string(moved);
  benchmark::RegisterBenchmark(name.c_str(), [slots, moved](benchmark::State& state) {
    refresh_cases::RefreshCase<Choice> table(slots);
    for (auto _ : state) {
      if (!table.round(moved) || !table.wait()) state.SkipWithError("a refresh failed");
    }
    const auto calls = rondo_stand_in_calls(nullptr) - rondo_stand_in_calls("aclrtSynchronizeStreamWithTimeout");
    state.counters["calls"] = static_cast<double>(calls) / static_cast<double>(state.iterations());
    state.counters["bytes"] = static_cast<double>(table.refresher().refreshed().bytes);
    state.counters["table"] = static_cast<double>(table.refresher().table().shape().size());
    rondo_stand_in_reset();
  });
}

void register_chain(std::size_t tasks) {
  const std::string tail = "/tasks:" + std::to_string(tasks + 1);
  benchmark::RegisterBenchmark(("chain/raw" + tail).c_str(), [tasks](benchmark::State& state) {
    Raw raw(tasks);
    run(state, [&] { return raw.round(); });
  });
  for (const bool capture : {false, true}) {
    const std::string name = (capture ? "chain/captured" : "chain/launched") + tail;
    benchmark::RegisterBenchmark(name.c_str(), [tasks, capture](benchmark::State& state) {
      const Chain chain(tasks);
      P::Options options;
      options.capture = capture;
      auto session = rondo::open<P>(chain.graph, options);
      std::vector<float> x(bytes / 4), y(bytes / 4);
      run(state, [&] { return session.run_round(bind(chain.x, x), bind(chain.y, y)).ok(); });
    });
  }
  for (const bool alternating : {false, true}) {
    const std::string name = (alternating ? "chain/device_memory_alternating" : "chain/device_memory") + tail;
    benchmark::RegisterBenchmark(name.c_str(), [tasks, alternating](benchmark::State& state) {
      const Chain chain(tasks);
      auto session = rondo::open<P>(chain.graph);
      auto& platform = session.platform();
      const auto block = platform.allocate(rondo::Bytes{3 * bytes}, rondo::Bytes{64});
      const auto at = [&](std::size_t i) {
        return rondo::DeviceSpan<float>{block.offset(rondo::Bytes{i * bytes}).as<float>(), bytes / 4};
      };
      std::size_t round = 0;
      run(state, [&] {
        const auto x = at(alternating ? round++ % 2 : 0);
        return session.run_round(bind(chain.x, x), bind(chain.y, at(2))).ok();
      });
      (void)platform.release(block);
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  rondo_stand_in_chip("a2a3");
  register_pairs<1>();
  register_pairs<4>();
  register_pairs<16>();
  for (const std::size_t tasks : {1U, 15U, 63U}) register_chain(tasks);
  using rondo::update::Always, rondo::update::Mechanism;
  for (const std::uint32_t slots : {100U, 400U, 1'000U, 10'000U}) {
    for (const std::uint32_t moved : {0U, 1U, 6U, refresh_cases::bases}) {
      register_refresh<Always<Mechanism::segment_copy>>("segment_copy", slots, moved);
      register_refresh<Always<Mechanism::device_op>>("device_op", slots, moved);
      register_refresh<Always<Mechanism::in_launch>>("in_launch", slots, moved);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
