// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Runs `rounds` rounds of an onboard session over the stand-in inside measured(), for an instruction counter to look
// at; or refreshes of an args table of so many slots. Usage:
//   onboard_instructions <checked|prebound|one_way> <1|4|16> <rounds>
//   onboard_instructions <segment_copy|device_op|in_launch>:<bases that move> <slots> <rounds>

#include "../../bench/refresh_cases.hpp"
#include "../../bench/round_cases.hpp"
#include "stand_in/over_stand_in.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

template <class Round>
[[gnu::noinline, gnu::hot]] bool measured(long rounds, Round round) {
  bool ok = true;
  for (long i = 0; i < rounds; ++i) ok &= round();
  return ok;
}

/// K inputs and K outputs of 4 KiB.
template <std::size_t K>
class OneWay {
 public:
  OneWay() : graph_{make_graph()}, session_(rondo::open<A2A3OverStandIn>(graph_)) {
    for (auto& h : from_) h.assign(1024, 1.0F);
    for (auto& h : to_) h.assign(1024, 1.0F);
  }
  [[gnu::always_inline]] bool round() { return round(std::make_index_sequence<K>{}); }

 private:
  rondo::TaskGraph make_graph() {
    rondo::TaskGraph graph;
    for (std::size_t i = 0; i < K; ++i) inputs_[i] = graph.input<float>("x" + std::to_string(i), {1024});
    for (std::size_t i = 0; i < K; ++i) outputs_[i] = graph.output<float>("y" + std::to_string(i), {1024});
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      graph.add_raw("touch", rondo::CoreType::vector, &round_cases::touch, rondo::reads(inputs_[I])...,
                    rondo::writes(outputs_[I])...);
    }(std::make_index_sequence<K>{});
    return graph;
  }
  template <std::size_t... I>
  [[gnu::always_inline]] bool round(std::index_sequence<I...>) {
    return session_.run_round(bind(inputs_[I], from_[I])..., bind(outputs_[I], to_[I])...).ok();
  }
  std::array<std::vector<float>, K> from_, to_;
  std::array<rondo::Input<float>, K> inputs_;
  std::array<rondo::Output<float>, K> outputs_;
  rondo::TaskGraph graph_;
  rondo::RoundSession<A2A3OverStandIn> session_;
};

template <std::size_t K>
bool run(std::string_view which, long rounds) {
  if (which == "one_way") {
    OneWay<K> one_way;
    return measured(rounds, [&]() __attribute__((always_inline)) { return one_way.round(); });
  }
  round_cases::RondoCase<A2A3OverStandIn, K> onboard(4096);
  if (which == "checked") {
    return measured(rounds, [&]() __attribute__((always_inline)) { return onboard.round().ok(); });
  }
  const auto binding = onboard.prebind();
  return measured(rounds, [&]() __attribute__((always_inline)) { return onboard.session().run_round(binding).ok(); });
}

template <class Choice>
bool refresh(std::uint32_t slots, std::uint32_t moved, long rounds) {
  refresh_cases::RefreshCase<Choice> table(slots);
  return measured(rounds, [&]() __attribute__((always_inline)) { return table.round(moved); }) && table.wait();
}
/// Refreshes by the mechanism whose name `which` begins with. @returns 0, or 1 after a failure; -1 if it names none
int refresh(std::string_view which, std::uint32_t slots, long rounds) {
  using rondo::update::Always, rondo::update::Mechanism;
  const std::size_t colon = which.find(':');
  if (colon == std::string_view::npos) return -1;
  const auto moved = static_cast<std::uint32_t>(std::atol(which.data() + colon + 1));
  const std::string_view name = which.substr(0, colon);
  if (name == "segment_copy") return refresh<Always<Mechanism::segment_copy>>(slots, moved, rounds) ? 0 : 1;
  if (name == "device_op") return refresh<Always<Mechanism::device_op>>(slots, moved, rounds) ? 0 : 1;
  if (name == "in_launch") return refresh<Always<Mechanism::in_launch>>(slots, moved, rounds) ? 0 : 1;
  return -1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4)
    return std::fprintf(stderr, "usage: onboard_instructions <checked|prebound|one_way> <1|4|16> <rounds>\n"), 2;
  const long rounds = std::atol(argv[3]);
  if (const int done = refresh(argv[1], static_cast<std::uint32_t>(std::atol(argv[2])), rounds); done >= 0) return done;
  const std::string_view k = argv[2];
  const bool ok = k == "1" ? run<1>(argv[1], rounds) : k == "4" ? run<4>(argv[1], rounds) : run<16>(argv[1], rounds);
  return ok ? 0 : 1;
}
