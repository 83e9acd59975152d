// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/binding/bindings.hpp>

#include <rondo/session/open.hpp>
#include <unit/session/scripted_platform.hpp>
#include <unit/support.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::test;

namespace {

/// y = x + 10 a, z += x - a
struct Tangle {
  static constexpr std::string_view name = "tangle";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> x, In<float> a, Out<float> y, InOut<float> z) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = x[i] + 10 * a[i];
      z[i] += x[i] - a[i];
    }
  }
};

struct Rig {
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {4});
  Input<float> a = graph.input<float>("a", {4});
  Output<float> y = graph.output<float>("y", {4});
  InputOutput<float> z = graph.inout<float>("z", {4});
  Resident<float> w = graph.resident<float>("w", {4});
  TaskId task = graph.add<Tangle>(x, a, y, z);

  Script script;
  RoundSession<ScriptedPlatform> session = open<ScriptedPlatform>(graph, {&script});
  std::vector<float> hx{1, 2, 3, 4};
  std::vector<float> ha{5, 6, 7, 8};
  std::vector<float> hy = std::vector<float>(4);
  std::vector<float> hz{100, 100, 100, 100};

  Rig() { (void)script.take(); }

  /// A good round, its result checked: what must work after whatever was refused.
  void check_good_round() {
    std::vector<float> y_expected;
    std::vector<float> z_expected;
    for (std::size_t i = 0; i < 4; ++i) {
      y_expected.push_back(hx[i] + 10 * ha[i]);
      z_expected.push_back(hz[i] + hx[i] - ha[i]);
    }
    const std::uint64_t before = session.rounds();
    CHECK(session.run_round(bind(x, hx), bind(a, ha), bind(y, hy), bind(z, hz)).ok());
    CHECK(hy == y_expected);
    CHECK(hz == z_expected);
    CHECK(session.rounds() == before + 1);
    CHECK(script.take() == "copy_in:16 copy_in:16 copy_in:16 launch copy_out:16 copy_out:16 wait");
  }

  /// All three ways to bind refuse the pairs with this status, ask nothing of the platform, change nothing, and the
  /// sentence has these parts.
  template <class... Parts, class... Pairs>
  void refuses(Errc code, const std::tuple<Parts...>& parts, const Pairs&... pairs) {
    const auto check = [&](Status status) {
      CHECK(status.code() == code);
      CHECK_FALSE(status.poisoned());
      const std::string text = session.explain(status).c_str();
      CAPTURE(text);
      CHECK(std::apply([&](const auto&... p) { return says(text, p...); }, parts));
      CHECK(script.take().empty());
      CHECK(session.rounds() == rounds_before);
    };
    rounds_before = session.rounds();
    const std::vector<float> z_before = hz;
    check(session.run_round(pairs...));
    check(session.prebind(pairs...).status());
    {
      auto prebound = session.prebind(pairs...);
      check(session.run_round(prebound));
    }
    check(session.begin_round(pairs...).launch().finish().status());
    CHECK(hz == z_before);
    check_good_round();
  }
  std::uint64_t rounds_before = 0;
};

template <std::size_t... I, class Pairs>
Status run_permuted(RoundSession<ScriptedPlatform>& session, const Pairs& pairs, std::index_sequence<I...>) {
  return session.run_round(std::get<I>(pairs)...);
}
template <std::size_t... I, class Pairs>
Status step_permuted(RoundSession<ScriptedPlatform>& session, const Pairs& pairs, std::index_sequence<I...>) {
  return session.begin_round(std::get<I>(pairs)...).launch().finish().status();
}
template <std::size_t... I, class Pairs>
Status prebind_permuted(RoundSession<ScriptedPlatform>& session, const Pairs& pairs, std::index_sequence<I...>) {
  const auto prebound = session.prebind(std::get<I>(pairs)...);
  return session.run_round(prebound);
}

