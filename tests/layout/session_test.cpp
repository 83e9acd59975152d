// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/graph/static_graph.hpp>
#include <rondo/platform/null.hpp>
#include <rondo/platform/select.hpp>
#include <rondo/platform/sim/pool.hpp>
#include <rondo/session/open.hpp>
#include <rondo/session/open_static.hpp>

#include <array>
#include <cstddef>
#include <type_traits>

// Policies without state take no space in a session, and a session stays where it is.

namespace {

using namespace rondo;

struct EmptyObserver {
  void round_begins(RoundIndex) noexcept {}
  void round_ends(RoundIndex, Status) noexcept {}
};
struct EmptyStrategy {
  static constexpr UpdateLevel highest = UpdateLevel::none;
  UpdateLevel decide(Changes) noexcept { return highest; }
};
/// Policies with `Size` bytes of state.
template <std::size_t Size>
struct Observer : EmptyObserver {
  unsigned char state[Size] = {};
};
template <std::size_t Size>
struct Strategy : EmptyStrategy {
  unsigned char state[Size] = {};
};

template <class O, class U = update::NoUpdate>
struct Policies : DefaultPolicies {
  using Observe = O;
  using Update = U;
};
template <class O, class U = update::NoUpdate, class P = NullPlatform>
constexpr std::size_t size_with = sizeof(RoundSession<P, Policies<O, U>>);

constexpr std::size_t bare = sizeof(RoundSession<NullPlatform>);
/// With a strategy that is asked each round; the default one need not be, and does with less.
constexpr std::size_t asked = size_with<NoObserver>;
static_assert(bare < asked);

// Any empty policy does as well as the default one, which does as well as none.
static_assert(size_with<EmptyObserver, update::Auto> == bare);
static_assert(size_with<EmptyObserver> == asked);
static_assert(size_with<NoObserver, EmptyStrategy> == asked);
static_assert(size_with<EmptyObserver, EmptyStrategy> == asked);

// A policy with state costs its state: eight bytes more of it make the session eight bytes larger, whichever it is.
static_assert(size_with<Observer<16>> == size_with<Observer<8>> + 8);
static_assert(size_with<NoObserver, Strategy<16>> == size_with<NoObserver, Strategy<8>> + 8);
static_assert(size_with<Observer<8>> > asked && size_with<NoObserver, Strategy<8>> > asked);
static_assert(size_with<Observer<8>> <= asked + 8 && size_with<NoObserver, Strategy<8>> <= asked + 8);
static_assert(size_with<EmptyObserver, update::Auto, A2A3Sim> == sizeof(RoundSession<A2A3Sim>));

// The default observer is empty, and so is a platform that does nothing.
static_assert(std::is_empty_v<NoObserver> && std::is_empty_v<NullPlatform>);
static_assert(std::is_empty_v<update::NoUpdate> && std::is_empty_v<update::InitOnce>);

// What the chip is, is data: sessions on both are alike.
static_assert(sizeof(RoundSession<A2A3Sim>) == sizeof(RoundSession<A5Sim>));

// Files of one program may differ in whether sessions check memory by default.
struct NotChecked : DefaultPolicies {
  using Check = NoCheck;
};
template <class P>
constexpr bool is_laid_out_alike = sizeof(RoundSession<P, NotChecked>) == sizeof(RoundSession<P, CheckedPolicies>);
static_assert(is_laid_out_alike<A2A3Sim> && is_laid_out_alike<A2A3SimOn<Pool>>);
#ifdef RONDO_TEST_IS_DEBUG
static_assert(std::is_same_v<DefaultPolicies::Check, CheckMemory>);
#else
static_assert(std::is_same_v<DefaultPolicies::Check, NoCheck>);
#endif

// A graph that the compiler knows is not stored: neither it, nor its layout, nor its ports but for the base.
constexpr auto build = [] {
  TaskGraph graph;
  (void)graph.input<float>("x", {8});
  (void)graph.inout<float>("y", {8});
  return graph;
};
using Static = graph::StaticGraphRef<static_graph<build>>;
static_assert(std::is_empty_v<Static>);
static_assert(std::is_empty_v<memory::Layout<Static, arch::A2A3>>);
static_assert(sizeof(RoundSession<NullPlatform, DefaultPolicies, Static>) + sizeof(FrozenGraph) <= bare);

// Its buffers have stable addresses: no copy, no move.
template <class S>
constexpr bool stays = !std::is_copy_constructible_v<S> && !std::is_move_constructible_v<S> &&
                       !std::is_copy_assignable_v<S> && !std::is_move_assignable_v<S>;
static_assert(stays<RoundSession<NullPlatform>>);
static_assert(stays<RoundSession<A2A3SimOn<Pool>>>);
static_assert(stays<RoundSession<A2A3Sim, DefaultPolicies, Static>>);

// A round is moved from step to step.
using Bound = Round<RoundSession<NullPlatform>, std::array<detail::Binding, 2>, Stage::bound>;
static_assert(std::is_nothrow_move_constructible_v<Bound> && !std::is_copy_constructible_v<Bound>);

}  // namespace
