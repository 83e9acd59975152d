// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// The program that check.sh stops in show(), to see what a debugger shows of its variables.

#include <rondo/rondo.hpp>
#include <rondo/session/shaped_session.hpp>

#include <vector>

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr auto core = rondo::CoreType::vector;
  static void run(rondo::In<float> x, rondo::Out<float> y) {
    if (x[0] < 0) throw rondo::Error(rondo::Errc::invalid_argument, rondo::Error::Text("x[0] is negative"));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};

[[gnu::noinline]] void show() { asm volatile(""); }

int main() {
  rondo::TaskGraph graph;
  const auto x = graph.input<float>("x", {4, 2});
  const auto y = graph.output<float>("y", {4, 2});
  graph.add<Twice>(x, y);
  rondo::TaskGraph symbolic;
  const auto n = symbolic.dim("n");
  const auto sx = symbolic.input<float>("sx", {n});
  const auto sy = symbolic.output<float>("sy", {n});
  symbolic.add<Twice>(sx, sy);

  auto session = rondo::open<rondo::A2A3Sim>(graph);
  auto overlapping = rondo::open_pipelined<rondo::A2A3Sim, 3>(graph);
  auto shaped = rondo::open_shaped<rondo::A2A3Sim>(symbolic);
  std::vector<float> hx(8, 1.0F), hy(8);
  const rondo::Status good = session.run_round(bind(x, hx), bind(y, hy));
  const rondo::Status unbound = session.run_round(bind(x, hx));
  (void)overlapping.submit_round(bind(x, hx), bind(y, hy));
  (void)overlapping.submit_round(bind(x, hx), bind(y, hy));
  (void)shaped.run_round(bind(sx, hx), bind(sy, hy));
  const rondo::DevicePtr<float> pointer{std::uint64_t{0x1040}}, null;
  const rondo::DeviceSpan<float> span{pointer, 16};
  const rondo::Bytes size{4096};
  show();
  hx[0] = -1.0F;
  const rondo::Status thrown = session.run_round(bind(x, hx), bind(y, hy));
  show();
  return good.ok() && !unbound.ok() && thrown.poisoned() && !null && span.size() == 16 && size.value == 4096 &&
                 overlapping.wait_all().ok()
             ? 0
             : 1;
}
