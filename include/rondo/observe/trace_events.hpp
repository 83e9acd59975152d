// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/observe/recorder.hpp>
#include <rondo/observe/trace.hpp>
#include <rondo/types.hpp>

#include <fmt/format.h>
#include <range/v3/algorithm/min_element.hpp>
#include <range/v3/algorithm/sort.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

/// Traced spans as events on tracks, for writers of files. For set-up only.
namespace rondo::observe {

/// One event. The trace event format, which Chrome and Perfetto read, defines the meaning of the letters.
struct TraceEvent {
  /// The kind of an event; a span is written as its beginning and, later, its end.
  enum class Kind : char { span = 'B', flow_out = 's', flow_in = 'f', counter = 'C', label = 'M' };
  Kind kind = Kind::span;
  /// The number of the session.
  std::uint32_t process = 0;
  /// The line on which it is drawn.
  std::uint32_t track = 0;
  /// The time, in nanoseconds.
  std::uint64_t ns = 0;
  std::uint64_t took_ns = 0;  ///< the duration of a span
  std::uint64_t flow = 0;     ///< the number that connects the two events of an arrow
  std::string name{};
  /// Figures that are displayed with it.
  std::vector<std::pair<std::string, std::uint64_t>> numbers{};
  std::string text{};  ///< the text of a label
};

/// Events of any number of sessions: each is a process, with a track for rounds, one for the host, and one for each
/// thread that ran tasks.
struct TraceEvents {
  // The tracks, from top to bottom.
  /// The first track of rounds; rounds in flight also use those below it.
  static constexpr std::uint32_t rounds_track = 1;
  /// The track of the rounds' time on the device.
  static constexpr std::uint32_t device_track = 90;
  /// The track of the phases.
  static constexpr std::uint32_t host_track = 100;
  static constexpr std::uint32_t launches_track = 101;
  /// The track of the first thread, or the first core.
  static constexpr std::uint32_t thread_track = 200;
  /// The track of a core, where streams have tracks, too.
  static constexpr std::uint32_t core_track(CoreType type, std::uint32_t core) noexcept {
    return (type == CoreType::cube ? 10'000U : 20'000U) + core;
  }
  static constexpr std::uint32_t predicted_process = 100'000;  ///< added to a process's number for its prediction

  /// The events, in any order before sort().
  std::vector<TraceEvent> events{};
  std::uint64_t dropped = 0;  ///< spans that were dropped
  /// The number of arrows.
  std::uint64_t flows = 0;

  /// Adds a span; times in nanoseconds.
  void span(std::uint32_t process, std::uint32_t track, std::uint64_t from, std::uint64_t to, std::string name,
            std::vector<std::pair<std::string, std::uint64_t>> numbers = {}) {
    events.push_back({TraceEvent::Kind::span, process, track, from, to - from, 0, std::move(name), std::move(numbers)});
  }
  /// Adds an arrow from one span to another.
  void flow(std::uint32_t process, std::uint32_t from_track, std::uint64_t from, std::uint32_t to_track,
            std::uint64_t to, const std::string& name) {
    events.push_back({TraceEvent::Kind::flow_out, process, from_track, from, 0, ++flows, name});
    events.push_back({TraceEvent::Kind::flow_in, process, to_track, to, 0, flows, name});
  }
  /// Adds the values of counters from this time on.
  void counter(std::uint32_t process, std::uint64_t ns, std::string name,
               std::vector<std::pair<std::string, std::uint64_t>> values) {
    events.push_back({TraceEvent::Kind::counter, process, 0, ns, 0, 0, std::move(name), std::move(values)});
  }
  /// Names a process.
  void label_process(std::uint32_t process, std::string text) {
    events.push_back({TraceEvent::Kind::label, process, 0, 0, 0, 0, "process_name", {}, std::move(text)});
  }
  /// Names a track.
  void label_track(std::uint32_t process, std::uint32_t track, std::string text) {
    events.push_back({TraceEvent::Kind::label, process, track, 0, 0, 0, "thread_name", {}, std::move(text)});
    events.push_back({TraceEvent::Kind::label, process, track, 0, 0, 0, "thread_sort_index", {{"sort_index", track}}});
  }

