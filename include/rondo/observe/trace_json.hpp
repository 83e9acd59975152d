// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/observe/task_events.hpp>
#include <rondo/observe/trace_events.hpp>
#include <rondo/session/round_session.hpp>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// Set-up only: what was traced, as a file that chrome://tracing and https://ui.perfetto.dev open.
namespace rondo::observe {

namespace detail {

/// Text as it may stand between the quotes of a JSON string.
[[nodiscard]] inline std::string json_text(std::string_view text) {
  constexpr const char* hex = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') result += '\\';
    if (u < 0x20) {
      result += {'\\', 'u', '0', '0', hex[u >> 4], hex[u & 15]};
    } else {
      result += c;
    }
  }
  return result;
}

/// Microseconds with three places, which no double would keep for long.
[[nodiscard]] inline std::string microseconds(std::uint64_t ns) {
  const std::string places = std::to_string(1000 + ns % 1000);
  return std::to_string(ns / 1000) + '.' + places.substr(1);
}

/// What every event begins with.
[[nodiscard]] inline std::string begin_event(const TraceEvent& e, char kind, std::uint64_t ns) {
  return std::string{"{\"ph\":\""} + kind + "\",\"pid\":" + std::to_string(e.process) +
         ",\"tid\":" + std::to_string(e.track) + ",\"ts\":" + microseconds(ns) + ",\"name\":\"" + json_text(e.name) +
         '"';
}

/// A span only begins here.
[[nodiscard]] inline std::string event_text(const TraceEvent& e, std::uint64_t from) {
  using Kind = TraceEvent::Kind;
  const bool is_flow = e.kind == Kind::flow_out || e.kind == Kind::flow_in;
  std::string line = begin_event(e, static_cast<char>(e.kind), e.kind == Kind::label ? 0 : e.ns - from);
  if (e.kind == Kind::span) line += ",\"cat\":\"span\"";
  if (is_flow) line += ",\"cat\":\"flow\",\"id\":" + std::to_string(e.flow);
  if (e.kind == Kind::flow_in) line += ",\"bp\":\"e\"";
  if (!is_flow) {
    line += ",\"args\":{";
    if (!e.text.empty()) line += "\"name\":\"" + json_text(e.text) + '"';
    for (const auto& [name, value] : e.numbers) {
      if (line.back() != '{') line += ',';
      line += '"' + json_text(name) + "\":" + std::to_string(value);
    }
    line += '}';
  }
  return line + '}';
}

/// The spans of the track at hand that have begun and not ended: written as a beginning and an end each. A reader that
/// adds a span's duration to its start, in microseconds, gets an end that is off by a rounding, and drops the next span
/// for overlapping; two times of one text are one time to any reader.
class OpenSpans {
 public:
  /// Ends those that are over before an event at `ns`; at that time, too, if the event begins a span.
  template <class Write>
  void end_before(const TraceEvent& next, const Write& write) {
    const bool other = !open_.empty() && (open_.back()->process != next.process || open_.back()->track != next.track);
    const bool begins = next.kind == TraceEvent::Kind::span;
    while (!open_.empty() && (other || until_.back() < next.ns || (begins && until_.back() == next.ns))) end(write);
  }
  void begin(const TraceEvent& span) {
    open_.push_back(&span);
    // No longer than what it is in.
    const std::uint64_t until = span.ns + span.took_ns;
    until_.push_back(until_.empty() || until <= until_.back() ? until : until_.back());
  }
  template <class Write>
  void end_all(const Write& write) {
    while (!open_.empty()) end(write);
  }

 private:
  template <class Write>
  void end(const Write& write) {
    write(*open_.back(), until_.back());
    open_.pop_back();
    until_.pop_back();
  }

