// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rondo::platform::streams {

/// What the last plain round moved and through which places of the staging, so that a round that moves the same need
/// not find them anew: runs of inputs, a launch, runs of outputs.
///
/// A round is recorded while it is done the long way, and followed step by step from then on; leaving the plan
/// half-way puts what was done so far into the form of the long way (Transfers::leave_plan). Host addresses are not
/// part of it. Thread safety: none. Cost: two compares for each tensor; no allocation but in make_room().
class RoundPlan {
 public:
  /// One tensor's way; `host` is an output's, and of this round.
  struct Step {
    std::uint64_t device = nowhere;
    std::uint64_t size = 0;
    std::byte* staged = nullptr;
    void* host = nullptr;
    bool begins_run = false;
  };
  /// Tensors that lie one after the other on the device as in the staging: one copy.
  struct Run {
    std::uint64_t device = 0;
    std::byte* staged = nullptr;
    std::uint64_t bytes = 0;  ///< from the first tensor's first to the last one's last
  };
  /// The steps of one direction.
  struct Leg {
    const Step* end = nullptr;  ///< null: there is no plan
    Step* first = nullptr;
    const Run* runs = nullptr;
    const Run* runs_end = nullptr;
  };

  RoundPlan() = default;
  RoundPlan(const RoundPlan&) = delete;
  RoundPlan& operator=(const RoundPlan&) = delete;

  /// For graphs with so many inputs and outputs; what was recorded is forgotten. @throws std::bad_alloc
  void make_room(std::size_t inputs, std::size_t outputs) {
    forget();
    if (inputs + outputs <= room_) return;
    steps_ = std::vector<Step>(inputs + outputs + 2);
    recorded_ = std::vector<Step>(inputs + outputs + 2);
    runs_ = std::vector<Run>(inputs + outputs);
    room_ = inputs + outputs;
  }

  // --- following it

  [[gnu::always_inline]] Step* next_in() const noexcept { return in_next_; }
  [[gnu::always_inline]] Step* next_out() const noexcept { return out_next_; }
  [[gnu::always_inline]] void in_done(Step* step) noexcept { in_next_ = step + 1; }
  [[gnu::always_inline]] void out_done(Step* step) noexcept { out_next_ = step + 1; }
  /// All inputs are there, and nothing else was asked for.
  [[nodiscard]] bool is_through_inputs() const noexcept { return in_next_ == in_.end; }
  [[nodiscard]] bool is_through_outputs() const noexcept { return out_next_ == out_.end; }
  [[nodiscard]] bool is_at_inputs() const noexcept { return in_next_ != &closed_; }
  [[nodiscard]] bool is_at_outputs() const noexcept { return out_next_ != &closed_; }
  /// Is it followed, if only by what comes next?
  [[nodiscard]] bool is_on() const noexcept { return is_at_inputs() || is_at_outputs(); }
  /// Has a step been taken?
  [[nodiscard]] bool is_under_way() const noexcept {
    return is_at_outputs() || (is_at_inputs() && in_next_ != in_.first);
  }
  [[nodiscard]] const Leg& in() const noexcept { return in_; }
  [[nodiscard]] const Leg& out() const noexcept { return out_; }

  void launched() noexcept {
    in_next_ = &closed_;
    out_next_ = out_.first;
  }
  /// Back to the start, for the next round.
  void rearm() noexcept {
    out_next_ = &closed_;
    in_next_ = in_.end == nullptr ? &closed_ : in_.first;
  }
  /// Nothing is followed until it is armed again.
  void disarm() noexcept { in_next_ = out_next_ = &closed_; }
  void forget() noexcept {
    disarm();
    in_ = {};
    out_ = {};
    phase_ = Phase::spoilt;
  }

  // --- recording it

  void begin_recording() noexcept {
    phase_ = Phase::inputs;
    inputs_ = outputs_ = 0;
  }
  /// Something that no plan holds.
  void spoil() noexcept { phase_ = Phase::spoilt; }
  /// `is_first`: of its run.
  void record_in(std::uint64_t device, std::uint64_t size, std::byte* staged, bool is_first) noexcept {
    record(Phase::inputs, inputs_, 0, {device, size, staged, nullptr, false}, is_first);
  }
  void record_out(std::uint64_t device, std::uint64_t size, std::byte* staged, bool is_first) noexcept {
    record(Phase::outputs, outputs_, inputs_ + 1, {device, size, staged, nullptr, false}, is_first);
  }
  void record_launch() noexcept { phase_ = phase_ == Phase::inputs ? Phase::outputs : Phase::spoilt; }
  /// The round is over and went well: if it was one that a plan can hold, it is the plan.
  void end_recording() noexcept {
    if (phase_ == Phase::outputs && room_ != 0) {
      std::swap(steps_, recorded_);
      Run* run = runs_.data();
      in_ = leg(0, inputs_, run);
      out_ = leg(inputs_ + 1, outputs_, run);
    }
    phase_ = Phase::spoilt;
  }

 private:
  /// No tensor is there, so a step that is none is never taken.
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  enum class Phase : std::uint8_t { inputs, outputs, spoilt };

  void record(Phase phase, std::size_t& count, std::size_t begin, const Step& step, bool is_first) noexcept {
    if (phase_ != phase || (count == 0 && !is_first) || inputs_ + outputs_ >= room_) return spoil();
    recorded_[begin + count] = step;
    recorded_[begin + count++].begins_run = is_first;
  }
  [[nodiscard]] Leg leg(std::size_t begin, std::size_t count, Run*& run) noexcept {
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
  Leg in_;
  Leg out_;
  std::vector<Step> steps_;
  std::vector<Step> recorded_;
  std::vector<Run> runs_;
  std::size_t room_ = 0;
  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  Phase phase_ = Phase::spoilt;
};

}  // namespace rondo::platform::streams
