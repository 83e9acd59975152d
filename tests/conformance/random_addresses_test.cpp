// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Thousands of rounds in random order, of all the ways in which addresses change between them, against a model that
// keeps what each memory holds: host and device memory in any mixture, prebindings that are kept, inputs held and
// released, scalars that change, arenas that move, rounds that are refused, dropped before they end, or fail halfway.

#include "conformance/device_floats.hpp"
#include "conformance/kernels.hpp"
#include "conformance/platforms.hpp"

#include <doctest/doctest.h>
#include <random.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;
using update::Mechanism;

namespace {

using Floats = std::vector<float>;
constexpr std::size_t n = 8;

struct Shift {
  static constexpr std::string_view name = "shift";
  static constexpr auto core = CoreType::vector;
  static void run(In<float> y, In<std::int32_t> position, Out<float> z) noexcept {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = y[0] + static_cast<float>(position[0]);
  }
};

/// A platform one of whose calls may fail, and leave it usable.
template <class P>
struct Flaky : P {
  using P::P;
  static inline std::size_t calls_left = 0;  ///< the last of them fails; 0: none does
  static bool fails() { return calls_left != 0 && --calls_left == 0; }
  static constexpr Status failure{Errc::out_of_memory};

  Status copy_in(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept {
    return fails() ? failure : P::copy_in(to, from, size);
  }
  Status copy_out(void* to, DevicePtr<const std::byte> from, Bytes size) noexcept {
    return fails() ? failure : P::copy_out(to, from, size);
  }
  Status copy_in_snapshot(DevicePtr<std::byte> to, const void* from, Bytes size) noexcept
    requires HasSnapshotCopy<P>
  {
    return fails() ? failure : P::copy_in_snapshot(to, from, size);
  }
  Status refresh_args(const args::RefreshOp& op) noexcept
    requires HasDeviceRefresh<P>
  {
    return fails() ? failure : P::refresh_args(op);
  }
  Status refresh_in_launch(const args::RefreshOp& op, const args::LaunchPayload& payload) noexcept
    requires HasLaunchRefresh<P>
  {
    return fails() ? failure : P::refresh_in_launch(op, payload);
  }
};

/// y = factor (x + w), s += x, z = y + position; or without a position.
template <bool has_position>
struct Graph {
  Graph() {
    const auto sum = graph.workspace<float>("sum", {n});
    graph.add<kernels::Add>(x, w, sum);
    scale = graph.add<kernels::Scale>(sum, y, 3.0F);
    graph.add<kernels::Accumulate>(x, s);
    if constexpr (has_position) {
      position = graph.host_input<std::int32_t>("position", {1});
      graph.add<Shift>(y, position, z);
    } else {
      graph.add<kernels::Scale>(y, z, 1.0F);
    }
    graph.keep(w);
  }
  TaskGraph graph;
  Input<float> x = graph.input<float>("x", {n});
  Input<float> w = graph.input<float>("w", {n});
  Output<float> y = graph.output<float>("y", {n});
  InputOutput<float> s = graph.inout<float>("s", {n});
  Output<float> z = graph.output<float>("z", {n});
  HostInput<std::int32_t> position{};
  TaskId scale{};
};

/// What a round binds to x, w, y and s: the number of a device memory, or host memory.
constexpr std::size_t host = 99;
using Choice = std::array<std::size_t, 4>;

/// Does a round write memory that it also uses as something else?
bool collides(const Choice& c) {
  return (c[2] != host && (c[2] == c[0] || c[2] == c[1] || c[2] == c[3])) ||
         (c[3] != host && (c[3] == c[0] || c[3] == c[1]));
}

template <class P, class Policies, bool has_position>
class Rig {
 public:
  explicit Rig(std::uint32_t seed) : random_{rondo::test::make_random(seed)} {
    for (std::size_t i = 0; i < 6; ++i) device_.emplace_back(session_.platform(), n);
    for (std::size_t i = 0; i < 2; ++i) arenas_.emplace_back(session_.platform(), 1024);
  }
  ~Rig() { CHECK(session_.close().ok()); }