  /// The time of the first event, not counting labels.
  [[nodiscard]] std::optional<std::uint64_t> first_ns() const {
    auto timed =
        events | ::ranges::views::filter([](const TraceEvent& e) { return e.kind != TraceEvent::Kind::label; });
    const auto first = ::ranges::min_element(timed, {}, &TraceEvent::ns);
    return first == ::ranges::end(timed) ? std::nullopt : std::optional{first->ns};
  }
  /// Sorts labels first, then by track and time; a span precedes the spans within it.
  void sort() {
    const auto key = [this](std::size_t i) {
      const TraceEvent& e = events[i];
      return std::tuple(e.kind != TraceEvent::Kind::label, e.process, e.track, e.ns,
                        e.kind == TraceEvent::Kind::span ? ~e.took_ns : ~std::uint64_t{0}, i);
    };
    // Indices are sorted, since moving events is expensive.
    auto order = ::ranges::views::iota(std::size_t{0}, events.size()) | ::ranges::to<std::vector>;
    ::ranges::sort(order, {}, key);
    events = order | ::ranges::views::transform([this](std::size_t i) { return std::move(events[i]); }) |
             ::ranges::to<std::vector>;
  }
};

[[nodiscard]] constexpr const char* to_string(Phase phase) noexcept {
  constexpr const char* names[] = {"outside", "bind", "copy in", "refresh", "launch", "copy out", "wait"};
  return names[static_cast<std::size_t>(phase)];
}

/// Distributes spans that may overlap over several tracks; they must be passed in the order of their starts.
class TrackChooser {
 public:
  /// Returns the first track that is free at `from`, and occupies it until `to`.
  [[nodiscard]] std::uint32_t place(std::uint64_t from, std::uint64_t to) {
    std::size_t t = 0;
    while (t < free_at_.size() && free_at_[t] > from) ++t;
    if (t == free_at_.size()) free_at_.push_back(0);
    free_at_[t] = to;
    return static_cast<std::uint32_t>(t);
  }
  [[nodiscard]] std::size_t tracks() const noexcept { return free_at_.size(); }

 private:
  std::vector<std::uint64_t> free_at_{};
};

/// Adds the rounds and phases that an observer kept.
template <std::size_t Spans, class Clock>
void add_rounds(TraceEvents& to, std::uint32_t process, const TraceWith<Spans, Clock>& trace) {
  const Timebase base = timebase_of<Clock>();
  const SpanRing& spans = trace.spans();
  to.dropped += spans.dropped();
  to.label_track(process, TraceEvents::host_track, "host");
  std::vector<Span> rounds;
  std::uint64_t device_free_at = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Span& span = spans[i];
    if (span.what == TraceWith<Spans, Clock>::round) {
      rounds.push_back(span);
      continue;
    }
    if (span.what == TraceWith<Spans, Clock>::on_device) {
      // The device's clock has another origin. So the span ends when the host learned of the end, possibly late, and it
      // begins no earlier than the end of the previous span.
      const std::uint64_t end = base.to_ns(span.end);
      const std::uint64_t begin = std::max(device_free_at, end - std::min(end, span.bytes));
      to.span(process, TraceEvents::device_track, begin, end, fmt::format("round {}", span.round),
              {{"round", span.round}, {"device ns", span.bytes}});
      device_free_at = end;
      continue;
    }
    std::vector<std::pair<std::string, std::uint64_t>> numbers{{"round", span.round}};
    if (span.bytes != 0) numbers.emplace_back("bytes", span.bytes);
    to.span(process, TraceEvents::host_track, base.to_ns(span.start), base.to_ns(span.end),
            to_string(static_cast<Phase>(span.what)), std::move(numbers));
  }
  if (device_free_at != 0) to.label_track(process, TraceEvents::device_track, "device");
  std::ranges::sort(rounds, {}, &Span::start);
  TrackChooser tracks;
  for (const Span& span : rounds) {
    const std::uint64_t from = base.to_ns(span.start);
    const std::uint64_t until = base.to_ns(span.end);
    const auto code = static_cast<Errc>(span.detail);
    to.span(
        process, TraceEvents::rounds_track + tracks.place(from, until), from, until,
        fmt::format("round {}{}{}", span.round, code == Errc::ok ? "" : ": ", code == Errc::ok ? "" : describe(code)),
        {{"round", span.round}});
  }
  for (std::uint32_t t = 0; t < tracks.tracks(); ++t) {
    to.label_track(process, TraceEvents::rounds_track + t,
                   tracks.tracks() == 1 ? "rounds" : fmt::format("rounds, slot {}", t));
  }
}

}  // namespace rondo::observe
