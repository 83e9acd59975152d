// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rondo::platform::streams {

/// The transfers of the last plain round and their places in the staging, so that a round with the same transfers need
/// not look up the places again: runs of inputs, a launch, runs of outputs.
///
/// A plan is recorded during a round that is not following a plan, and followed from the next round on. If a round
/// deviates from the plan, Transfers::leave_plan() continues it without the plan. Host addresses are not part of the
/// plan. Thread safety: none. Cost: two comparisons for each tensor; no allocation except in make_room().
class RoundPlan {
 public:
  /// The transfer of one tensor; `host` is for outputs only, and of this round.
  struct Step {
    std::uint64_t device = nowhere;
    std::uint64_t size = 0;
    std::byte* staged = nullptr;
    void* host = nullptr;
    bool begins_run = false;
  };
  /// Tensors that are contiguous both on the device and in the staging: one copy.
  struct Run {
    std::uint64_t device = 0;
    std::byte* staged = nullptr;
    std::uint64_t bytes = 0;  ///< from the start of the first tensor to the end of the last
  };
  /// The copies in one direction.
  struct Copies {
    const Step* end = nullptr;  ///< null: there is no plan
    Step* first = nullptr;
    const Run* runs = nullptr;
    const Run* runs_end = nullptr;
  };

  RoundPlan() = default;
  RoundPlan(const RoundPlan&) = delete;
  RoundPlan& operator=(const RoundPlan&) = delete;

  /// Makes room for graphs with this many inputs and outputs, and discards the recorded plan. @throws std::bad_alloc
  void make_room(std::size_t inputs, std::size_t outputs) {
    forget();
    if (inputs + outputs <= room_) return;
    steps_ = std::vector<Step>(inputs + outputs + 2);
    recorded_ = std::vector<Step>(inputs + outputs + 2);
    runs_ = std::vector<Run>(inputs + outputs);
    room_ = inputs + outputs;
  }

  // --- following the plan

  [[nodiscard, gnu::always_inline]] Step* next_in() const noexcept { return in_next_; }
  [[nodiscard, gnu::always_inline]] Step* next_out() const noexcept { return out_next_; }
  [[gnu::always_inline]] void in_done(Step* step) noexcept { in_next_ = step + 1; }
  [[gnu::always_inline]] void out_done(Step* step) noexcept { out_next_ = step + 1; }
  /// Whether all inputs of the plan were copied, and nothing else was requested.
  [[nodiscard]] bool is_through_inputs() const noexcept { return in_next_ == in_.end; }
  [[nodiscard]] bool is_through_outputs() const noexcept { return out_next_ == out_.end; }
  [[nodiscard]] bool is_at_inputs() const noexcept { return in_next_ != &closed_; }
  [[nodiscard]] bool is_at_outputs() const noexcept { return out_next_ != &closed_; }
  /// Whether the plan is being followed, or would be from the next step on.
  [[nodiscard]] bool is_on() const noexcept { return is_at_inputs() || is_at_outputs(); }
  /// Whether a step of the plan has been taken.
  [[nodiscard]] bool is_under_way() const noexcept {
    return is_at_outputs() || (is_at_inputs() && in_next_ != in_.first);
  }
  [[nodiscard]] const Copies& in() const noexcept { return in_; }
  [[nodiscard]] const Copies& out() const noexcept { return out_; }

  void launched() noexcept {
    in_next_ = &closed_;
    out_next_ = out_.first;
  }
  /// Returns to the first step, for the next round.
  void rearm() noexcept {
    out_next_ = &closed_;
    in_next_ = in_.end == nullptr ? &closed_ : in_.first;
  }
  /// Stops following the plan until rearm().
  void disarm() noexcept { in_next_ = out_next_ = &closed_; }
  void forget() noexcept {
    disarm();
    in_ = {};
    out_ = {};
    phase_ = Phase::invalid;
  }

  // --- recording a plan

  void begin_recording() noexcept {
    phase_ = Phase::inputs;
    inputs_ = outputs_ = 0;
  }
  /// Notes that the round did something that a plan cannot hold.
  void invalidate() noexcept { phase_ = Phase::invalid; }
  /// Records an input; `is_first`: whether it is the first of its run.
  void record_in(std::uint64_t device, std::uint64_t size, std::byte* staged, bool is_first) noexcept {
    record(Phase::inputs, inputs_, 0, {device, size, staged, nullptr, false}, is_first);
  }
  void record_out(std::uint64_t device, std::uint64_t size, std::byte* staged, bool is_first) noexcept {
    record(Phase::outputs, outputs_, inputs_ + 1, {device, size, staged, nullptr, false}, is_first);
  }
  void record_launch() noexcept { phase_ = phase_ == Phase::inputs ? Phase::outputs : Phase::invalid; }
  /// Ends a round that succeeded: if a plan can hold it, it becomes the plan.
  void end_recording() noexcept {
    if (phase_ == Phase::outputs && room_ != 0) {
      std::swap(steps_, recorded_);
      Run* run = runs_.data();
      in_ = copies_of(0, inputs_, run);
      out_ = copies_of(inputs_ + 1, outputs_, run);
    }
    phase_ = Phase::invalid;
  }

 private:
  /// The address of no tensor, so a step with this address never matches.
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  enum class Phase : std::uint8_t { inputs, outputs, invalid };

  void record(Phase phase, std::size_t& count, std::size_t begin, const Step& step, bool is_first) noexcept {
    if (phase_ != phase || (count == 0 && !is_first) || inputs_ + outputs_ >= room_) return invalidate();
    recorded_[begin + count] = step;
    recorded_[begin + count++].begins_run = is_first;
  }
  [[nodiscard]] Copies copies_of(std::size_t begin, std::size_t count, Run*& run) noexcept {
    Step* const first = steps_.data() + begin;
    const Run* const runs = run;
    for (const Step* s = first; s != first + count; ++s) {
      if (s->begins_run) *run++ = {s->device, s->staged, 0};
      run[-1].bytes = s->device + s->size - run[-1].device;
    }
    first[count] = {};
    return {first + count, first, runs, run};
  }

  Step closed_;
  Step* in_next_ = &closed_;
  Step* out_next_ = &closed_;
  Copies in_;
  Copies out_;
  std::vector<Step> steps_;
  std::vector<Step> recorded_;
  std::vector<Run> runs_;
  std::size_t room_ = 0;
  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  Phase phase_ = Phase::invalid;
};

}  // namespace rondo::platform::streams
