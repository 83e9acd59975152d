// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/concepts.hpp>

#include <cstdint>
#include <span>

namespace rondo::runtime {

/// The host builds the graph, its edges are known before the first round; each round replays it.
struct HostBuildGraph {
  /// One graph loaded on one platform: its args table and the platform's form of it.
  template <class P, class Graph>
  class Runner {
   public:
    /// Writes the args table and loads the program. `offsets`: of each tensor from `base`, in bytes.
    /// @throws Error what P::load throws
    // Not called `graph`: that is what users like to call a graph of their own at namespace scope, and -Wshadow sees
    // it.
    Runner(P& platform, const Graph& frozen, std::span<const std::uint64_t> offsets, DevicePtr<std::byte> base)
        : platform_{platform},
          graph_{frozen},
          args_{written(frozen, offsets, base)},
          program_{platform.load(frozen, args_)} {}
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    Status launch() noexcept { return platform_.launch(program_); }

    /// Rewrites the args table, as far as `level` asks.
    void refresh(UpdateLevel level, std::span<const std::uint64_t> offsets, DevicePtr<std::byte> base) noexcept {
      if (level != UpdateLevel::none) args_.write(graph_.view(), offsets, base.address());
    }

    Status unload() noexcept { return platform_.unload(program_); }

   private:
    static args::ArgsTable written(const Graph& graph, std::span<const std::uint64_t> offsets,
                                   DevicePtr<std::byte> base) {
      args::ArgsTable table{graph.view()};
      table.write(graph.view(), offsets, base.address());
      return table;
    }

    static_assert(
        HasLaunch<P, Graph, args::ArgsTable>,
        "rondo: the platform cannot run a graph; write `Program load(const Graph&, args::ArgsTable&)`, `Status "
        "launch(Program&) noexcept` and `Status unload(Program&) noexcept`");
    P& platform_;
    const Graph& graph_;
    args::ArgsTable args_;
    decltype(std::declval<P&>().load(std::declval<const Graph&>(), std::declval<args::ArgsTable&>())) program_;
  };
};

}  // namespace rondo::runtime