  std::vector<const TraceEvent*> open_{};
  std::vector<std::uint64_t> until_{};
};

/// The engine that records, or has one inside that does.
template <class Engine>
[[nodiscard]] auto* find_recorder(Engine& engine) {
  if constexpr (requires { engine.recorder(); }) {
    return &engine.recorder();
  } else if constexpr (requires { engine.inner(); }) {
    return find_recorder(engine.inner());
  } else {
    return static_cast<void*>(nullptr);
  }
}
template <class Session>
[[nodiscard]] auto* recorder_of(Session& session) {
  if constexpr (requires { session.platform().engine(); }) {
    return find_recorder(session.platform().engine());
  } else {
    return static_cast<void*>(nullptr);
  }
}

}  // namespace detail

/// The events as JSON. Times count from the first of them.
inline void write_trace(std::ostream& out, TraceEvents events) {
  events.sort();
  std::uint64_t from = ~std::uint64_t{0};
  for (const TraceEvent& e : events.events) {
    if (e.kind != TraceEvent::Kind::label) from = std::min(from, e.ns);
  }
  out << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"writer\":\"rondo\",\"dropped_spans\":"
      << std::to_string(events.dropped) << "},\"traceEvents\":[";
  const char* between = "\n";
  const auto write = [&](const std::string& line) {
    out << between << line;
    between = ",\n";
  };
  detail::OpenSpans spans;
  const auto end = [&](const TraceEvent& e, std::uint64_t ns) { write(detail::begin_event(e, 'E', ns - from) + '}'); };
  for (const TraceEvent& e : events.events) {
    spans.end_before(e, end);
    write(detail::event_text(e, from));
    if (e.kind == TraceEvent::Kind::span) spans.begin(e);
  }
  spans.end_all(end);
  out << "\n]}\n";
}

/// Adds what a session's observer and its engine kept, and what its engine predicts, as process `process`. Of a session
/// of many shapes its rounds alone: the tasks of another shape are other tasks.
template <class Session>
void add_session(TraceEvents& to, std::uint32_t process, Session& session) {
  using P = std::remove_cvref_t<decltype(session.platform())>;
  using Graph = std::remove_cvref_t<decltype(session.graph())>;
  to.label_process(process, std::string{P::name} + ", " + std::to_string(session.rounds()) +
                                (session.rounds() == 1 ? " round" : " rounds"));
  if constexpr (requires { add_rounds(to, process, session.observer()); }) add_rounds(to, process, session.observer());
  if constexpr (requires { session.graph().view(); }) {
    auto* const recorder = detail::recorder_of(session);
    if constexpr (
        requires { recorder->threads(); } && requires { Graph::is_orchestrated; }) {
      add_orchestrated(to, process, *recorder);
    } else if constexpr (requires { recorder->threads(); }) {
      add_tasks<typename P::Arch>(to, process, *recorder, rondo::detail::concurrency<P, Graph>);
    }
    if constexpr (requires { session.platform().engine().prediction(); }) {
      std::uint64_t from = ~std::uint64_t{0};
      for (const TraceEvent& e : to.events) {
        if (e.kind != TraceEvent::Kind::label) from = std::min(from, e.ns);
      }
      add_prediction<typename P::Arch>(to, process + TraceEvents::predicted_process,
                                       to.events.empty() || from == ~std::uint64_t{0} ? 0 : from,
                                       session.platform().engine().prediction(), rondo::detail::concurrency<P, Graph>);
    }
  }
}

/// Writes what sessions traced to one file, each as a process of its own. To be called between rounds. A session is
/// traced as far as its policies have `Observe = Trace` and its engine is `Traced`.
/// Errors: the stream's. Cost: set-up's; allocates some hundred bytes for each span.
template <class... Session>
requires(sizeof...(Session) != 0) void write_trace(std::ostream& out, Session&... sessions) {
  TraceEvents events;
  std::uint32_t process = 0;
  (add_session(events, ++process, sessions), ...);
  write_trace(out, std::move(events));
}

/// Switches on or off all that a session traces, in the middle of a run, from any thread: rounds, and tasks.
template <class Session>
void record(Session& session, bool on) noexcept {
  if constexpr (requires { session.observer().record(on); }) session.observer().record(on);
  auto* const recorder = detail::recorder_of(session);
  if constexpr (requires { recorder->record(on); }) recorder->record(on);
}

}  // namespace rondo::observe
