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

/// What a trace file must keep to, whoever wrote it.
namespace rondo::test {

using Json = nlohmann::json;

/// Nanoseconds, exactly: three places behind the point are whole numbers.
inline std::int64_t ns_of(const Json& microseconds) {
  return static_cast<std::int64_t>(microseconds.get<double>() * 1000 + 0.5);
}

/// The first thing that is wrong with a trace, or nothing: required keys, order on each track, nesting, flows that
/// meet.
inline std::string fault_in(const Json& trace) {
  if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array()) return "no traceEvents";
  using Track = std::pair<std::int64_t, std::int64_t>;
  std::map<Track, std::int64_t> last;
  std::map<Track, std::vector<std::int64_t>> open;  // ends of the spans that hold this place
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> last_counter;
  std::map<std::int64_t, std::int64_t> sources;
  std::map<std::int64_t, std::int64_t> sinks;
  std::set<Track> named;
  std::map<Track, std::vector<std::pair<std::int64_t, std::int64_t>>> spans;
  for (const Json& e : trace["traceEvents"]) {
    const std::string text = e.dump();
    for (const char* key : {"name", "ph", "pid", "tid", "ts"}) {
      if (!e.contains(key)) return "no " + std::string{key} + ": " + text;
    }
    if (!e["name"].is_string() || !e["pid"].is_number_integer() || !e["tid"].is_number_integer())
      return "type: " + text;
    if (!e["ts"].is_number() || e["ts"].get<double>() < 0) return "time: " + text;
    const Track track{e["pid"].get<std::int64_t>(), e["tid"].get<std::int64_t>()};
    const std::string kind = e["ph"].get<std::string>();
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
    if (kind == "X") {
      if (!e.contains("dur") || !e.contains("args")) return "span: " + text;
      const std::int64_t end = ns + ns_of(e["dur"]);
      auto& stack = open[track];
      while (!stack.empty() && stack.back() <= ns) stack.pop_back();
      if (!stack.empty() && end > stack.back()) return "overlaps the span before it: " + text;
      stack.push_back(end);
      spans[track].emplace_back(ns, end);
    } else if (kind == "s" || kind == "f") {
      if (!e.contains("id") || !e.contains("cat")) return "flow: " + text;
      if (kind == "f" && (!e.contains("bp") || e["bp"] != "e")) return "flow binds to the next span: " + text;
      if (!(kind == "s" ? sources : sinks).emplace(e["id"].get<std::int64_t>(), ns).second) return "id twice: " + text;
      bool within = false;
      for (auto s = spans[track].rbegin(); s != spans[track].rend() && !within; ++s) {
        within = s->first <= ns && ns <= s->second;
        if (s->second < ns) break;
      }
      if (!within) return "a flow outside of any span: " + text;
    } else {
      return "unknown kind: " + text;
    }
  }
  if (sources.size() != sinks.size()) return "flows without an end";
  for (const auto& [id, ns] : sources) {
    const auto sink = sinks.find(id);
    if (sink == sinks.end()) return "a flow without an end: " + std::to_string(id);
    if (sink->second < ns) return "a flow back in time: " + std::to_string(id);
  }
  return {};
}

}  // namespace rondo::test
