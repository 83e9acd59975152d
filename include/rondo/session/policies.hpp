// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/system_slot.hpp>
#include <rondo/error.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/runtime/host_build_graph.hpp>
#include <rondo/types.hpp>
#include <rondo/update/cost_model.hpp>
#include <rondo/update/strategies.hpp>

#include <cstddef>

namespace rondo {

namespace detail {
extern "C" int dprintf(int fd, const char* format, ...);  // POSIX's own; <cstdio> would cost every user 800 lines
}

/// What the host does in a round, in order; `outside`: it went back to its caller.
enum class Phase : std::uint8_t { outside, bind, copy_in, refresh, launch, copy_out, wait };

/// Watches nothing; takes no space and no instruction. An observer of your own has the same two members, and may have,
/// each void and noexcept: `enters(Phase)`, also when the round that asks is refused after `bind`; `copies_in(Bytes)`
/// and `copies_out(Bytes)` before each copy; `refresh_begins()`, `refreshed(const update::Refreshed&)`; of rounds in
/// flight `delivers(RoundIndex)`, before the host waits for that one.
struct NoObserver {
  /// A round was accepted.
  void round_begins(RoundIndex) noexcept {}
  /// It ended so.
  void round_ends(RoundIndex, Status) noexcept {}
};

/// The session writes no values by itself; takes no space and no instruction. To have some, choose
/// launch::RoundValues<>, launch/round_values.hpp.
struct NoValues {
  /// Are there such values?
  static constexpr bool any = false;
  /// Holds none.
  struct Store {
    constexpr Store() noexcept = default;
    template <class... T>
    constexpr explicit Store(const T&...) noexcept {}
  };
};

/// Rounds are run as they are. For debugging there is CheckRounds, in platform/sim/checked.hpp.
struct NoCheck {
  /// As it is.
  template <class P>
  using Platform = P;
};

/// What a session may be told to do differently. Derive from it and override only what you mean to change:
///
///     struct MyPolicies : rondo::DefaultPolicies {
///       using Update = rondo::update::ModelIo;
///     };
struct DefaultPolicies {
  /// Who builds the graph and finds its edges.
  using Runtime = runtime::HostBuildGraph;
  /// What a round refreshes of the args table; satisfies UpdateStrategy.
  using Update = update::Auto;
  /// How what is refreshed reaches the device; satisfies update::MechanismChoice.
  using Refresh = update::ByCost<>;
  /// Who plans the arena; satisfies memory::Planner. See memory/planners.hpp.
  using Plan = memory::Greedy;
  /// Whether open() has rounds held against what their tasks declare: NoCheck, or CheckRounds.
  using Check = NoCheck;
  /// Who is told of rounds; default-constructible.
  using Observe = NoObserver;
  /// What it writes into the args table by itself.
  using Values = NoValues;
  /// How many rounds may be under way at once.
  static constexpr std::size_t rounds_in_flight = 1;

  /// What stands in args slots that neither graph nor session knows: hidden inputs, tiling contexts, system addresses.
  /// Asked once for each, when the session is opened. Throws Error for what it does not know.
  static std::uint64_t system_address(args::SystemSlot slot) { return args::no_system_provider(slot); }

  // `static void log(LogEvent, const char* text) noexcept`, where there is one, hears the session's log; see log.hpp.
  /// Where a session's destructor reports what nobody else can be told: a failure while closing. Must not throw.
  static void report_unclosed(Status, const char* text) noexcept { detail::dprintf(2, "rondo: %s\n", text); }
};

/// The platform of the sessions that open<P, Policies>() opens: P, or what Policies::Check makes of it.
template <class P, class Policies>
using CheckedPlatform = typename Policies::Check::template Platform<P>;

namespace detail {

/// What a session knows of the order of its tasks: nothing where an orchestration adds them.
template <class P, class Graph>
inline constexpr memory::Concurrency concurrency = memory::concurrency_of<P>();
template <class P, class Graph>
requires requires { Graph::is_orchestrated; }
inline constexpr memory::Concurrency concurrency<P, Graph> = memory::Concurrency::unordered;

/// What a session opens for a platform: the platform, unless the runtime puts something around it.
template <class Runtime, class P>
struct DeviceOf {
  using type = P;
};
template <class Runtime, class P>
requires requires { typename Runtime::template Device<P>; }
struct DeviceOf<Runtime, P> {
  using type = typename Runtime::template Device<P>;
};

}  // namespace detail

}  // namespace rondo
