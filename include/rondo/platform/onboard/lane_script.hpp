// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/lanes.hpp>
#include <rondo/platform/onboard/device.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::platform::onboard {

/// The steps of capturing a graph whose tasks are dealt to lanes, each lane on a stream of its own: launches, records
/// of events, and waits for them. An event is recorded again once all its waits are captured.
class LaneScript {
 public:
  /// One call of the capture.
  struct Step {
    enum class Kind : std::uint8_t { launch, record, wait };
    Kind kind = Kind::launch;
    std::uint32_t lane = 0;
    /// The number of the launch, counted in the order of the lanes and without tasks that are in no lane; for other
    /// kinds, the number of the event.
    std::uint32_t number = 0;
  };

  /// The most queues of the device that one graph may take, and the entries that each has for the graph's tasks.
  static constexpr std::uint64_t most_queues = 1024;
  static constexpr std::uint64_t queue_entries = 2048 - 32 - 8;

  explicit LaneScript(const graph::Lanes& lanes) : events_of_(lanes.lane_of.size() + 1, 0U), lanes_{lanes.count} {
    const std::size_t start = lanes.lane_of.size();
    std::vector<std::uint32_t> waiting(start + 1, 0U);
    for (const graph::Lanes::Wait& wait : lanes.waits) ++waiting[slot_of(wait, start)];
    if (waiting[start] != 0) record(0, start);
    std::size_t w = 0;
    std::uint32_t launch = 0;
    for (const std::uint32_t task : lanes.order) {
      const std::uint32_t lane = lanes.lane_of[task];
      if (lane == graph::Lanes::none) continue;
      for (; w < lanes.waits.size() && lanes.waits[w].task == task; ++w) {
        const std::size_t slot = slot_of(lanes.waits[w], start);
        steps_.push_back({Step::Kind::wait, lane, events_of_[slot]});
        if (--waiting[slot] == 0) free_.push_back(events_of_[slot]);
      }
      steps_.push_back({Step::Kind::launch, lane, launch++});
      if (waiting[task] != 0) record(lane, task);
    }
    for (const graph::Lanes::Join& join : lanes.joins) {
      record(join.joined, start);
      steps_.push_back({Step::Kind::wait, join.lane, events_of_[start]});
      free_.push_back(events_of_[start]);
    }
  }

  [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }
  /// The numbers of streams and of events that capturing needs.
  [[nodiscard]] std::uint32_t lanes() const noexcept { return lanes_; }
  [[nodiscard]] std::uint32_t events() const noexcept { return events_; }
  /// The number of the device's queues that the graph takes: one for each stream, and another whenever one is full.
  [[nodiscard]] std::uint64_t queues() const {
    std::vector<std::uint64_t> entries(lanes_, 1);
    for (const Step& step : steps_) {
      entries[step.lane] += step.kind == Step::Kind::wait ? 4 : 1;
      if (step.kind == Step::Kind::record) ++entries[0];  // at the end each event is reset
    }
    std::uint64_t queues = 0;
    for (const std::uint64_t n : entries) queues += (n + queue_entries - 1) / queue_entries;
    return queues;
  }

 private:
  [[nodiscard]] static std::size_t slot_of(const graph::Lanes::Wait& wait, std::size_t start) noexcept {
    return wait.after == graph::Lanes::none ? start : wait.after;
  }
  void record(std::uint32_t lane, std::size_t slot) {
    if (free_.empty()) free_.push_back(events_++);
    events_of_[slot] = free_.back();
    free_.pop_back();
    steps_.push_back({Step::Kind::record, lane, events_of_[slot]});
  }

  std::vector<Step> steps_;
  std::vector<std::uint32_t> events_of_;  ///< by task; the last entry is the event of the start, and of joins
  std::vector<std::uint32_t> free_;       ///< events that may be recorded again
  std::uint32_t lanes_;
  std::uint32_t events_ = 0;
};

/// Captures a script on streams and events that it creates, and destroys afterwards. `launch(number, stream)` makes one
/// of the script's launches and returns a code. @returns the first failure; `instance` is then null
template <class Launch>
[[nodiscard]] AclError capture_script(Device& device, const LaneScript& script, RunInstance& instance, Launch launch) {
  const Calls& calls = device.calls();
  std::vector<Stream> streams(script.lanes(), nullptr);
  std::vector<Event> events(script.events(), nullptr);
  AclError code = code_ok;
  streams[0] = device.stream();
  for (std::size_t s = 1; s < streams.size() && code == code_ok; ++s) {
    code = calls.create_stream(&streams[s], 0, stream_flag_fast_launch | stream_flag_fast_sync);
  }
  for (std::size_t e = 0; e < events.size() && code == code_ok; ++e) {
    code = calls.create_event(&events[e], event_flag_sync);
  }
  if (code == code_ok) code = calls.capture_begin(streams[0], capture_thread_local);
  if (code == code_ok) {
    for (const LaneScript::Step& step : script.steps()) {
      Stream const stream = streams[step.lane];
      switch (step.kind) {
        case LaneScript::Step::Kind::launch: code = launch(step.number, stream); break;
        case LaneScript::Step::Kind::record: code = calls.record_event(events[step.number], stream); break;
        case LaneScript::Step::Kind::wait: code = calls.wait_event(stream, events[step.number]); break;
      }
      if (code != code_ok) break;
    }
    const AclError ended = calls.capture_end(streams[0], &instance);
    if (code == code_ok) code = ended;
    if (code != code_ok && instance != nullptr) {
      (void)calls.destroy_instance(instance);
      instance = nullptr;
    }
  }
  for (std::size_t s = 1; s < streams.size(); ++s) {
    if (streams[s] != nullptr) (void)calls.destroy_stream(streams[s]);
  }
  for (Event const event : events) {
    if (event != nullptr) (void)calls.destroy_event(event);
  }
  return code;
}

}  // namespace rondo::platform::onboard
