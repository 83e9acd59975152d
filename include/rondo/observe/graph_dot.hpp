// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/freeze.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/observe/concepts.hpp>
#include <rondo/observe/graph_notes.hpp>

#include <fmt/format.h>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// A graph as text for Graphviz. For set-up only.
namespace rondo::observe {

namespace detail {

/// Escapes text for a quoted string in DOT.
[[nodiscard]] inline std::string dot_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result;
}

/// "1.25 us", with the unit that leaves one to three digits before the point.
[[nodiscard]] inline std::string duration_text(double ns) {
  constexpr const char* units[] = {"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  for (; ns >= 1000 && unit < 3; ++unit) ns /= 1000;
  return fmt::format("{:.{}f} {}", ns, unit == 0 ? 0 : 2, units[unit]);
}

/// The addresses among a task's arguments with the access `wanted`.
[[nodiscard]] inline auto addresses(const graph::GraphView& graph, std::size_t task, bool (*wanted)(Access)) {
  const std::span<const graph::ArgRecord> args = graph.args_of(graph.tasks[task]);
  return args | ::ranges::views::filter([wanted](const graph::ArgRecord& arg) {
           return arg.kind == graph::ArgRecord::Kind::address && wanted(arg.access);
         });
}

/// The lines of a task: its name; its core, blocks and time if known; each tensor that it writes, and its place.
[[nodiscard]] inline std::vector<std::string> task_lines(const graph::GraphView& graph, std::size_t t,
                                                         const GraphNotes& notes) {
  const graph::TaskRecord& task = graph.tasks[t];
  std::vector<std::string> lines{std::string{graph.name(task.name)}};
  lines.emplace_back(rondo::to_string(task.core));
  if (task.blocks != 1) lines.back() += fmt::format(" x {}", task.blocks);
  if (t < notes.task_ns.size()) lines.back() += ", " + duration_text(notes.task_ns[t]);
  for (const graph::ArgRecord& arg : addresses(graph, t, writes)) {
    const graph::TensorRecord& tensor = graph.tensors[arg.tensor];
    lines.push_back(fmt::format("{}: {} B", graph.name(tensor.name), tensor.bytes));
    if (arg.tensor < notes.offsets.size() && notes.offsets[arg.tensor] != GraphNotes::not_placed) {
      lines.back() += fmt::format(" at {}", notes.offsets[arg.tensor]);
    }
  }
  return lines;
}

/// All arguments of a task, for the tooltip.
[[nodiscard]] inline std::string task_title(const graph::GraphView& graph, std::size_t t) {
  std::string title = fmt::format("task {} {}", graph.tasks[t].added_as, graph.name(graph.tasks[t].name));
  for (const graph::ArgRecord& arg : addresses(graph, t, [](Access) { return true; })) {
    title += fmt::format("; {} {}",
                         !writes(arg.access) ? "reads"
                         : reads(arg.access) ? "reads and writes"
                                             : "writes",
                         graph.name(graph.tensors[arg.tensor].name));
  }
  return title;
}

/// The tensors that the task at `from` writes and the one at `to` reads; empty if the edge only keeps an order.
[[nodiscard]] inline std::string carried(const graph::GraphView& graph, std::size_t from, std::size_t to) {
  namespace views = ::ranges::views;
  const auto is_read = [&](const graph::ArgRecord& written) {
    return ::ranges::any_of(addresses(graph, to, reads), [&](const auto& arg) { return arg.tensor == written.tensor; });
  };
  const auto name = [&](const graph::ArgRecord& arg) {
    return std::string{graph.name(graph.tensors[arg.tensor].name)};
  };
  return addresses(graph, from, writes) | views::filter(is_read) | views::transform(name) | views::join(", ") |
         ::ranges::to<std::string>;
}

/// Whether the edge is on the critical path.
[[nodiscard]] inline bool is_step(const std::vector<std::uint32_t>& critical, std::uint32_t from, std::uint32_t to) {
  return ::ranges::any_of(::ranges::views::zip(critical, critical | ::ranges::views::drop(1)),
                          [&](const auto& step) { return step.first == from && step.second == to; });
}

/// The lines above the graph.
[[nodiscard]] inline std::vector<std::string> heading(const graph::GraphView& graph, const GraphNotes& notes) {
  std::vector<std::string> lines{fmt::format("{} tasks, {} edges", graph.tasks.size(), graph.successors.size()),
                                 "blue: cube core, green: vector core"};
  if (!notes.title.empty()) lines[0] += "; " + notes.title;
  if (notes.arena_bytes != 0) {
    lines[1] += fmt::format("; tensors at their offsets in an arena of {} B", notes.arena_bytes);
  }
  if (!notes.critical.empty()) {
    const auto time = [&](std::uint32_t t) { return t < notes.task_ns.size() ? notes.task_ns[t] : 0; };
    lines[1] += fmt::format("; red: critical path, {} tasks, {}", notes.critical.size(),
                            duration_text(::ranges::accumulate(notes.critical, 0.0, {}, time)));
  }
  return lines;
}

/// Joins lines to the text of a label, left-aligned.
[[nodiscard]] inline std::string label(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += dot_text(line) + "\\l";
  return text;
}

/// The label of a loop's frame.
[[nodiscard]] inline std::string loop_label(const graph::GraphView& graph, const graph::LoopRecord& loop) {
  const graph::TaskRecord& decision = graph.tasks[loop.decision];
  std::string text{graph.name(decision.name)};
  if (loop.kind == graph::LoopRecord::Kind::when) return text;
  text = "repeat " + text;
  const ArgWord most = graph.args_of(decision).back().bits;
  if (most != 0) text += fmt::format(", at most {} times", most);
  return text;
}

/// Whether a picture shows an edge: edges that order a whole loop would hide those that carry data.
[[nodiscard]] inline bool is_shown(const graph::GraphView& graph, std::uint32_t from, std::uint32_t to,
                                   bool carries_data) {
  return carries_data || graph.loops.empty() || graph.tasks[from].loop == graph.tasks[to].loop;
}

}  // namespace detail

/// A graph as DOT: each task is a box, blue for the cube core and green for the vector core, with the tensors that it
/// writes; loops are frames around their tasks; an edge is labelled with the tensors that it carries, or dashed if it
/// only keeps an order. The critical path is red. Tooltips show the arguments of tasks.
[[nodiscard]] inline std::string to_dot(const graph::GraphView& graph, const GraphNotes& notes = {}) {
  constexpr const char* red = ", color=\"#cc0000\", penwidth=2";
  std::string dot = fmt::format(
      "digraph rondo {{\n"
      "  graph [fontname=\"sans-serif\", labelloc=t, labeljust=l, label=\"{}\"];\n"
      "  node [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\", fontsize=12];\n"
      "  edge [fontname=\"sans-serif\", fontsize=10, color=\"#666666\"];\n",
      detail::label(detail::heading(graph, notes)));
  std::vector<std::uint8_t> critical(graph.tasks.size());
  for (const std::uint32_t t : notes.critical) critical[t] = 1;
  for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
    for (std::size_t l = 0; l < graph.loops.size(); ++l) {
      if (!graph.loops[l].has_work() || graph.loops[l].first != t) continue;
      dot += fmt::format("  subgraph cluster_{} {{ label=\"{}\"; style=rounded; color=\"#888888\";\n", l,
                         detail::dot_text(detail::loop_label(graph, graph.loops[l])));
    }
    dot +=
        fmt::format("  t{} [label=\"{}\", tooltip=\"{}\", fillcolor=\"{}\"{}];\n", t,
                    detail::label(detail::task_lines(graph, t, notes)), detail::dot_text(detail::task_title(graph, t)),
                    graph.tasks[t].core == CoreType::cube ? "#cfe2f3" : "#d9ead3", critical[t] != 0 ? red : "");
    for (const graph::LoopRecord& loop : graph.loops) dot += loop.has_work() && loop.last == t + 1 ? "  }\n" : "";
  }
  for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
    for (const std::uint32_t s : graph.successors_of(t)) {
      const std::string carried = detail::dot_text(detail::carried(graph, t, s));
      if (!detail::is_shown(graph, t, s, !carried.empty())) continue;
      dot += fmt::format("  t{} -> t{} [{}=\"{}\"{}];\n", t, s, carried.empty() ? "style" : "label",
                         carried.empty() ? "dashed" : carried, detail::is_step(notes.critical, t, s) ? red : "");
    }
  }
  return dot + "}\n";
}

/// Converts a graph that is not frozen yet. @throws Error on errors of freeze()
[[nodiscard]] inline std::string to_dot(const TaskGraph& graph) { return to_dot(freeze(graph).view()); }

/// Converts a session's graph, with the notes of notes_of().
template <HasOneGraph Session>
[[nodiscard]] std::string to_dot(Session& session) {
  return to_dot(session.graph().view(), notes_of(session));
}

}  // namespace rondo::observe
