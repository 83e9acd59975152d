// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/arch/costs.hpp>
#include <rondo/error.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/types.hpp>

#include <concepts>
#include <cstdint>

/// The requirements of Sim on an engine. An engine runs the tasks of Sim's programs.
namespace rondo::platform::sim {

// --- Required -------------------------------------------------------------------------------------------------------

/// Opening: a default-constructible `Options`, and a constructor from `Options` and the chip.
template <class E>
concept OpensForAChip = std::default_initializable<typename E::Options> &&
                        std::constructible_from<E, const typename E::Options&, const arch::Chip&>;

/// Waiting, stopping and staying awake, as HasWait, HasStopping, HasStayingAwake and HasFailureText of a platform.
template <class E>
concept RunsRounds = requires(E& engine, const E& known) {
  { engine.wait() } noexcept -> std::same_as<Status>;
  { engine.request_stop() } noexcept -> std::same_as<void>;
  { engine.keep_awake(true) } noexcept -> std::same_as<void>;
  { known.failure_text() } noexcept -> std::same_as<const Error::Text&>;
};

/// An engine has the two parts above, and `load`, `launch` and `unload` as HasLaunch describes them, which Sim checks
/// once it knows the graph. `static constexpr memory::Concurrency concurrency` is the order in which its tasks may run.
template <class E>
concept Engine = OpensForAChip<E> && RunsRounds<E>;

// --- Optional; costs no instruction where it is absent --------------------------------------------------------------

/// `copied_in` and `copied_out` are called after each copy; `idle` is called when all requested work is done: at the
/// end of a round, or of an upload or download.
template <class E>
concept HearsOfCopies = requires(E& engine, Bytes bytes) {
  engine.copied_in(bytes);
  engine.copied_out(bytes);
  engine.idle();
};

/// An engine whose programs know where the arena is: `void move_arena(program, from, to) noexcept`, between rounds.
template <class E>
concept FollowsTheArena = requires { requires E::follows_the_arena; };

/// An engine that uses the graph for more than running it, so the graph must not be built during the round, and rounds
/// run one at a time: `static constexpr bool looks_at_graphs = true;`
template <class E>
concept LooksAtGraphs = requires { requires E::looks_at_graphs; };

/// An engine that runs the loops of a graph, see graph/loops.hpp: `static constexpr bool runs_loops = true;`
template <class E>
concept RunsLoops = requires { requires E::runs_loops; };

/// An engine that gives access to its Halt, for runtimes that run the rounds: `const Halt& halt() const noexcept`.
template <class E>
concept HasHalt = requires(const E& engine) {
  { engine.halt() } noexcept -> std::same_as<const Halt&>;
};

/// An engine that records when tasks ran: `recorder()`, which has `tracer()`, `launches()` and `done()`.
template <class E>
concept HasRecorder = requires(E& engine) { engine.recorder().tracer(); };

/// An engine that reports how many threads its last round used: `std::size_t threads_used() const noexcept`; 0 before
/// the first round.
template <class E>
concept CountsThreads = requires(const E& engine) { engine.threads_used(); };

/// An engine that may run rounds of several programs at the same time: `bool overlaps_rounds() const noexcept`, and
/// `overlap(programs)`, as in Pool.
template <class E>
concept OverlapsRounds = requires(const E& engine) {
  { engine.overlaps_rounds() } -> std::same_as<bool>;
};

/// An engine whose programs learn; `learned` and `restore` as HasLearning describes them.
template <class E>
concept Learns = KeepsLearning<E, typename E::Program>;

/// An engine that predicts how long the last round's tasks take on the chip: `double last_round_ns() const noexcept`.
template <class E>
concept PredictsTime = requires(const E& engine) {
  { engine.last_round_ns() } -> std::same_as<double>;
};

// --- Engines over another one ---------------------------------------------------------------------------------------

/// The common part of engines that run their programs on `Inner`. Such a program has the one of Inner as `inner`.
template <class Inner>
class EngineOver {
 public:
  template <class Program>
  Status unload(Program& program) noexcept {
    return inner_.unload(program.inner);
  }
  [[nodiscard]] const Error::Text& failure_text() const noexcept { return inner_.failure_text(); }
  void request_stop() noexcept { inner_.request_stop(); }
  [[nodiscard]] const Halt& halt() const noexcept
    requires HasHalt<Inner>
  {
    return inner_.halt();
  }
  void keep_awake(bool awake) noexcept { inner_.keep_awake(awake); }
  [[nodiscard]] Inner& inner() noexcept { return inner_; }

  static constexpr bool follows_the_arena = FollowsTheArena<Inner>;
  template <class Program>
  void move_arena(Program& program, DevicePtr<std::byte> from, DevicePtr<std::byte> to) noexcept {
    inner_.move_arena(program.inner, from, to);
  }

  void copied_in(Bytes bytes) noexcept { inner_.copied_in(bytes); }
  void copied_out(Bytes bytes) noexcept { inner_.copied_out(bytes); }
  void idle() noexcept  // the concept requires all three
    requires HearsOfCopies<Inner>
  {
    inner_.idle();
  }

 protected:
  EngineOver(const typename Inner::Options& options, const arch::Chip& chip) : inner_{options, chip} {}

  Inner inner_;
};

}  // namespace rondo::platform::sim
