// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/platform/concept.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo::platform::sim {

/// The part of a queue that lets rounds overlap. Empty for an engine that cannot overlap rounds.
template <class Sim>
struct OverlapSwitch {};

/// The switch for an engine that can overlap rounds. Rounds run one after the other until every slot has had one and
/// the tasks' costs are known. Then the calling thread requests the change, and the thread that runs rounds makes it
/// or declines.
template <HasOverlappingRounds Sim>
class OverlapSwitch<Sim> {
  using Engine = std::remove_cvref_t<decltype(std::declval<Sim&>().engine())>;
  using Program = typename Engine::Program;
  using Replay = std::remove_pointer_t<decltype(std::declval<Engine&>().overlap({}))>;

 public:
  // Called by the calling thread.
  /// Allows rounds to overlap, once each of the slots has had a round and the tasks' costs are known.
  void allow(std::size_t slots) {
    slots_.resize(slots);
    state_.store(State::expected, std::memory_order_relaxed);
  }
  [[gnu::always_inline]] void note(std::uint32_t slot, Program& program) noexcept {
    if (state_.load(std::memory_order_relaxed) != State::expected || slots_[slot].program == &program) return;
    program.expect_overlap(true);
    slots_[slot].program = &program;
  }
  template <class Other>
  void note(std::uint32_t, Other&) noexcept {}
  /// Keeps the next round of a slot from overlapping with others; cancel() undoes that.
  void run_alone(std::uint32_t slot) noexcept {
    if (!slots_.empty()) slots_[slot].is_alone = true;
  }
  void cancel(std::uint32_t slot) noexcept {
    if (!slots_.empty()) slots_[slot].is_alone = false;
  }
  /// Whether the change may be requested, or was requested or made.
  [[nodiscard]] bool is_due() const noexcept {
    switch (state_.load(std::memory_order_relaxed)) {
      case State::expected: return slots_.back().program != nullptr && slots_[0].program->has_learned();
      case State::wanted:
      case State::started: return true;
      case State::none: break;
    }
    return false;
  }
  void want() noexcept {
    State expected = State::expected;
    // model: switch.want
    (void)state_.compare_exchange_strong(expected, State::wanted, std::memory_order_release, std::memory_order_relaxed);
  }
  /// Whether the change was made and turn_on() must be called.
  [[nodiscard]] bool has_started() const noexcept {
    return !is_on_ && state_.load(std::memory_order_acquire) == State::started;
  }
  void turn_on() noexcept { is_on_ = true; }  // model: switch.turn_on
  [[nodiscard]] bool is_on() const noexcept { return is_on_; }
  void await(std::uint32_t slot) noexcept { replay_->await(slot); }
  [[nodiscard]] bool has_ended(std::uint32_t slot) noexcept { return replay_->has_slot_ended(slot); }
  [[nodiscard]] Status status(std::uint32_t slot) noexcept { return replay_->status(slot); }

  // Called by the thread that runs rounds.
  [[nodiscard]] bool is_wanted() const noexcept { return state_.load(std::memory_order_acquire) == State::wanted; }
  /// Makes the change. Returns false if it gains nothing; then the change is no longer wanted.
  [[nodiscard]] bool start(Engine& engine) noexcept {
    std::vector<Program*> programs;
    for (const Slot& slot : slots_) programs.push_back(slot.program);
    replay_ = engine.overlap(programs);
    if (replay_ != nullptr) return true;
    for (Program* const program : programs) program->expect_overlap(false);
    state_.store(State::none, std::memory_order_release);  // model: switch.decline
    return false;
  }
  void note_started() noexcept { state_.store(State::started, std::memory_order_release); }  // model: switch.started

  /// Called by that thread during the change, and by the calling thread afterwards.
  void launch(std::uint32_t slot) noexcept { replay_->launch(slot, std::exchange(slots_[slot].is_alone, false)); }

 private:
  enum class State : std::uint8_t { none, expected, wanted, started };
  struct Slot {
    Program* program = nullptr;
    bool is_alone = false;
  };
  std::vector<Slot> slots_;
  std::atomic<State> state_{State::none};
  bool is_on_ = false;
  Replay* replay_ = nullptr;
};

}  // namespace rondo::platform::sim
