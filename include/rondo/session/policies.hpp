// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/runtime/host_build_graph.hpp>
#include <rondo/types.hpp>
#include <rondo/update/strategies.hpp>

#include <cstddef>
#include <cstdio>

namespace rondo {

/// Watches nothing; takes no space and no instruction. An observer of your own has the same two members.
struct NoObserver {
  void round_begins(RoundIndex) noexcept {}
  void round_ends(RoundIndex, Status) noexcept {}
};

/// What a session may be told to do differently. Derive from it and override only what you mean to change:
///
///     struct MyPolicies : rondo::DefaultPolicies {
///       using Update = rondo::update::InitOnce;
///     };
struct DefaultPolicies {
  /// Who builds the graph and finds its edges.
  using Runtime = runtime::HostBuildGraph;
  /// What a round refreshes of the args table; satisfies UpdateStrategy.
  using Update = update::NoUpdate;
  /// Who is told of rounds; default-constructible.
  using Observe = NoObserver;
  /// How many rounds may be under way at once.
  static constexpr std::size_t rounds_in_flight = 1;

  /// Where a session's destructor reports what nobody else can be told: a failure while closing. Must not throw.
  static void report_unclosed(Status, const char* text) noexcept { std::fprintf(stderr, "rondo: %s\n", text); }
};

namespace detail {

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
