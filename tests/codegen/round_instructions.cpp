// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Runs `rounds` rounds of one case of round_overhead inside measured(), for an instruction counter to look at.
// Usage: round_instructions <raw|rondo|prebound|null|shaped|stays|moves|prebound_moves|submitted|submitted_prebound>
// <1|4|16> <bytes> <rounds>

#include "../../bench/round_cases.hpp"

#include <rondo/session/open.hpp>
#include <rondo/session/shaped_session.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <tuple>

namespace {

using round_cases::RawCase;
using round_cases::RondoCase;

// Hot: g++ compiles what main() calls once for size, and would open-code memcpy as a loop of one byte per instruction.
template <class Round>
[[gnu::noinline, gnu::hot]] bool measured(long rounds, Round round) {
  bool ok = true;
  for (long i = 0; i < rounds; ++i) ok &= round();
  return ok;
}

/// The one task, over all tensors.
template <std::size_t K>
void add_touch(rondo::TaskGraph& graph, const std::array<rondo::InputOutput<float>, K>& handles) {
  std::apply(
      [&](const auto&... x) {
        graph.add_raw("touch", rondo::CoreType::vector, &round_cases::touch, rondo::updates(x)...);
      },
      handles);
}

/// The same tensors in a session of many shapes, whose rounds all have the one it knows.
template <std::size_t K>
class ShapedCase {
 public:
  explicit ShapedCase(std::size_t bytes) : hosts_(bytes), session_(rondo::open_shaped<rondo::A2A3Sim>(make_graph())) {}
  [[gnu::always_inline]] rondo::Status round() { return round(std::make_index_sequence<K>{}); }

 private:
  rondo::TaskGraph make_graph() {
    rondo::TaskGraph graph;
    const auto n = graph.dim("n");
    for (std::size_t i = 0; i < K; ++i) handles_[i] = graph.inout<float>("t" + std::to_string(i), {n});
    add_touch(graph, handles_);
    return graph;
  }
  template <std::size_t... I>
  [[gnu::always_inline]] rondo::Status round(std::index_sequence<I...>) {
    return session_.run_round(bind(handles_[I], hosts_.memory[I])...);
  }

  round_cases::Hosts<K> hosts_;
  std::array<rondo::InputOutput<float>, K> handles_;
  rondo::ShapedSession<rondo::A2A3Sim> session_;
};

/// The same tensors in device memory, all of which is other memory in every second round, or none.
template <std::size_t K>
class DeviceCase {
 public:
  DeviceCase(std::size_t bytes, bool moves) : session_(rondo::open<rondo::A2A3Sim>(make_graph(bytes))) {
    for (std::size_t set = 0; set < 2; ++set) {
      for (std::size_t i = 0; i < K; ++i) {
        if (set == 0 || moves) blocks_[set][i] = session_.platform().allocate(rondo::Bytes{bytes}, rondo::Bytes{1024});
        if (set == 1 && !moves) blocks_[1][i] = blocks_[0][i];
        memory_[set][i] = {blocks_[set][i].template as<float>(), bytes / sizeof(float)};
      }
    }
    moves_ = moves;
  }
  ~DeviceCase() {
    for (std::size_t set = 0; set < (moves_ ? 2 : 1); ++set) {
      for (const auto block : blocks_[set]) (void)session_.platform().release(block);
    }
  }
  DeviceCase(const DeviceCase&) = delete;
  DeviceCase& operator=(const DeviceCase&) = delete;
  auto& session() { return session_; }
  [[gnu::always_inline]] rondo::Status round() { return round(std::make_index_sequence<K>{}); }
  auto prebind(std::size_t set) { return prebind(set, std::make_index_sequence<K>{}); }

 private:
  rondo::TaskGraph make_graph(std::size_t bytes) {
    rondo::TaskGraph graph;
    const auto count = static_cast<std::int64_t>(bytes / sizeof(float));
    for (std::size_t i = 0; i < K; ++i) handles_[i] = graph.inout<float>("t" + std::to_string(i), {count});
    add_touch(graph, handles_);
    return graph;
  }
  template <std::size_t... I>
  [[gnu::always_inline]] rondo::Status round(std::index_sequence<I...>) {
    const auto& now = memory_[turn_ = 1 - turn_];
    return session_.run_round(bind(handles_[I], now[I])...);
  }
  template <std::size_t... I>
  auto prebind(std::size_t set, std::index_sequence<I...>) {
    return session_.prebind(bind(handles_[I], memory_[set][I])...);
  }

