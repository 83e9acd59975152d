// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
// function: round_under_test
// indirect: 0
// allow: .*detail::Instance<.*>::run_in_any_order<.*|_ZN5rondo6detail8Instance.*run_in_any_order.*
// allow: (rondo::Status )?rondo::detail::Session<.*>::note_failure\(.*

// A round over a graph that the compiler knows, with tensors of 64 bytes: copies and kernels are all inlined. What may
// be called is reached only when a round is refused, or when it is not a plain one.

#include <rondo/platform/select.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/open_static.hpp>

#include <span>

namespace {

using namespace rondo;

struct Add {
  static constexpr std::string_view name = "add";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, In<float> y, Out<float> z) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] + y[i];
  }
};
struct Relu {
  static constexpr std::string_view name = "relu";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, Out<float> y) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] > 0 ? x[i] : 0;
  }
};
struct Scale {
  static constexpr std::string_view name = "scale";
  static constexpr auto core = CoreType::cube;
  static void run(In<float> x, Out<float> y, float a) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = a * x[i];
  }
};

constexpr auto build = [] {
  TaskGraph g;
  const auto x = g.input<float>("x", {16});
  const auto y = g.output<float>("y", {16});
  const auto sum = g.workspace<float>("sum", {16});
  const auto positive = g.workspace<float>("positive", {16});
  g.add<Add>(x, x, sum);
  g.add<Relu>(sum, positive);
  g.add<Scale>(positive, y, 3.0F);
  return g;
};
constexpr auto& chain = static_graph<build>;
using Session = RoundSession<A2A3Sim, DefaultPolicies, graph::StaticGraphRef<chain>>;

}  // namespace

extern "C" bool round_under_test(Session& session, std::span<const float, 16> x, std::span<float, 16> y) {
  return session.run_round(bind(chain.input<float>("x"), x), bind(chain.output<float>("y"), y)).ok();
}
