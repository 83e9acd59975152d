// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

/// The rules for a trace file, whichever code wrote it.
namespace rondo::test {

using Json = nlohmann::json;

/// Exact nanoseconds: the file has microseconds with three decimal places.
inline std::int64_t ns_of(const Json& microseconds) {
  return static_cast<std::int64_t>(microseconds.get<double>() * 1000 + 0.5);
}

/// The first fault of a trace, or nothing: a missing key, wrong order on a track, wrong nesting, flows that do not
/// meet. Spans are pairs of begin and end: a reader that added durations to starts would round, and see overlaps.
inline std::string fault_in(const Json& trace) {
  if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array()) return "no traceEvents";
  using Track = std::pair<std::int64_t, std::int64_t>;
  std::map<Track, std::int64_t> last;
  std::map<Track, std::vector<std::string>> names;  // the names of the spans that are open at this place
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> last_counter;
  std::map<std::int64_t, std::int64_t> sources;
  std::map<std::int64_t, std::int64_t> sinks;
  std::set<Track> named;
  for (const Json& e : trace["traceEvents"]) {
    const std::string text = e.dump();
    for (const char* key : {"name", "ph", "pid", "tid", "ts"}) {
      if (!e.contains(key)) return "no " + std::string{key} + ": " + text;
    }
    const std::string kind = e["ph"].get<std::string>();
    if (!e["name"].is_string() || !e["pid"].is_number_integer() || !e["tid"].is_number_integer())
      return "type: " + text;
    if (!e["ts"].is_number() || e["ts"].get<double>() < 0) return "time: " + text;
    const Track track{e["pid"].get<std::int64_t>(), e["tid"].get<std::int64_t>()};
    const std::int64_t ns = ns_of(e["ts"]);
    if (kind == "M") {
      if (!e.contains("args") || e["args"].empty()) return "label without text: " + text;
      if (e["name"] == "thread_name") named.insert(track);
      continue;
    }
    if (kind == "C") {
      if (!e.contains("args") || e["args"].empty()) return "counter without value: " + text;
      for (const auto& value : e["args"]) {
        if (!value.is_number()) return "counter: " + text;
      }
      auto& before = last_counter[{track.first, e["name"].get<std::string>()}];
      if (ns < before) return "a counter goes back in time: " + text;
      before = ns;
      continue;
    }
    if (named.count(track) == 0) return "a track without a name: " + text;
    if (ns < last[track]) return "goes back in time: " + text;
    last[track] = ns;
    if (kind == "B") {
      if (!e.contains("args")) return "span: " + text;
      names[track].push_back(e["name"].get<std::string>());
    } else if (kind == "E") {
      if (names[track].empty()) return "an end without a beginning: " + text;
      if (names[track].back() != e["name"].get<std::string>()) return "an end of another span: " + text;
      names[track].pop_back();
    } else if (kind == "s" || kind == "f") {
      if (!e.contains("id") || !e.contains("cat")) return "flow: " + text;
      if (kind == "f" && (!e.contains("bp") || e["bp"] != "e")) return "flow binds to the next span: " + text;
      if (!(kind == "s" ? sources : sinks).emplace(e["id"].get<std::int64_t>(), ns).second) return "id twice: " + text;
      if (names[track].empty()) return "a flow outside of any span: " + text;
    } else {
      return "unknown kind: " + text;
    }
  }
  for (const auto& [track, open] : names) {
    if (!open.empty()) return "a span without an end, on track " + std::to_string(track.second);
  }
  if (sources.size() != sinks.size()) return "flows without an end";
  for (const auto& [id, ns] : sources) {
    const auto sink = sinks.find(id);
    if (sink == sinks.end()) return "a flow without an end: " + std::to_string(id);
    if (sink->second < ns) return "a flow back in time: " + std::to_string(id);
  }
  return {};
}

/// A span of a trace, in nanoseconds.
struct TraceSpan {
  std::string name;
  std::int64_t track = 0;
  std::int64_t from = 0;
  std::int64_t until = 0;
};

/// All spans of a whole trace, in the order of their ends.
inline std::vector<TraceSpan> spans_of(const Json& trace) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<TraceSpan>> open;
  std::vector<TraceSpan> spans;
  for (const Json& e : trace["traceEvents"]) {
    auto& stack = open[{e["pid"].get<std::int64_t>(), e["tid"].get<std::int64_t>()}];
    if (e["ph"] == "B") {
      stack.push_back({e["name"].get<std::string>(), e["tid"].get<std::int64_t>(), ns_of(e["ts"]), 0});
    } else if (e["ph"] == "E") {
      spans.push_back(std::move(stack.back()));
      spans.back().until = ns_of(e["ts"]);
      stack.pop_back();
    }
  }
  return spans;
}

}  // namespace rondo::test