  void step() {
    switch (below(18)) {
      case 0: return hold_or_release();
      case 1: return set_factor();
      case 2:
        if (below(4) == 0) return move_arena();
        break;
      case 3: return keep_prebinding();
      case 4:
      case 5:
      case 6: return run_kept();
      case 7: return be_refused();
      case 8: return drop_or_fail();
      default: break;
    }
    // Mostly most of it is where it was.
    for (std::size_t i = 0; i < 4; ++i) {
      if (below(3) == 0) choice_[i] = below(2) == 0 ? host : below(device_.size());
    }
    if (below(3) == 0) std::swap(choice_[0], choice_[2]);
    run(choice_, below(4));
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t limit) { return random_() % limit; }
  std::int32_t next_position() { return position_ = static_cast<std::int32_t>(below(100)); }

  /// Calls `f` with pairs, and, after them, with those of what is always host memory: where the graph declared it.
  template <class F, class... Pairs>
  auto in_order(F f, const Pairs&... pairs) {
    if constexpr (has_position) {
      return f(pairs..., bind(g_.z, host_z_), bind(g_.position, position_));
    } else {
      return f(pairs..., bind(g_.z, host_z_));
    }
  }
  /// Calls `f` with the pairs of a choice, whose types say which of them are of device memory.
  template <class F>
  auto with_pairs(const Choice& c, F f) {
    const auto with_y = [&](const auto& x, const auto& w) {
      if (c[2] == host && c[3] == host) return f(x, w, bind(g_.y, host_y_), bind(g_.s, host_s_));
      if (c[2] == host) return f(x, w, bind(g_.y, host_y_), bind(g_.s, device_[c[3]].span()));
      if (c[3] == host) return f(x, w, bind(g_.y, device_[c[2]].span()), bind(g_.s, host_s_));
      return f(x, w, bind(g_.y, device_[c[2]].span()), bind(g_.s, device_[c[3]].span()));
    };
    const auto with_w = [&](const auto& x) {
      return c[1] == host ? with_y(x, bind(g_.w, host_w_)) : with_y(x, bind(g_.w, device_[c[1]].span()));
    };
    return c[0] == host ? with_w(bind(g_.x, host_x_)) : with_w(bind(g_.x, device_[c[0]].span()));
  }

  /// Gives all memory new contents, runs a round, and compares all of it with what must be there.
  template <class Run>
  void check(Choice c, std::int32_t position, const Run& run) {
    c = as_it_is(c);
    const bool is_refused = collides(c);
    for (Floats* const h : {&host_x_, &host_w_, &host_y_, &host_s_, &host_z_}) h->assign(n, fresh());
    std::vector<Floats> before;
    for (auto& d : device_) {
      d.fill(fresh());
      before.push_back(d.values());
    }
    const auto [hx, hw, hy, hs, hz] = std::tuple{host_x_, host_w_, host_y_, host_s_, host_z_};
    const Status status = run();
    CAPTURE(std::string(status.message()));
    REQUIRE(status.code() == (is_refused ? Errc::overlapping : Errc::ok));
    std::vector<Floats> after = before;
    Floats y = hy, s = hs, z = hz;
    if (!is_refused) {
      if (!is_held_) in_arena_ = hw;
      const float x = (c[0] == host ? hx : before[c[0]])[0];
      const float w = (c[1] != host ? before[c[1]] : in_arena_)[0];
      (c[2] == host ? y : after[c[2]]).assign(n, factor_ * (x + w));
      Floats& sum = c[3] == host ? s : after[c[3]];
      sum.assign(n, sum[0] + x);
      z.assign(n, factor_ * (x + w) + (has_position ? static_cast<float>(position) : 0.0F));
      last_w_ = c[1];
      ++rounds_;
    }
    REQUIRE(host_y_ == y);
    REQUIRE(host_s_ == s);
    REQUIRE(host_z_ == z);
    REQUIRE(host_x_ == hx);
    REQUIRE(host_w_ == hw);
    for (std::size_t i = 0; i < device_.size(); ++i) REQUIRE(device_[i].values() == after[i]);
    REQUIRE(session_.rounds() == rounds_);
  }
  [[nodiscard]] float fresh() { return static_cast<float>(below(1000)); }

