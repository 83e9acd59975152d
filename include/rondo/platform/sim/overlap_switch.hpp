// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/concept.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo::platform::sim {

/// The part of a queue that lets rounds overlap. Empty for an engine that cannot overlap rounds.
template <class Sim>
struct OverlapSwitch {};

/// The switch for an engine that can overlap rounds. Rounds run one after the other until every slot has had one and
/// the tasks' costs are known. From then on the calling thread launches rounds on a Replay, which runs none of them
/// before the thread of the queue has run all earlier rounds and calls open().
///
/// Thread safety: the calling thread only, except open().
template <HasOverlappingRounds Sim>
class OverlapSwitch<Sim> {
  using Engine = std::remove_cvref_t<decltype(std::declval<Sim&>().engine())>;
  using Program = typename Engine::Program;
  using Replay = std::remove_pointer_t<decltype(std::declval<Engine&>().overlap({}))>;

 public:
  /// Allows rounds to overlap, once each of the slots has had a round and the tasks' costs are known.
  void allow(std::size_t slots) {
    slots_.resize(slots);
    programs_.resize(slots);
    is_expected_ = true;
  }
  [[gnu::always_inline]] void note(std::uint32_t slot, Program& program) noexcept {
    if (!is_expected_ || programs_[slot] == &program) return;
    program.expect_overlap();
    programs_[slot] = &program;
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

  /// Whether to call start().
  [[nodiscard]] bool is_due() const noexcept {
    return is_expected_ && programs_.back() != nullptr && programs_[0]->has_learned();
  }
  /// Lets rounds overlap from the next one on. Returns false, once and for all, if that gains nothing.
  [[nodiscard]] bool start(Engine& engine) noexcept {
    is_expected_ = false;
    replay_ = engine.overlap(programs_);
    return is_on();
  }
  [[nodiscard]] bool is_on() const noexcept { return replay_ != nullptr; }
  void launch(std::uint32_t slot) noexcept {
    slots_[slot].is_on_replay = true;
    replay_->launch(slot, std::exchange(slots_[slot].is_alone, false));
  }
  /// Whether the slot's last round was launched here.
  [[nodiscard]] bool has(std::uint32_t slot) const noexcept { return is_on() && slots_[slot].is_on_replay; }
  void await(std::uint32_t slot) noexcept { replay_->await(slot); }
  [[nodiscard]] bool has_ended(std::uint32_t slot) noexcept { return replay_->has_slot_ended(slot); }
  [[nodiscard]] Status status(std::uint32_t slot) noexcept { return replay_->status(slot); }

  /// Called by the thread of the queue when it ends.
  void open() noexcept {
    if (!is_on()) return;
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) programs_[slot]->run_on(*replay_, slot);
    replay_->open();
  }

 private:
  struct Slot {
    bool is_alone = false;
    bool is_on_replay = false;
  };
  std::vector<Slot> slots_;
  std::vector<Program*> programs_;  ///< by slot
  bool is_expected_ = false;
  Replay* replay_ = nullptr;
};

}  // namespace rondo::platform::sim
