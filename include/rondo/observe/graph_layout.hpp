// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>

#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// Set-up only: where the tasks of a graph stand in a picture.
namespace rondo::observe {

/// Tasks in layers, each in the one behind the last that it waits for; an edge that skips layers has a place to pass
/// through in each of them. Within a layer tasks stand near the middle of what they are joined to.
///
/// Cost: O(sweeps · (places + edges) · log) with a place for each layer that an edge skips.
struct GraphLayout {
  /// A task, or where an edge passes through.
  struct Place {
    /// How many layers stand above it.
    std::uint32_t layer = 0;
    double x = 0;  ///< the middle
    /// In units of the picture.
    double width = 0;
    std::vector<std::uint32_t> above{};  ///< places of the layer before
    /// What stands under it.
    std::vector<std::uint32_t> below{};
  };
  /// From one task to another, through the layers between them.
  struct Edge {
    std::uint32_t from = 0;  ///< tasks
    /// Where it ends.
    std::uint32_t to = 0;
    std::vector<std::uint32_t> places{};  ///< from first to last, both tasks included
  };

  std::vector<Place> places{};                       ///< the tasks come first, in their order
  std::vector<Edge> edges{};                         ///< in the graph's order
  std::vector<std::vector<std::uint32_t>> layers{};  ///< places from left to right
  /// In units of the picture.
  double width = 0;

  /// `widths`: of each task's box. `gap`: between neighbours.
  GraphLayout(const graph::GraphView& graph, const std::vector<double>& widths, double gap) {
    make_places(graph, widths);
    for (int sweep = 0; sweep < 8; ++sweep) order(sweep % 2 == 0);
    for (const auto& layer : layers) pack(layer, gap);
    for (int sweep = 0; sweep < 16; ++sweep) pull(sweep % 2 == 0, gap);
    double left = places.empty() ? 0 : places[0].x;
    for (const Place& p : places) left = std::min(left, p.x - p.width / 2);
    for (Place& p : places) {
      p.x -= left;
      width = std::max(width, p.x + p.width / 2);
    }
  }

 private:
  void make_places(const graph::GraphView& graph, const std::vector<double>& widths) {
    const auto tasks = static_cast<std::uint32_t>(graph.tasks.size());
    places.resize(tasks);
    for (std::uint32_t t = 0; t < tasks; ++t) {
      places[t].width = widths[t];
      for (const std::uint32_t s : graph.successors_of(t)) {
        places[s].layer = std::max(places[s].layer, places[t].layer + 1);
      }
    }
    for (std::uint32_t t = 0; t < tasks; ++t) {
      for (const std::uint32_t s : graph.successors_of(t)) {
        Edge edge{t, s, {t}};
        for (std::uint32_t layer = places[t].layer + 1; layer < places[s].layer; ++layer) {
          edge.places.push_back(static_cast<std::uint32_t>(places.size()));
          places.push_back({layer, 0, 0, {}, {}});
        }
        edge.places.push_back(s);
        for (const auto [above, below] : ::ranges::views::zip(edge.places, edge.places | ::ranges::views::drop(1))) {
          places[above].below.push_back(below);
          places[below].above.push_back(above);
        }
        edges.push_back(std::move(edge));
      }
    }
    for (std::uint32_t p = 0; p < places.size(); ++p) {
      if (places[p].layer >= layers.size()) layers.resize(places[p].layer + 1);
      layers[places[p].layer].push_back(p);
    }
    for (const auto& layer : layers) number(layer);
  }

  /// While layers are put into order, x is the how-manieth a place is.
  void number(const std::vector<std::uint32_t>& layer) {
    for (const auto [i, place] : ::ranges::views::enumerate(layer)) places[place].x = static_cast<double>(i);
  }
  [[nodiscard]] double middle(std::uint32_t place, bool of_above) const {
    const auto& joined = of_above ? places[place].above : places[place].below;
    if (joined.empty()) return places[place].x;
    const auto x = [&](std::uint32_t p) { return places[p].x; };
    return ::ranges::accumulate(joined, 0.0, {}, x) / static_cast<double>(joined.size());
  }
  void order(bool down) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      auto& layer = layers[down ? i : layers.size() - 1 - i];
      std::vector<std::pair<double, double>> keys(places.size());
      for (const std::uint32_t p : layer) keys[p] = {middle(p, down), places[p].x};
      std::ranges::sort(layer, {}, [&](std::uint32_t p) { return keys[p]; });
      number(layer);
    }
  }

  [[nodiscard]] double distance(std::uint32_t a, std::uint32_t b, double gap) const {
    return (places[a].width + places[b].width) / 2 + gap;
  }
  void pack(const std::vector<std::uint32_t>& layer, double gap) {
    double x = 0;
    for (std::size_t i = 0; i < layer.size(); ++i) {
      if (i != 0) x += distance(layer[i - 1], layer[i], gap);
      places[layer[i]].x = x;
    }
    for (const std::uint32_t p : layer) places[p].x -= x / 2;
  }
  /// Moves each place towards the middle of what it is joined to, as far as its neighbours let it: from the left and
  /// from the right, and then half-way between the two.
  void pull(bool down, double gap) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto& layer = layers[down ? i : layers.size() - 1 - i];
      const auto wanted = [&](std::uint32_t place) { return middle(place, down); };
      std::vector<double> left = layer | ::ranges::views::transform(wanted) | ::ranges::to<std::vector>;
      std::vector<double> right = left;
      for (std::size_t k = 1; k < layer.size(); ++k) {
        left[k] = std::max(left[k], left[k - 1] + distance(layer[k - 1], layer[k], gap));
      }
      for (std::size_t k = layer.size(); k-- > 1;) {
        right[k - 1] = std::min(right[k - 1], right[k] - distance(layer[k - 1], layer[k], gap));
      }
      for (const auto [place, l, r] : ::ranges::views::zip(layer, left, right)) places[place].x = (l + r) / 2;
    }
  }
};

}  // namespace rondo::observe
