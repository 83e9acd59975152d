// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/graph/call_sessions.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/runtime/concept.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rondo::runtime {

/// The host builds the graph before the first round; each round replays it.
struct HostBuildGraph {
  static constexpr bool is_orchestrated = false;

  template <class P>
  using Options = typename P::Options;

  /// One graph, loaded on one platform.
  template <class P, class Graph>
  class Runner {
    static_assert(
        HasLaunch<P, Graph, args::ArgsTable>,
        "rondo: the platform cannot run a graph; write `Program load(const Graph&, args::ArgsTable&)`, `Status "
        "launch(Program&) noexcept` and `Status unload(Program&) noexcept`");
    using Program = decltype(std::declval<P&>().load(std::declval<const Graph&>(), std::declval<args::ArgsTable&>()));
    static_assert(!HasLearning<P> || KeepsLearning<P, Program>,
                  "rondo: the platform declares Capability::learning; write `std::vector<std::byte> learned(const "
                  "Program&)` and `void restore(Program&, std::span<const std::byte>)`");
    static_assert(!HasArenaMove<P> || MovesArena<P, Program>,
                  "rondo: the platform declares Capability::arena_move; write `void move_arena(Program&, "
                  "DevicePtr<std::byte> from, DevicePtr<std::byte> to) noexcept;`");

   public:
    static constexpr bool has_tensor_places = false;

    /// Loads the program; kernels read their arguments at the addresses in `args`. @throws Error as P::load does
    /// (The parameter is not called `graph`, because users often have a global of that name and -Wshadow would warn.)
    Runner(P& platform, const Graph& frozen, args::ArgsTable& args, const Options<P>& options)
        : platform_{platform},
          calls_{frozen.view(), {P::name, HasArgsInHostMemory<P>, device_of(options)}},
          program_{platform.load(frozen, args)} {}
    Runner(Runner& first, const Graph& frozen, args::ArgsTable& args)
        : platform_{first.platform_},
          calls_{frozen.view(), first.calls_.platform()},
          program_{platform_.load(frozen, args)} {}
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    [[gnu::always_inline]] Status launch() noexcept { return platform_.launch(program_); }
    [[gnu::always_inline]] static Status settle() noexcept { return {}; }
    [[gnu::always_inline]] static Status outcome(Status waited) noexcept { return waited; }
    static void place_tensor(std::size_t, std::uint64_t) noexcept {}
    void move_arena([[maybe_unused]] DevicePtr<std::byte> from, [[maybe_unused]] DevicePtr<std::byte> to) noexcept {
      if constexpr (HasArenaMove<P>) platform_.move_arena(program_, from, to);
    }
    [[nodiscard]] Program& program() noexcept { return program_; }
    [[nodiscard]] std::vector<std::byte> learned() const {
      if constexpr (HasLearning<P>) return platform_.learned(program_);
      return {};
    }
    void restore([[maybe_unused]] std::span<const std::byte> bytes) {
      if constexpr (HasLearning<P>) platform_.restore(program_, bytes);
    }
    [[nodiscard]] static const Error::Text* failure_text() noexcept { return nullptr; }
    Status unload() noexcept {
      const Status unloaded = platform_.unload(program_);
      calls_.close();
      return unloaded;
    }

   private:
    [[nodiscard]] static std::int64_t device_of([[maybe_unused]] const Options<P>& options) noexcept {
      if constexpr (requires { std::int64_t{options.device}; }) return options.device;
      return -1;
    }

    P& platform_;
    graph::CallSessions calls_;  ///< notified before the program is loaded, which may capture the calls
    Program program_;
  };
};

}  // namespace rondo::runtime