/// Calls f(index_sequence) with each of the 24 orders of four things.
template <class F>
void for_each_order(F&& f) {
  const auto from_code = [&]<std::size_t Code>() {
    constexpr std::size_t a = Code / 27 % 4, b = Code / 9 % 3, c = Code / 3 % 2;
    constexpr auto order = [] {
      std::array<std::size_t, 4> rest{0, 1, 2, 3};
      std::array<std::size_t, 4> out{};
      std::size_t left = 4;
      for (const std::size_t pick : {a, b, c, std::size_t{0}}) {
        out[4 - left] = rest[pick];
        for (std::size_t i = pick; i + 1 < left; ++i) rest[i] = rest[i + 1];
        --left;
      }
      return out;
    }();
    f(std::index_sequence<order[0], order[1], order[2], order[3]>{});
  };
  [&]<std::size_t... P>(std::index_sequence<P...>) {
    (from_code.template operator()<P / 6 * 27 + P / 2 % 3 * 9 + P % 2 * 3>(), ...);
  }(std::make_index_sequence<24>{});
}

}  // namespace

TEST_CASE("A round gives the same result in whatever order its pairs are bound, and by whatever way") {
  int orders = 0;
  for_each_order([&](auto order) {
    ++orders;
    for (const int way : {0, 1, 2}) {
      Rig rig;
      const auto pairs =
          std::make_tuple(bind(rig.x, rig.hx), bind(rig.a, rig.ha), bind(rig.y, rig.hy), bind(rig.z, rig.hz));
      const Status status = way == 0   ? run_permuted(rig.session, pairs, order)
                            : way == 1 ? step_permuted(rig.session, pairs, order)
                                       : prebind_permuted(rig.session, pairs, order);
      REQUIRE(status.ok());
      REQUIRE(rig.hy == std::vector<float>{51, 62, 73, 84});
      REQUIRE(rig.hz == std::vector<float>{96, 96, 96, 96});
      REQUIRE(rig.hx == std::vector<float>{1, 2, 3, 4});
    }
  });
  CHECK(orders == 24);
}

TEST_CASE("A tensor that is not bound is named") {
  Rig rig;
  rig.refuses(Errc::unbound_tensor, std::tuple{"'a'", "in", "bind each one"}, bind(rig.x, rig.hx), bind(rig.y, rig.hy),
              bind(rig.z, rig.hz));
  rig.refuses(Errc::unbound_tensor, std::tuple{"'z'", "inout"}, bind(rig.y, rig.hy), bind(rig.a, rig.ha),
              bind(rig.x, rig.hx));
  rig.refuses(Errc::unbound_tensor, std::tuple{"'x'"});
}

TEST_CASE("A tensor that is bound twice is named, whether or not another one is missing") {
  Rig rig;
  std::vector<float> other(4);
  rig.refuses(Errc::bound_twice, std::tuple{"'y'", "bind it once"}, bind(rig.x, rig.hx), bind(rig.y, rig.hy),
              bind(rig.y, other), bind(rig.z, rig.hz));
  rig.refuses(Errc::bound_twice, std::tuple{"'x'"}, bind(rig.x, rig.hx), bind(rig.a, rig.ha), bind(rig.y, rig.hy),
              bind(rig.z, rig.hz), bind(rig.x, rig.hx));
}

TEST_CASE("Memory that is too small or too large is refused with both sizes") {
  Rig rig;
  std::vector<float> small(3);
  std::vector<float> large(5);
  rig.refuses(Errc::wrong_size, std::tuple{"'y'", "4 × float32", "takes 16 bytes", "12 were bound"},
              bind(rig.x, rig.hx), bind(rig.a, rig.ha), bind(rig.y, small), bind(rig.z, rig.hz));
  rig.refuses(Errc::wrong_size, std::tuple{"'x'", "takes 16 bytes", "20 were bound"}, bind(rig.x, large),
              bind(rig.a, rig.ha), bind(rig.y, rig.hy), bind(rig.z, rig.hz));
  float one = 0;
  rig.refuses(Errc::wrong_size, std::tuple{"'a'", "4 were bound"}, bind(rig.x, rig.hx), bind(rig.a, one),
              bind(rig.y, rig.hy), bind(rig.z, rig.hz));
  std::vector<float> none;
  rig.refuses(Errc::wrong_size, std::tuple{"'z'", "0 were bound"}, bind(rig.x, rig.hx), bind(rig.a, rig.ha),
              bind(rig.y, rig.hy), bind(rig.z, none));
}