  void run(const Choice& choice, std::size_t way) {
    check(choice, next_position(), [&] {
      return with_pairs(choice, [&](const auto& x, const auto& w, const auto& y, const auto& s) {
        switch (way) {
          case 0: return in_order([&](const auto&... pairs) { return session_.run_round(pairs...); }, s, y, w, x);
          case 1:
            return in_order(
                [&](const auto&... pairs) { return session_.begin_round(pairs...).launch().finish().status(); }, x, w,
                y, s);
          default: return in_order([&](const auto&... pairs) { return session_.run_round(pairs...); }, x, w, y, s);
        }
      });
    });
  }

  void hold_or_release() {
    if (rounds_ == 0) return;
    is_held_ = !is_held_;
    if (is_held_) held_to_ = last_w_;
    REQUIRE((is_held_ ? session_.hold(g_.w) : session_.release_hold(g_.w)).ok());
  }
  void set_factor() {
    factor_ = static_cast<float>(1 + below(5));
    REQUIRE(session_.set_scalar(g_.scale, 0, factor_).ok());
  }
  void move_arena() {
    auto& arena = arenas_[arena_ = 1 - arena_];
    REQUIRE(session_.move_arena({arena.span().data().template as<std::byte>(), 4096}).ok());
    if (is_held_ && held_to_ == host) is_held_ = false;
    last_w_ = host;  // nobody knows; what is held next is what the next round leaves
    // What was checked before is of another arena.
    for (auto& kept : kept_) REQUIRE(kept.run().code() == Errc::stale_memory);
    kept_.clear();
    // A round, so that there is something to freeze.
    run({host, host, host, host}, 2);
  }
  void keep_prebinding() {
    const Choice c = any_choice();
    auto kept = with_pairs(c, [&](const auto& x, const auto& w, const auto& y, const auto& s) {
      const auto bound = in_order([&](const auto&... pairs) { return session_.prebind(pairs...); }, x, w, y, s);
      REQUIRE(bound.status().code() == (collides(as_it_is(c)) ? Errc::overlapping : Errc::ok));
      return std::function<Status()>([this, bound] { return session_.run_round(bound); });
    });
    if (collides(as_it_is(c))) return;
    if (kept_.size() == 4) kept_.erase(kept_.begin());
    kept_.push_back({c, std::move(kept)});
  }
  void run_kept() {
    if (kept_.empty()) return;
    const Kept& kept = kept_[below(kept_.size())];
    check(kept.choice, next_position(), kept.run);
  }
  [[nodiscard]] Choice any_choice() {
    Choice c{host, host, host, host};
    if (below(3) == 0) return c;
    for (std::size_t& i : c) i = below(3) == 0 ? host : below(device_.size());
    return c;
  }
  /// What is held stays, whatever is bound to it.
  [[nodiscard]] Choice as_it_is(const Choice& c) const { return {c[0], is_held_ ? held_to_ : c[1], c[2], c[3]}; }
  /// A round that does not come to its end, and one after it, which may be the same again.
  void drop_or_fail() {
    const Choice c = any_choice(), next = any_choice();
    if (collides(as_it_is(c)) || collides(as_it_is(next))) return;
    const std::size_t end = below(3);
    bool is_lost = false;
    with_pairs(c, [&](const auto& x, const auto& w, const auto& y, const auto& s) {
      in_order(
          [&](const auto&... pairs) {
            if constexpr (requires { P::calls_left; }) {
              if (end != 0) return fail(pairs...);
            }
            is_lost = true;
            auto bound = session_.begin_round(pairs...);
            if (below(2) == 0) (void)std::move(bound).launch();
          },
          x, w, y, s);
    });
    // What inputs hold is anybody's guess until the next round.
    if (is_lost && !is_held_) REQUIRE(session_.hold(g_.w).code() == Errc::unbound_tensor);
    run(below(2) == 0 ? next : c, below(4));
  }
  template <class... Pairs>
  void fail(const Pairs&... pairs) {
    P::calls_left = 1 + below(6);
    const Status status = session_.run_round(pairs...);
    REQUIRE(status == (P::calls_left == 0 ? P::failure : Status{}));
    if (status.ok()) ++rounds_;
    P::calls_left = 0;
  }
  /// Rounds that are refused for what they bind.
  void be_refused() {
    const DeviceSpan<float> odd{DevicePtr<float>{device_[0].span().data().address() + 4}, n};
    const DeviceSpan<float> null{DevicePtr<float>{}, n}, small{device_[1].span().data(), n - 1};
    const auto refused = [&](DeviceSpan<float> x) {
      return in_order([&](const auto&... pairs) { return session_.run_round(pairs...); }, bind(g_.x, x),
                      bind(g_.w, device_[2].span()), bind(g_.y, device_[3].span()), bind(g_.s, device_[4].span()))
          .code();
    };
    REQUIRE(refused(odd) == Errc::misaligned);
    REQUIRE(refused(null) == Errc::null_memory);
    REQUIRE(refused(small) == Errc::wrong_size);
  }

