// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/system_slot.hpp>
#include <rondo/error.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/launch/launch_cache.hpp>
#include <rondo/memory/layout.hpp>
#include <rondo/runtime/host_build_graph.hpp>
#include <rondo/session/observer.hpp>
#include <rondo/types.hpp>
#include <rondo/update/cost_model.hpp>
#include <rondo/update/strategies.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <type_traits>
#include <vector>

namespace rondo {

/// Sessions write no values; this takes no space and no instructions. For values, see launch::RoundValues<> in
/// launch/round_values.hpp.
struct NoValues {
  /// Whether the session writes values.
  static constexpr bool any = false;
  /// The values of a session: none.
  struct Store {
    constexpr Store() noexcept = default;
    constexpr explicit Store(const graph::GraphView&) noexcept {}
  };
  /// @throws Error unsupported for a graph that has a value
  NoValues(const graph::GraphView& graph, const std::vector<args::Source>&, Store&) {
    for (const graph::TensorRecord& tensor : graph.tensors) {
      if (tensor.direction != Direction::session_value) continue;
      throw Error(Errc::unsupported,
                  Error::Text{"value '", graph.name(tensor.name),
                              "' is for the session to write, but the policies of the session do not store "
                              "values; choose `using Values = launch::RoundValues<>`"});
    }
  }
};

namespace detail {

/// What all instances of a session share.
template <class Values>
struct SharedState {
  explicit SharedState(const graph::GraphView& view) : values{view} {}

  [[no_unique_address]] typename Values::Store values;
  /// The bytes that were bound if the last refusal was wrong_size, or the memory::Staleness if it was stale_memory.
  std::uint64_t refusal_detail = 0;
  std::uint32_t most_in_flight = 64;  ///< the maximum number of rounds in flight
  std::uint32_t limit_in_flight = 1;  ///< the same, or 1 while the latest round must be delivered before the next
};

}  // namespace detail

/// The kinds of lines in a session's log: something begins, ends or deviates from what was requested. Rounds are not
/// logged, except for a failure that poisons the session.
enum class LogEvent : std::uint8_t {
  opened,    ///< on which platform, with how many tasks and tensors
  planned,   ///< by which planner; bytes of the arena and of the args table
  missing,   ///< something that the platform cannot do, and what is used instead
  fallback,  ///< the platform does something other than requested
  poisoned,  ///< by which failure
  closed,    ///< after how many rounds
};

[[nodiscard]] constexpr const char* to_string(LogEvent event) noexcept {
  constexpr const char* names[] = {"opened", "planned", "missing", "fallback", "poisoned", "closed"};
  return names[static_cast<std::size_t>(event)];
}

/// Sessions do not log; this takes no space and no instructions.
struct NoLog {};

/// Runs rounds without checks.
struct NoCheck {
  /// The platform on which sessions run: P itself.
  template <class P>
  using Platform = P;
};

/// Refuses rounds, with stale_memory, that would use memory that was released, from which the arena has moved, or which
/// belongs to another session's arena; see docs/addresses.md. On platforms that declare Capability::memory_registry; on
/// others, rounds run without checks. Cost: per binding, a lock and a search. To check tasks, too, use CheckRounds of
/// platform/sim/checked.hpp.
struct CheckMemory : NoCheck {
  /// Whether sessions check the memory that rounds use.
  static constexpr bool checks_memory = true;
};

/// Does not read the device's clock.
struct NoTime {
  /// The platform on which sessions run: P itself.
  template <class P>
  using Platform = P;
};

namespace detail {

/// A platform that measures its rounds: P itself, or the one that P names for this purpose.
template <class P>
struct TimedPlatform {
  static_assert(
      requires { typename P::Timed; },
      "rondo: Policies::Time is DeviceTime, and the platform cannot tell how long a round takes; declare "
      "Capability::round_time, name as `Timed` a platform that does, or leave out DeviceTime");
  using type = typename P::Timed;
};
template <HasRoundTime P>
struct TimedPlatform<P> {
  using type = P;
};

}  // namespace detail

/// Measures the time that the tasks of the last round took on the device; see last_round_ns(). The platform determines
/// the cost; on an NPU, two events and a query per round.
struct DeviceTime {
  /// The platform that reads the device's clock.
  template <class P>
  using Platform = typename detail::TimedPlatform<P>::type;
};

/// Policies: what a session does, and how to change it. Derive from this and override only what you mean to change:
///
///     struct MyPolicies : rondo::DefaultPolicies {
///       using Update = rondo::update::ModelIo;
///     };
struct DefaultPolicies {
  /// The runtime, which builds the graph and finds its edges.
  using Runtime = runtime::HostBuildGraph;
  /// Which part of the args table a round refreshes; satisfies UpdateStrategy.
  using Update = update::Auto;
  /// How refreshed data reaches the device; satisfies update::MechanismChoice.
  using Refresh = update::ByCost<>;
  /// The planner of the arena; satisfies memory::Planner. See memory/planners.hpp.
  using Plan = memory::DefaultPlanner;
  /// Whether sessions check the memory that rounds use, and what their tasks do: NoCheck, CheckMemory, or CheckRounds.
  /// The default is CheckMemory where RONDO_CHECK_MEMORY is defined, as CMake does in Debug.
#ifdef RONDO_CHECK_MEMORY
  using Check = CheckMemory;
#else
  using Check = NoCheck;
#endif
  /// Whether the session measures the time of rounds on the device: NoTime, or DeviceTime.
  using Time = NoTime;
  /// The observer of rounds; default-constructible.
  using Observe = NoObserver;
  /// The values that the session itself writes into the args table.
  using Values = NoValues;
  /// Whether a ShapedSession counts its lookups of shapes: launch::NoCounts, or launch::Counts.
  using Lookups = launch::NoCounts;