TEST_CASE("Null memory is refused, in and out") {
  Rig rig;
  const CopiedPair<float, Direction::in> null_in{rig.x, nullptr, 4};
  const CopiedPair<float, Direction::out> null_out{rig.y, nullptr, 4};
  rig.refuses(Errc::null_memory, std::tuple{"'x'", "the memory is null"}, null_in, bind(rig.a, rig.ha),
              bind(rig.y, rig.hy), bind(rig.z, rig.hz));
  rig.refuses(Errc::null_memory, std::tuple{"'y'"}, bind(rig.x, rig.hx), bind(rig.a, rig.ha), null_out,
              bind(rig.z, rig.hz));
  rig.refuses(Errc::wrong_size, std::tuple{"'x'", "0 were bound"}, bind(rig.x, std::span<float>{}), bind(rig.a, rig.ha),
              bind(rig.y, rig.hy), bind(rig.z, rig.hz));
}

TEST_CASE("A tensor of another graph is refused, even one with the same name, place and size") {
  Rig rig;
  TaskGraph other;
  const auto foreign = other.input<float>("x", {4});
  rig.refuses(Errc::wrong_tensor, std::tuple{"this call does not take the tensor"}, bind(foreign, rig.hx),
              bind(rig.a, rig.ha), bind(rig.y, rig.hy), bind(rig.z, rig.hz));
  rig.refuses(Errc::wrong_tensor, std::tuple{"this call does not take the tensor"}, bind(rig.x, rig.hx),
              bind(rig.a, rig.ha), bind(rig.y, rig.hy), bind(rig.z, rig.hz), bind(foreign, rig.hx));
}

TEST_CASE("The same memory may serve two inputs") {
  Rig rig;
  CHECK(rig.session.run_round(bind(rig.x, rig.hx), bind(rig.a, rig.hx), bind(rig.y, rig.hy), bind(rig.z, rig.hz)).ok());
  CHECK(rig.hy == std::vector<float>{11, 22, 33, 44});
}

TEST_CASE("Sorting puts bindings into the order of the ports and leaves their contents alone") {
  std::vector<detail::Port> ports;
  std::vector<detail::Binding> sorted;
  float memory[6] = {};
  for (std::uint32_t i = 0; i < 6; ++i) {
    detail::Port port;
    port.key = TensorKey{TensorId{2 * i + 1}, 9};
    port.bytes = 8 * i + 8;
    ports.push_back(port);
    detail::Binding binding;
    binding.key = port.key;
    binding.bytes = port.bytes;
    binding.data = &memory[i];
    sorted.push_back(binding);
  }
  std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
  do {
    std::vector<detail::Binding> bindings;
    for (const std::size_t i : order) bindings.push_back(sorted[i]);
    REQUIRE(detail::sort_bindings(ports, {bindings.data(), bindings.size()}).status.ok());
    for (std::size_t i = 0; i < 6; ++i) {
      REQUIRE(bindings[i].key == sorted[i].key);
      REQUIRE(bindings[i].bytes == sorted[i].bytes);
      REQUIRE(bindings[i].data == sorted[i].data);
    }
    // One too few: the missing one is named, whichever it is and wherever the others stand.
    bindings.clear();
    for (const std::size_t i : order) bindings.push_back(sorted[i]);
    const std::uint32_t missing = index(bindings.back().key.tensor());
    bindings.pop_back();
    const detail::BindingFault fault = detail::sort_bindings(ports, {bindings.data(), bindings.size()});
    REQUIRE(fault.status == Status::of_tensor(Errc::unbound_tensor, missing));
  } while (std::next_permutation(order.begin(), order.end()));
}
