// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/problem.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rondo::search::detail {

using memory::Buffer;
using memory::Problem;

/// A problem in which buffers that belong together are one, for plans at the lower bound. A time is full if the bytes
/// in use before it and after it are both those of the bound.
///
/// * If one buffer ends at a full time and one starts, both have the same offset in every plan at the bound: they
/// become
///   one that lives longer. The same is done where several end and start, if their sizes match them without ambiguity.
/// * Two buffers with the same lifetime, between full times or the ends of the schedule, become one that is larger.
///
/// What is joined may be joined again, so a schedule that was cut out of one block by straight cuts becomes one block.
/// Only the first of these rules is exact, so a plan of the joined problem above the bound says nothing about the
/// other. Buffers with gaps, fixed offsets or conflicts are left alone. Cost: O(n log n) time, O(n) memory.
class JoinedBuffers {
 public:
  JoinedBuffers(const Problem& problem, std::int64_t bound) : problem_{problem} {
    if (!problem.conflicts.empty() || !find_full_times(bound)) return;
    for (std::uint32_t i = 0; i < problem.size(); ++i) {
      const Buffer& b = problem.buffers[i];
      nodes_.push_back({time_of(b.lower), time_of(b.upper), b.size, b.alignment});
      // The others stay as they are, and keep the times at which they start or end from being used.
      nodes_.back().joinable = b.occupies() && b.gaps.empty() && !b.is_fixed();
      if (b.occupies()) enter(i);
    }
    for (std::uint32_t i = 0; i < problem.size(); ++i) stack(i);
    for (std::size_t before = 0; before != nodes_.size();) {
      before = nodes_.size();
      for (std::uint32_t t = 0; t < times_.size(); ++t) follow(t);
      if (before == nodes_.size()) match_sizes();
    }
    build();
  }

  /// Whether any buffers were joined.
  [[nodiscard]] bool any() const noexcept { return nodes_.size() > problem_.size(); }
  [[nodiscard]] const Problem& joined() const noexcept { return joined_; }

  /// The offsets of the given problem for those of the joined one.
  [[nodiscard]] std::vector<std::int64_t> expand(const std::vector<std::int64_t>& offsets) const {
    std::vector<std::int64_t> at(nodes_.size(), 0);
    for (std::size_t k = 0; k < roots_.size(); ++k) at[roots_[k]] = offsets[k];
    for (std::size_t n = nodes_.size(); n-- > problem_.size();) {
      const Node& node = nodes_[n];
      at[node.first] = at[n];
      at[node.second] = at[n] + (node.stacked ? nodes_[node.first].size : 0);
    }
    at.resize(problem_.size());
    return at;
  }

 private:
  struct Node {
    std::uint32_t start = 0;  ///< numbers of times
    std::uint32_t end = 0;
    std::int64_t size = 0;
    std::int64_t alignment = 1;
    std::uint32_t first = 0;  ///< the two that it consists of, unless it is a buffer of the problem
    std::uint32_t second = 0;
    bool stacked = false;  ///< the second lies on top of the first; otherwise it follows it in time
    bool joinable = true;
    bool alive = true;  ///< not yet part of another
  };
  /// The buffers that end, or start, at a time: their number, and the sum of their indices, so that a single one is
  /// known.
  struct Side {
    std::uint32_t count = 0;
    std::uint64_t sum = 0;
  };

  bool find_full_times(std::int64_t bound) {
    std::vector<std::pair<std::int64_t, std::int64_t>> changes;
    for (const Buffer& b : problem_.buffers) {
      times_.push_back(b.lower);
      times_.push_back(b.upper);
      for_each_use(b, [&](memory::Span use) {
        changes.emplace_back(use.lower, b.size);
        changes.emplace_back(use.upper, -b.size);
      });
    }
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
    std::sort(changes.begin(), changes.end());
    full_.assign(times_.size(), false);
    ends_.resize(times_.size());
    starts_.resize(times_.size());
    std::int64_t load = 0;
    bool any = false;
    auto change = changes.begin();
    for (std::size_t t = 0; t < times_.size(); ++t) {
      const std::int64_t before = load;
      for (; change != changes.end() && change->first <= times_[t]; ++change) load += change->second;
      full_[t] = before == bound && load == bound;
      any = any || full_[t];
    }
    return any;
  }

