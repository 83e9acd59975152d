// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Two rounds, seen by the observer that OBSERVER names. Its name is no part of any symbol, so the code of two observers
// that do nothing is the same to the last byte; see same_code.sh.

#include <rondo/rondo.hpp>
#include <rondo/session/open_static.hpp>

#include <vector>

namespace {

using namespace rondo;

struct Scale {
  static constexpr std::string_view name = "scale";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, InOut<float> y) noexcept {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] *= x[i];
  }
};

struct Nothing {
  [[maybe_unused]] static constexpr Events events{Event::phases, Event::copies, Event::refreshes, Event::deliveries};
  void round_begins(RoundIndex) noexcept {}
  void round_ends(RoundIndex, Status) noexcept {}
  void enters(Phase) noexcept {}
  void copies_in(Bytes) noexcept {}
  void copies_out(Bytes) noexcept {}
  void refresh_begins() noexcept {}
  void refreshed(const update::Refreshed&) noexcept {}
  void delivers(RoundIndex) noexcept {}
};
struct Something : Nothing {
  std::uint64_t phases = 0;
  void enters(Phase) noexcept { ++phases; }
};
struct Policies : DefaultPolicies {
  using Observe = OBSERVER;
};

constexpr auto build = [] {
  TaskGraph g;
  auto x = g.input<float>("x", {16});
  auto y = g.inout<float>("y", {16});
  g.add<Scale>(x, y);
  return g;
};
constexpr auto& known = static_graph<build>;

using Dynamic = RoundSession<A2A3Sim, Policies>;
using Static = RoundSession<A2A3Sim, Policies, rondo::graph::StaticGraphRef<known>>;

}  // namespace

extern "C" {
bool dynamic_round(void* session, const Input<float>& x, const InputOutput<float>& y, const std::vector<float>& hx,
                   std::vector<float>& hy) noexcept {
  return static_cast<Dynamic*>(session)->run_round(bind(x, hx), bind(y, hy)).ok();
}
bool stepped_round(void* session, const Input<float>& x, const InputOutput<float>& y, const std::vector<float>& hx,
                   std::vector<float>& hy) noexcept {
  return static_cast<Dynamic*>(session)->begin_round(bind(x, hx), bind(y, hy)).launch().finish().status().ok();
}
bool static_round(void* session, const float* hx, float* hy) noexcept {
  return static_cast<Static*>(session)
      ->run_round(bind(known.input<float>("x"), std::span<const float, 16>{hx, 16}),
                  bind(known.inout<float>("y"), std::span<float, 16>{hy, 16}))
      .ok();
}
}
