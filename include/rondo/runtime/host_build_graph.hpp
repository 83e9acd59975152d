// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/concepts.hpp>

#include <utility>

namespace rondo::runtime {

/// The host builds the graph, its edges are known before the first round; each round replays it.
struct HostBuildGraph {
  /// One graph loaded on one platform: the platform's form of it.
  template <class P, class Graph>
  class Runner {
   public:
    /// Loads the program; kernels find their arguments where `args` says. @throws Error what P::load throws
    /// (`frozen`, not `graph`: users like to name a graph of their own so at namespace scope, and -Wshadow sees it.)
    Runner(P& platform, const Graph& frozen, args::ArgsTable& args)
        : platform_{platform}, program_{platform.load(frozen, args)} {}
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    [[gnu::always_inline]] Status launch() noexcept { return platform_.launch(program_); }
    /// All that the session placed at `from` stands at `to` now; for programs that hold addresses of their own.
    void move_arena([[maybe_unused]] DevicePtr<std::byte> from, [[maybe_unused]] DevicePtr<std::byte> to) noexcept {
      if constexpr (requires { platform_.move_arena(program_, from, to); }) platform_.move_arena(program_, from, to);
    }
    Status unload() noexcept { return platform_.unload(program_); }

   private:
    static_assert(
        HasLaunch<P, Graph, args::ArgsTable>,
        "rondo: the platform cannot run a graph; write `Program load(const Graph&, args::ArgsTable&)`, `Status "
        "launch(Program&) noexcept` and `Status unload(Program&) noexcept`");
    P& platform_;
    decltype(std::declval<P&>().load(std::declval<const Graph&>(), std::declval<args::ArgsTable&>())) program_;
  };
};

}  // namespace rondo::runtime