  /// The value of args slots that neither graph nor session knows: hidden inputs, tiling contexts, system addresses.
  /// Called once for each when the session is opened. Throws Error for a slot that it does not know.
  static std::uint64_t system_address(args::SystemSlot slot) { return args::no_system_provider(slot); }

  /// The sink of the session's log; see log.hpp. A function `static void log(LogEvent, const char* text) noexcept`, or
  /// a callable constant.
  static constexpr NoLog log{};
  /// Called by a session's destructor to report that closing failed. Must not throw.
  static void report_unclosed(Status, const char* text) noexcept { std::fprintf(stderr, "rondo: %s\n", text); }
};

/// DefaultPolicies with CheckMemory, for debugging.
struct CheckedPolicies : DefaultPolicies {
  /// Rounds check the memory that they use.
  using Check = CheckMemory;
};

namespace detail {

/// Notifies an observer of the end of a round, and of its time on the device if the policies request it.
template <class Policies, class O, class P>
[[gnu::always_inline]] inline void notify_round_end(O& observer, RoundIndex round, Status status,
                                                    [[maybe_unused]] const P& platform) noexcept {
  observer.round_ends(round, status);
  if constexpr (HearsDeviceTimes<O> && std::is_same_v<typename Policies::Time, DeviceTime>) {
    if (status.ok()) observer.device_time(round, platform.last_round_ns());
  }
}

template <template <class> class>
struct TakesPlatform;

template <class Policies>
inline constexpr bool has_log = !std::is_same_v<std::remove_cvref_t<decltype(Policies::log)>, NoLog>;

}  // namespace detail

/// Explains, part by part, what is wrong with policies.
template <class Policies>
consteval bool check_policies() {
  static_assert(std::is_base_of_v<DefaultPolicies, Policies>,
                "rondo: policies override defaults; derive them from rondo::DefaultPolicies");
  static_assert(check_update_strategy<typename Policies::Update>());
  static_assert(update::MechanismChoice<typename Policies::Refresh>,
                "rondo: Policies::Refresh chooses no refresh mechanism; name update::ByCost<> or update::Always<...>");
  static_assert(check_observer<typename Policies::Observe>());
  static_assert(!Policies::Values::any || Policies::Update::highest >= UpdateLevel::host_input,
                "rondo: the session's update strategy never writes values; choose update::Auto or HostInput");
  static_assert(std::is_same_v<typename Policies::Time, NoTime> || std::is_same_v<typename Policies::Time, DeviceTime>,
                "rondo: Policies::Time must be rondo::NoTime or rondo::DeviceTime");
  static_assert(
      requires { typename detail::TakesPlatform<Policies::Check::template Platform>; },
      "rondo: Policies::Check must be rondo::NoCheck, rondo::CheckMemory or rondo::CheckRounds");
  static_assert(std::is_same_v<typename Policies::Lookups, launch::NoCounts> ||
                    std::is_same_v<typename Policies::Lookups, launch::Counts>,
                "rondo: Policies::Lookups must be launch::NoCounts or launch::Counts");
  static_assert(
      requires(args::SystemSlot slot) {
        { Policies::system_address(slot) } -> std::same_as<std::uint64_t>;
      },
      "rondo: Policies::system_address has another type; write `static std::uint64_t "
      "system_address(rondo::args::SystemSlot);`");
  static_assert(
      requires(Status status, const char* text) {
        { Policies::report_unclosed(status, text) } noexcept;
      },
      "rondo: Policies::report_unclosed has another type, or may throw; write `static void "
      "report_unclosed(rondo::Status, const char*) noexcept;`");
  static_assert(
      !detail::has_log<Policies> ||
          requires(LogEvent event, const char* text) {
            { Policies::log(event, text) } noexcept;
          },
      "rondo: Policies::log has another type, or may throw; write `static void log(rondo::LogEvent, const char*) "
      "noexcept;`");
  return true;
}

namespace detail {

template <class P, class Policies>
struct SessionPlatform {
  static_assert(check_policies<Policies>());
  using type = typename Policies::Check::template Platform<typename Policies::Time::template Platform<P>>;
};

}  // namespace detail

/// The platform of the sessions that open<P, Policies>() opens: P, as adapted by Policies::Time and Policies::Check.
template <class P, class Policies>
using CheckedPlatform = typename detail::SessionPlatform<P, Policies>::type;

namespace detail {

/// Whether sessions on P check the memory that their rounds use.
template <class P, class Policies>
inline constexpr bool checks_memory = requires { requires Policies::Check::checks_memory && HasMemoryRegistry<P>; };

template <class Graph>
inline constexpr bool is_orchestrated = requires { Graph::is_orchestrated; };

/// The known order of a session's tasks: unordered if an orchestration adds them.
template <class P, class Graph>
inline constexpr memory::Concurrency concurrency = memory::concurrency_of<P>();
template <class P, class Graph>
  requires(is_orchestrated<Graph>)
inline constexpr memory::Concurrency concurrency<P, Graph> = memory::Concurrency::unordered;

}  // namespace detail

}  // namespace rondo
