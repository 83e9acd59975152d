// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/xml_text.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/observe/graph_dot.hpp>
#include <rondo/observe/graph_layout.hpp>
#include <rondo/observe/graph_notes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

/// Set-up only: a graph as a picture.
namespace rondo::observe {

namespace detail {

[[nodiscard]] inline std::string pixels(double value) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%d.%d", static_cast<int>(value), static_cast<int>(value * 10) % 10);
  return text;
}

/// Bytes that all characters take but continuations of UTF-8, which is what is seen.
[[nodiscard]] inline std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// The arguments of a task, for who points at it.
[[nodiscard]] inline std::string task_title(const graph::GraphView& graph, const graph::TaskRecord& task) {
  std::string title = "task " + std::to_string(task.added_as) + " " + std::string{graph.name(task.name)};
  for (const graph::ArgRecord& arg : graph.args_of(task)) {
    if (arg.kind != graph::ArgRecord::Kind::address) continue;
    title += reads(arg.access) ? (writes(arg.access) ? "; reads and writes " : "; reads ") : "; writes ";
    title += graph.name(graph.tensors[arg.tensor].name);
  }
  return title;
}

}  // namespace detail

/// Draws a graph as SVG, time downwards: a box for each task, blue for the cube core and green for the vector core,
/// with what it writes and where that lies; an edge is dashed where it carries nothing and only keeps an order. The
/// critical path is red. Pointing at a box shows the task's arguments, at an edge what it carries.
inline void write_graph(std::ostream& out, const graph::GraphView& graph, const GraphNotes& notes = {}) {
  constexpr double margin = 30;
  constexpr double top = 60;
  constexpr double line_height = 16;
  constexpr double between = 46;
  std::vector<std::vector<std::string>> lines;
  std::vector<double> widths;
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    lines.push_back(detail::task_lines(graph, t, notes));
    std::size_t most = 8;
    for (const std::string& line : lines.back()) most = std::max(most, detail::characters(line));
    widths.push_back(16 + 7.1 * static_cast<double>(most));
  }
  const GraphLayout layout(graph, widths, 24);

  // Each layer is as high as its highest box.
  std::vector<double> layer_top(layout.layers.size() + 1, top);
  std::vector<double> layer_height(layout.layers.size());
  for (std::size_t l = 0; l < layout.layers.size(); ++l) {
    for (const std::uint32_t p : layout.layers[l]) {
      if (p < lines.size()) {
        layer_height[l] = std::max(layer_height[l], 10 + line_height * static_cast<double>(lines[p].size()));
      }
    }
    layer_top[l + 1] = layer_top[l] + layer_height[l] + between;
  }
  const double width = std::max(layout.width + 2 * margin, 640.0);
  const double height = layer_top.back() - (layout.layers.empty() ? 0 : between) + margin;
  const double shift = (width - layout.width) / 2;
  const auto x = [&](std::uint32_t place) { return layout.places[place].x + shift; };
  const auto text = [&](double at_x, double at_y, const std::string& what, const char* style) {
    out << "<text x=\"" << detail::pixels(at_x) << "\" y=\"" << detail::pixels(at_y) << "\" " << style << '>'
        << rondo::detail::xml_text(what) << "</text>\n";
  };

  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << detail::pixels(width) << ' '
      << detail::pixels(height) << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      << "<defs><marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
         "orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n";
  text(margin, 26,
       std::to_string(graph.tasks.size()) + " tasks, " + std::to_string(layout.edges.size()) + " edges" +
           (notes.title.empty() ? "" : "; " + notes.title),
       "font-size=\"15\" font-weight=\"bold\"");
  std::string legend = "blue: cube core, green: vector core";
  if (notes.arena_bytes != 0)
    legend += "; tensors at their offsets in an arena of " + std::to_string(notes.arena_bytes) + " B";
  if (!notes.critical.empty()) {
    double sum = 0;
    for (const std::uint32_t t : notes.critical) sum += t < notes.task_ns.size() ? notes.task_ns[t] : 0;
    legend +=
        "; red: critical path, " + std::to_string(notes.critical.size()) + " tasks, " + detail::duration_text(sum);
  }
  text(margin, 44, legend, "fill=\"#555\"");

  for (const GraphLayout::Edge& edge : layout.edges) {
    const std::string carried = detail::carried(graph, edge.from, edge.to);
    const bool red = detail::is_step(notes.critical, edge.from, edge.to);
    std::string path;
    for (std::size_t i = 1; i < edge.places.size(); ++i) {
      const std::uint32_t a = edge.places[i - 1];
      const std::uint32_t b = edge.places[i];
      const std::size_t la = layout.places[a].layer;
      const bool starts = i == 1;
      // A box may be lower than its layer; an edge that only passes through goes straight down it.
      const double from_y =
          layer_top[la] + (starts ? 10 + line_height * static_cast<double>(lines[edge.from].size()) : layer_height[la]);
      const double to_y = layer_top[la + 1];
      const double mid = (layer_top[la] + layer_height[la] + to_y) / 2;
      if (starts)
        path = "M" + detail::pixels(x(a)) + ' ' + detail::pixels(from_y);
      else
        path += "L" + detail::pixels(x(a)) + ' ' + detail::pixels(from_y);
      path += "C" + detail::pixels(x(a)) + ' ' + detail::pixels(mid) + ' ' + detail::pixels(x(b)) + ' ' +
              detail::pixels(mid) + ' ' + detail::pixels(x(b)) + ' ' + detail::pixels(to_y);
    }
    out << "<path d=\"" << path << "\" fill=\"none\" stroke=\"" << (red ? "#cc0000" : "#666") << "\" stroke-width=\""
        << (red ? 2 : 1) << '"' << (carried.empty() ? " stroke-dasharray=\"4 3\"" : "")
        << " marker-end=\"url(#end)\"><title>" << rondo::detail::xml_text(carried.empty() ? "order only" : carried)
        << "</title></path>\n";
  }
  const std::vector<bool> critical = detail::marks(graph.tasks.size(), notes.critical);
  for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) {
    const double left = x(t) - widths[t] / 2;
    const double box_top = layer_top[layout.places[t].layer];
    out << "<g><title>" << rondo::detail::xml_text(detail::task_title(graph, graph.tasks[t])) << "</title><rect x=\""
        << detail::pixels(left) << "\" y=\"" << detail::pixels(box_top) << "\" width=\"" << detail::pixels(widths[t])
        << "\" height=\"" << detail::pixels(10 + line_height * static_cast<double>(lines[t].size()))
        << "\" rx=\"4\" fill=\"" << (graph.tasks[t].core == CoreType::cube ? "#cfe2f3" : "#d9ead3") << "\" stroke=\""
        << (critical[t] ? "#cc0000" : "#666") << "\" stroke-width=\"" << (critical[t] ? 2 : 1) << "\"/>\n";
    for (std::size_t i = 0; i < lines[t].size(); ++i) {
      text(left + 8, box_top + line_height * static_cast<double>(i + 1), lines[t][i],
           i == 0 ? "font-weight=\"bold\"" : "fill=\"#333\"");
    }
    out << "</g>\n";
  }
  out << "</svg>\n";
}

/// The same of a graph that is not frozen yet. @throws Error what freeze() throws
inline void write_graph(std::ostream& out, const TaskGraph& graph) { write_graph(out, freeze(graph).view()); }

/// The same of a session's graph, with what the session can tell of it; see notes_of().
template <Platform P, class Policies, class Graph>
void write_graph(std::ostream& out, RoundSession<P, Policies, Graph>& session) {
  write_graph(out, session.graph().view(), notes_of(session));
}

}  // namespace rondo::observe
