// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

/// The optional parts of clocks, observers, engines and sessions that are used for observing.
namespace rondo::observe {

/// A clock whose readings are not nanoseconds and which provides the conversion.
template <class Clock>
concept HasTimebase = requires {
  { Clock::timebase().ns_per_tick } -> std::convertible_to<double>;
};

/// A clock whose timebase() is more accurate if anchor() is called early.
template <class Clock>
concept HasAnchor = requires { Clock::anchor(); };

/// An observer that provides its counters as plain numbers.
template <class Observer>
concept CountsRounds = requires(Observer& observer) { observer.snapshot(); };

/// An observer or a recorder that any thread may switch on or off.
template <class T>
concept Switchable = requires(T& t, bool on) { t.record(on); };

/// An observer that keeps the spans of rounds and their phases, as TraceWith does.
template <class Observer>
concept KeepsRounds = requires(const Observer& observer) {
  typename Observer::clock;
  observer.spans();
  { Observer::round } -> std::convertible_to<std::uint32_t>;
};

/// An engine that wraps another engine.
template <class Engine>
concept WrapsEngine = requires(Engine& engine) { engine.inner(); };

/// An engine that records when and on which thread each task ran.
template <class Engine>
concept RecordsTasks = requires(Engine& engine) { engine.recorder().threads(); };

/// An engine that predicts how a round runs on the chip.
template <class Engine>
concept PredictsRounds = requires(Engine& engine) { engine.prediction(); };

/// An engine that counts how often its threads went to sleep.
template <class Engine>
concept CountsParks = requires(Engine& engine) {
  { engine.parks() } -> std::convertible_to<std::uint64_t>;
};

/// An engine that can restore the inputs of the last round.
template <class Engine>
concept RestoresRounds = requires(Engine& engine) {
  { engine.restore_round() } -> std::convertible_to<bool>;
};

/// Options of an engine that set its number of threads; 0 leaves the choice to the engine.
template <class Options>
concept HasThreadsOption = requires(const Options& options) {
  { options.threads } -> std::convertible_to<std::uint32_t>;
};

/// A logger such as spdlog's: `info`, `warn` and `error` each accept a text.
template <class L>
concept Logger = requires(L& logger, std::string_view line) {
  logger.info(line);
  logger.warn(line);
  logger.error(line);
};

/// A session whose platform gives access to the engine that runs its tasks.
template <class Session>
concept ShowsEngine = requires(Session& session) { session.platform().engine(); };

/// A session with one graph, as opposed to one for each shape.
template <class Session>
concept HasOneGraph = requires(Session& session) { session.graph().view(); };

/// A session of many shapes that counts the results of its look-ups.
template <class Session>
concept CountsLookups = requires(Session& session) { session.lookups().misses; };

namespace detail {

template <class Engine, class Use>
void use_engine(Engine& engine, Use& use) {
  if constexpr (std::invocable<Use&, Engine&>) {
    use(engine);
  } else if constexpr (WrapsEngine<Engine>) {
    use_engine(engine.inner(), use);
  }
}

/// Calls `use` with the outermost of the session's engines that it accepts, if there is one.
template <class Session, class Use>
void with_engine(Session& session, Use use) {
  if constexpr (ShowsEngine<Session>) use_engine(session.platform().engine(), use);
}

}  // namespace detail
}  // namespace rondo::observe
