// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/freeze.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/observe/graph_notes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

/// Set-up only: a graph as text for Graphviz.
namespace rondo::observe {

namespace detail {

/// Text as it may stand between the quotes of a DOT string.
[[nodiscard]] inline std::string dot_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result;
}

/// "1.25 us", with the unit that leaves one to three places before the point.
[[nodiscard]] inline std::string duration_text(double ns) {
  constexpr const char* units[] = {"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  for (; ns >= 1000 && unit < 3; ++unit) ns /= 1000;
  char text[32];
  (void)std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", ns, units[unit]);
  return text;
}

/// A task's lines: its name; core and blocks, and its time if known; each tensor that it writes, with its place.
[[nodiscard]] inline std::vector<std::string> task_lines(const graph::GraphView& graph, std::size_t t,
                                                         const GraphNotes& notes) {
  const graph::TaskRecord& task = graph.tasks[t];
  std::vector<std::string> lines{std::string{graph.name(task.name)}};
  std::string second = rondo::to_string(task.core);
  if (task.blocks != 1) second += " x " + std::to_string(task.blocks);
  if (t < notes.task_ns.size()) second += ", " + duration_text(notes.task_ns[t]);
  lines.push_back(second);
  for (const graph::ArgRecord& arg : graph.args_of(task)) {
    if (arg.kind != graph::ArgRecord::Kind::address || !writes(arg.access)) continue;
    const graph::TensorRecord& tensor = graph.tensors[arg.tensor];
    std::string line = std::string{graph.name(tensor.name)} + ": " + std::to_string(tensor.bytes) + " B";
    if (arg.tensor < notes.offsets.size() && notes.offsets[arg.tensor] != GraphNotes::not_placed) {
      line += " at " + std::to_string(notes.offsets[arg.tensor]);
    }
    lines.push_back(line);
  }
  return lines;
}

/// What the task at `to` reads that the one at `from` writes; empty where an edge only keeps an order.
[[nodiscard]] inline std::string carried(const graph::GraphView& graph, std::size_t from, std::size_t to) {
  std::string names;
  for (const graph::ArgRecord& written : graph.args_of(graph.tasks[from])) {
    if (written.kind != graph::ArgRecord::Kind::address || !writes(written.access)) continue;
    const bool is_read = std::ranges::any_of(graph.args_of(graph.tasks[to]), [&](const graph::ArgRecord& arg) {
      return arg.kind == graph::ArgRecord::Kind::address && arg.tensor == written.tensor && reads(arg.access);
    });
    if (is_read) names += (names.empty() ? "" : ", ") + std::string{graph.name(graph.tensors[written.tensor].name)};
  }
  return names;
}

[[nodiscard]] inline std::vector<bool> marks(std::size_t tasks, const std::vector<std::uint32_t>& critical) {
  std::vector<bool> marked(tasks);
  for (const std::uint32_t t : critical) marked[t] = true;
  return marked;
}
/// Does the critical path go from one to the other?
[[nodiscard]] inline bool is_step(const std::vector<std::uint32_t>& critical, std::uint32_t from, std::uint32_t to) {
  for (std::size_t i = 1; i < critical.size(); ++i) {
    if (critical[i - 1] == from && critical[i] == to) return true;
  }
  return false;
}

}  // namespace detail

/// A graph as DOT: a box for each task, blue for the cube core and green for the vector core, with what it writes; an
/// edge is labelled with what it carries, and is dashed where it only keeps an order. The critical path is red.
[[nodiscard]] inline std::string to_dot(const graph::GraphView& graph, const GraphNotes& notes = {}) {
  const std::vector<bool> critical = detail::marks(graph.tasks.size(), notes.critical);
  std::string dot = "digraph rondo {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
  if (!notes.title.empty()) dot += "  label=\"" + detail::dot_text(notes.title) + "\";\n";
  for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
    std::string label;
    for (const std::string& line : detail::task_lines(graph, t, notes)) {
      label += (label.empty() ? "" : "\\n") + detail::dot_text(line);
    }
    dot += "  t" + std::to_string(t) + " [label=\"" + label + "\", fillcolor=\"" +
           (graph.tasks[t].core == CoreType::cube ? "#cfe2f3" : "#d9ead3") + '"' +
           (critical[t] ? ", color=\"#cc0000\", penwidth=2" : "") + "];\n";
  }
  for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
    for (const std::uint32_t s : graph.successors_of(t)) {
      const std::string carried = detail::carried(graph, t, s);
      dot += "  t" + std::to_string(t) + " -> t" + std::to_string(s) + " [" +
             (carried.empty() ? "style=dashed" : "label=\"" + detail::dot_text(carried) + '"') +
             (detail::is_step(notes.critical, t, s) ? ", color=\"#cc0000\", penwidth=2" : "") + "];\n";
    }
  }
  return dot + "}\n";
}

/// The same of a graph that is not frozen yet. @throws Error what freeze() throws
[[nodiscard]] inline std::string to_dot(const TaskGraph& graph) { return to_dot(freeze(graph).view()); }

/// The same of a session's graph, with what the session can tell of it; see notes_of().
template <Platform P, class Policies, class Graph>
[[nodiscard]] std::string to_dot(RoundSession<P, Policies, Graph>& session) {
  return to_dot(session.graph().view(), notes_of(session));
}

}  // namespace rondo::observe
