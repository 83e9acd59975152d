// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/observe/concepts.hpp>
#include <rondo/observe/task_events.hpp>
#include <rondo/observe/trace_events.hpp>
#include <rondo/session/policies.hpp>
#include <rondo/session/round_session.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// Traces as files that chrome://tracing and https://ui.perfetto.dev can open. For set-up only.
namespace rondo::observe {

namespace detail {

/// Writes events, one per line. It reuses one JSON document, which makes a fifth of the allocations.
class EventWriter {
 public:
  /// Times are relative to `from`.
  EventWriter(std::ostream& out, std::uint64_t from) : out_{out}, from_{from} {}

  /// `phase`: as in the format; the beginning and the end of a span are two lines.
  void operator()(const TraceEvent& e, char phase, std::uint64_t ns) {
    using Kind = TraceEvent::Kind;
    json_.clear();
    json_["ph"] = std::string(1, phase);
    json_["pid"] = e.process;
    json_["tid"] = e.track;
    json_["ts"] = static_cast<double>(ns - from_) / 1000;  // microseconds
    json_["name"] = e.name;
    if (e.kind == Kind::flow_out || e.kind == Kind::flow_in) {
      json_["cat"] = "flow";
      json_["id"] = e.flow;
      if (e.kind == Kind::flow_in) json_["bp"] = "e";
    } else if (phase != 'E') {
      if (e.kind == Kind::span) json_["cat"] = "span";
      auto& args = json_["args"] = nlohmann::ordered_json::object();
      if (!e.text.empty()) args["name"] = e.text;
      for (const auto& [name, value] : e.numbers) args[name] = value;
    }
    out_ << std::exchange(between_, ",\n")
         << json_.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }

 private:
  std::ostream& out_;
  std::uint64_t from_;
  const char* between_ = "\n";
  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
};

/// The spans on the current track that have begun but not ended; each is written as a beginning and an end. If it had a
/// duration instead, a reader that adds it to the start, in microseconds, would get an end with a rounding error, and
/// would drop the next span as overlapping; two times with the same text are equal for every reader.
class OpenSpans {
 public:
  /// Ends the spans that end before `next`, or at its time if it begins a span.
  template <class Write>
  void end_before(const TraceEvent& next, Write& write) {
    const bool other =
        !open_.empty() && (open_.back().span->process != next.process || open_.back().span->track != next.track);
    const bool begins = next.kind == TraceEvent::Kind::span;
    while (!open_.empty() && (other || open_.back().until < next.ns || (begins && open_.back().until == next.ns))) {
      end(write);
    }
  }
  void begin(const TraceEvent& span) {
    // Not longer than the enclosing span.
    const std::uint64_t until = span.ns + span.took_ns;
    open_.push_back({&span, open_.empty() ? until : std::min(until, open_.back().until)});
  }
  template <class Write>
  void end_all(Write& write) {
    while (!open_.empty()) end(write);
  }

 private:
  struct Open {
    const TraceEvent* span;
    std::uint64_t until;
  };

  template <class Write>
  void end(Write& write) {
    write(*open_.back().span, 'E', open_.back().until);
    open_.pop_back();
  }

  std::vector<Open> open_{};
};

}  // namespace detail

/// Writes the events as JSON, one by one, without a document in memory. Times are relative to the first event.
inline void write_trace(std::ostream& out, TraceEvents events) {
  events.sort();
  const std::uint64_t from = events.first_ns().value_or(0);
  const nlohmann::ordered_json frame{{"displayTimeUnit", "ns"},
                                     {"otherData", {{"writer", "rondo"}, {"dropped_spans", events.dropped}}},
                                     {"traceEvents", nlohmann::ordered_json::array()}};
  std::string around = frame.dump();
  around.resize(around.size() - std::string_view{"]}"}.size());
  out << around;
  detail::EventWriter write(out, from);
  detail::OpenSpans spans;
  for (const TraceEvent& e : events.events) {
    spans.end_before(e, write);
    write(e, static_cast<char>(e.kind), e.kind == TraceEvent::Kind::label ? from : e.ns);
    if (e.kind == TraceEvent::Kind::span) spans.begin(e);
  }
  spans.end_all(write);
  out << "\n]}\n";
}

/// Adds the records of a session's observer and engine, and the engine's prediction, as process `process`. For a
/// session of many shapes, it adds only rounds, since the tasks differ from shape to shape.
template <class Session>
void add_session(TraceEvents& to, std::uint32_t process, Session& session) {
  using P = std::remove_cvref_t<decltype(session.platform())>;
  using Graph = std::remove_cvref_t<decltype(session.graph())>;
  to.label_process(process,
                   fmt::format("{}, {} {}", P::name, session.rounds(), session.rounds() == 1 ? "round" : "rounds"));
  if constexpr (KeepsRounds<std::remove_cvref_t<decltype(session.observer())>>) {
    add_rounds(to, process, session.observer());
  }
  if constexpr (HasOneGraph<Session>) {
    detail::with_engine(session, [&](RecordsTasks auto& engine) {
      if constexpr (rondo::detail::is_orchestrated<Graph>) {
        add_orchestrated(to, process, engine.recorder());
      } else {
        add_tasks<typename P::Arch>(to, process, engine.recorder(), rondo::detail::concurrency<P, Graph>);
      }
    });
    detail::with_engine(session, [&](PredictsRounds auto& engine) {
      add_prediction<typename P::Arch>(to, process + TraceEvents::predicted_process, to.first_ns().value_or(0),
                                       engine.prediction(), rondo::detail::concurrency<P, Graph>);
    });
  }
}

/// Writes the traces of sessions to one file, each as a process. To be called between rounds. Rounds are traced if the
/// session's policies have `Observe = Trace`, tasks if its engine is `Traced`.
/// Errors: those of the stream. Cost: for set-up; allocates some hundred bytes per span.
template <class... Session>
  requires(sizeof...(Session) != 0)
void write_trace(std::ostream& out, Session&... sessions) {
  TraceEvents events;
  std::uint32_t process = 0;
  (add_session(events, ++process, sessions), ...);
  write_trace(out, std::move(events));
}

/// Switches all tracing of a session on or off, rounds and tasks; from any thread, also during a round.
template <class Session>
void record(Session& session, bool on) noexcept {
  if constexpr (Switchable<std::remove_cvref_t<decltype(session.observer())>>) session.observer().record(on);
  detail::with_engine(session, [on](RecordsTasks auto& engine) { engine.recorder().record(on); });
}

}  // namespace rondo::observe