  [[nodiscard]] std::uint32_t time_of(std::int64_t time) const {
    return static_cast<std::uint32_t>(std::lower_bound(times_.begin(), times_.end(), time) - times_.begin());
  }
  [[nodiscard]] bool is_border(std::uint32_t t) const { return full_[t] || t == 0 || t + 1 == times_.size(); }
  [[nodiscard]] std::uint64_t lifetime(const Node& node) const {
    return static_cast<std::uint64_t>(node.start) << 32 | node.end;
  }

  void enter(std::uint32_t n) {
    Side& start = starts_[nodes_[n].start];
    Side& end = ends_[nodes_[n].end];
    ++start.count, start.sum += n;
    ++end.count, end.sum += n;
  }
  void leave(std::uint32_t n) {
    Node& node = nodes_[n];
    Side& start = starts_[node.start];
    Side& end = ends_[node.end];
    --start.count, start.sum -= n;
    --end.count, end.sum -= n;
    node.alive = false;
    if (const auto found = by_lifetime_.find(lifetime(node)); found != by_lifetime_.end() && found->second == n) {
      by_lifetime_.erase(found);
    }
  }

  std::uint32_t join(std::uint32_t a, std::uint32_t b, bool stacked) {
    leave(a);
    leave(b);
    const Node& x = nodes_[a];
    const Node& y = nodes_[b];
    const auto n = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(
        {x.start, y.end, stacked ? x.size + y.size : x.size, std::max(x.alignment, y.alignment), a, b, stacked});
    enter(n);
    return n;
  }

  /// Joins a node with another of the same lifetime, and the result with what follows from that.
  void stack(std::uint32_t n) {
    const Node node = nodes_[n];
    if (!node.alive || !node.joinable || !is_border(node.start) || !is_border(node.end)) return;
    const auto [found, is_new] = by_lifetime_.try_emplace(lifetime(node), n);
    if (is_new || found->second == n) return;
    const std::uint32_t other = found->second;
    if (node.size % nodes_[other].alignment == 0) return stack(join(n, other, true));
    if (nodes_[other].size % node.alignment == 0) return stack(join(other, n, true));
  }

  /// Joins the buffer that ends at a time with the one that starts there, as long as there is just one of each.
  void follow(std::uint32_t t) {
    while (full_[t] && ends_[t].count == 1 && starts_[t].count == 1) {
      const auto a = static_cast<std::uint32_t>(ends_[t].sum);
      const auto b = static_cast<std::uint32_t>(starts_[t].sum);
      if (!nodes_[a].joinable || !nodes_[b].joinable || nodes_[a].size != nodes_[b].size) return;
      const std::uint32_t n = join(a, b, false);
      const Node node = nodes_[n];
      stack(n);
      // A time before this one may now have one buffer on each side.
      if (node.start < t && starts_[node.start].count == 1 && ends_[node.start].count == 1) t = node.start;
    }
  }

  /// Joins what ends with what starts at the same full time where only one of each has that size.
  void match_sizes() {
    std::map<std::pair<std::uint32_t, std::int64_t>, std::pair<Side, Side>> sizes;  // by time and size: ends, starts
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = nodes_[n];
      if (!node.alive || !node.joinable) continue;
      if (full_[node.end]) {
        Side& side = sizes[{node.end, node.size}].first;
        ++side.count, side.sum += n;
      }
      if (full_[node.start]) {
        Side& side = sizes[{node.start, node.size}].second;
        ++side.count, side.sum += n;
      }
    }
    for (const auto& [key, sides] : sizes) {
      if (sides.first.count != 1 || sides.second.count != 1) continue;
      const auto a = static_cast<std::uint32_t>(sides.first.sum);
      const auto b = static_cast<std::uint32_t>(sides.second.sum);
      if (nodes_[a].alive && nodes_[b].alive) stack(join(a, b, false));
    }
  }

  void build() {
    if (!any()) return;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = nodes_[n];
      if (!node.alive) continue;
      roots_.push_back(n);
      Buffer b;
      if (n < problem_.size()) b = problem_.buffers[n];
      b.lower = times_[node.start];
      b.upper = times_[node.end];
      b.size = node.size;
      b.alignment = node.alignment;
      joined_.buffers.push_back(std::move(b));
    }
  }

  const Problem& problem_;
  std::vector<std::int64_t> times_{};
  std::vector<bool> full_{};
  std::vector<Side> ends_{}, starts_{};
  std::vector<Node> nodes_{};
  std::unordered_map<std::uint64_t, std::uint32_t> by_lifetime_{};
  std::vector<std::uint32_t> roots_{};
  Problem joined_{};
};

}  // namespace rondo::search::detail