  bool moves_ = false;
  std::size_t turn_ = 0;
  std::array<rondo::InputOutput<float>, K> handles_;
  rondo::RoundSession<rondo::A2A3Sim> session_;
  std::array<rondo::DevicePtr<std::byte>, K> blocks_[2];
  std::array<rondo::DeviceSpan<float>, K> memory_[2];
};

/// A platform whose queue does nothing, so that what is counted of rounds in flight is the session's alone.
struct Queued : rondo::NullPlatform {
  using NullPlatform::NullPlatform;
  static constexpr rondo::Capabilities capabilities{rondo::Capability::queue, rondo::Capability::args_in_host_memory};
  struct Queue {
    void reserve(rondo::Bytes) noexcept {}
    rondo::Status copy_in(std::uint32_t, rondo::DevicePtr<std::byte>, const void*, rondo::Bytes) noexcept { return {}; }
    rondo::Status copy_out(std::uint32_t, void*, rondo::DevicePtr<const std::byte>, rondo::Bytes) noexcept {
      return {};
    }
    rondo::Status launch(std::uint32_t, Program&) noexcept { return {}; }
    rondo::Status commit(std::uint32_t) noexcept { return {}; }
    [[nodiscard]] bool is_done(std::uint32_t) const noexcept { return true; }
    void await(std::uint32_t) noexcept {}
    rondo::Status deliver(std::uint32_t) noexcept { return {}; }
    void cancel(std::uint32_t) noexcept {}
    rondo::Status close() noexcept { return {}; }
  };
  [[nodiscard]] Queue open_queue(std::size_t, std::size_t, rondo::Bytes) const noexcept { return {}; }
};

/// K inputs and K outputs with two rounds in flight: each round is submitted, and delivered while a later one is.
template <std::size_t K>
class PipelinedCase {
 public:
  explicit PipelinedCase(std::size_t bytes)
      : hosts_(bytes), session_(rondo::open_pipelined<Queued, 2>(make_graph(bytes))) {}
  auto& session() { return session_; }
  [[gnu::always_inline]] bool round() { return round(std::make_index_sequence<K>{}); }
  auto prebind() { return prebind(std::make_index_sequence<K>{}); }

 private:
  rondo::TaskGraph make_graph(std::size_t bytes) {
    rondo::TaskGraph graph;
    const auto count = static_cast<std::int64_t>(bytes / sizeof(float));
    for (std::size_t i = 0; i < K; ++i) {
      inputs_[i] = graph.input<float>("x" + std::to_string(i), {count});
    }
    for (std::size_t i = 0; i < K; ++i) {
      outputs_[i] = graph.output<float>("y" + std::to_string(i), {count});
    }
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      graph.add_raw("touch", rondo::CoreType::vector, &round_cases::touch, rondo::reads(inputs_[I])...,
                    rondo::writes(outputs_[I])...);
    }(std::make_index_sequence<K>{});
    return graph;
  }
  template <std::size_t... I>
  [[gnu::always_inline]] bool round(std::index_sequence<I...>) {
    return session_.submit_round(bind(inputs_[I], hosts_.memory[I])..., bind(outputs_[I], to_.memory[I])...)
        .submitted()
        .ok();
  }
  template <std::size_t... I>
  auto prebind(std::index_sequence<I...>) {
    return session_.prebind(bind(inputs_[I], hosts_.memory[I])..., bind(outputs_[I], to_.memory[I])...);
  }

  round_cases::Hosts<K> hosts_;
  round_cases::Hosts<K> to_ = hosts_;
  std::array<rondo::Input<float>, K> inputs_;
  std::array<rondo::Output<float>, K> outputs_;
  rondo::PipelinedSession<Queued, 2> session_;
};

template <std::size_t K>
bool run(std::string_view which, std::size_t bytes, long rounds) {
  RondoCase<rondo::A2A3Sim, K> rondo(bytes);
  if (which == "rondo") return measured(rounds, [&]() __attribute__((always_inline)) { return rondo.round().ok(); });
  if (which == "prebound") {
    const auto binding = rondo.prebind();
    return measured(rounds, [&]() __attribute__((always_inline)) { return rondo.session().run_round(binding).ok(); });
  }
  if (which == "null") {
    RondoCase<rondo::NullPlatform, K> null(bytes);
    return measured(rounds, [&]() __attribute__((always_inline)) { return null.round().ok(); });
  }
  if (which == "shaped") {
    ShapedCase<K> shaped(bytes);
    if (!shaped.round().ok()) return false;  // it prepares the shape
    return measured(rounds, [&]() __attribute__((always_inline)) { return shaped.round().ok(); });
  }
  if (which == "stays" || which == "moves") {
    DeviceCase<K> device(bytes, which == "moves");
    return measured(rounds, [&]() __attribute__((always_inline)) { return device.round().ok(); });
  }
  if (which == "submitted") {
    PipelinedCase<K> pipelined(bytes);
    return measured(rounds, [&]() __attribute__((always_inline)) { return pipelined.round(); });
  }
  if (which == "submitted_prebound") {
    PipelinedCase<K> pipelined(bytes);
    const auto binding = pipelined.prebind();
    return measured(rounds, [&]() __attribute__((always_inline)) {
      return pipelined.session().submit_round(binding).submitted().ok();
    });
  }
  if (which == "prebound_moves") {
    DeviceCase<K> device(bytes, true);
    const auto one = device.prebind(0), other = device.prebind(1);
    const auto *now = &one, *next = &other;
    return measured(rounds, [&]() __attribute__((always_inline)) {
      std::swap(now, next);
      return device.session().run_round(*now).ok();
    });
  }
  if (which != "raw") return false;
  RawCase raw(rondo);
  return measured(rounds, [&]() __attribute__((always_inline)) {
    raw.round();
    return true;
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs(
        "usage: round_instructions "
        "<raw|rondo|prebound|null|shaped|stays|moves|prebound_moves|submitted|submitted_prebound> <1|4|16> <bytes> "
        "<rounds>\n",
        stderr);
    return 2;
  }
  const auto bytes = static_cast<std::size_t>(std::atol(argv[3]));
  const long rounds = std::atol(argv[4]);
  const std::string_view k = argv[2];
  const bool ok = k == "1"   ? run<1>(argv[1], bytes, rounds)
                  : k == "4" ? run<4>(argv[1], bytes, rounds)
                             : k == "16" && run<16>(argv[1], bytes, rounds);
  return ok ? 0 : 1;
}