  struct Kept {
    Choice choice;
    std::function<Status()> run;
  };

  std::mt19937 random_;
  Graph<has_position> g_;
  RoundSession<P, Policies> session_ = open<P, Policies>(g_.graph, busy_options<P>());
  std::vector<DeviceFloats<P>> device_;
  std::vector<DeviceFloats<P>> arenas_;
  std::size_t arena_ = 0;
  Choice choice_{host, host, host, host};
  Floats host_x_ = Floats(n), host_w_ = Floats(n), host_y_ = Floats(n), host_s_ = Floats(n), host_z_ = Floats(n);
  Floats in_arena_ = Floats(n);  ///< what w holds there
  std::int32_t position_ = 0;
  float factor_ = 3;
  bool is_held_ = false;
  std::size_t held_to_ = host;
  std::size_t last_w_ = host;
  std::uint64_t rounds_ = 0;
  std::vector<Kept> kept_;
};

template <class Platform, class Choice, bool with_position>
struct On {
  using P = Platform;
  static constexpr bool has_position = with_position;
  struct Policies : DefaultPolicies {
    using Refresh = Choice;
  };
};
using Default = DefaultPolicies::Refresh;

}  // namespace

TEST_CASE_TEMPLATE("Rounds in random order see the memory that they bind, whatever came before", T,
                   On<A2A3SimOn<Inline>, Default, false>, On<A2A3SimOn<Inline>, Default, true>,
                   On<A5SimOn<Inline>, update::Always<Mechanism::segment_copy>, false>,
                   On<Flaky<A2A3SimOn<Inline>>, update::Always<Mechanism::segment_copy>, true>,
                   On<Flaky<A5SimOn<Inline>>, update::Always<Mechanism::device_op>, false>,
                   On<A5OverStandIn, Default, false>, On<A2A3OverStandIn, Default, true>,
                   On<A2A3ThatComputes, update::Always<Mechanism::device_op>, true>,
                   On<Flaky<A5ThatComputes>, update::Always<Mechanism::device_op>, false>,
                   On<Flaky<A2A3ThatComputes>, update::Always<Mechanism::in_launch>, false>,
                   On<A5ThatComputes, update::Always<Mechanism::in_launch>, true>,
                   On<A5ThatComputes, update::ByCost<>, true>) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Rig<typename T::P, typename T::Policies, T::has_position> rig{seed};
    for (int i = 0; i < 400; ++i) rig.step();
  }
}
