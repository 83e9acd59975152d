// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/memory/problem.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace rondo::search::detail {

using memory::Buffer;
using memory::Problem;

/// A problem in which buffers that belong together are joined, for plans at the lower bound. A time is full if the
/// bytes in use before it and after it are both those of the bound. Then the buffers that end there leave exactly the
/// bytes that the buffers that start there take, so these are joined, in this order:
///
/// * The only buffer that ends at a full time and the only one that starts there: one that lives longer.
/// * Two with the same lifetime, if what ends when they start, or starts when they end, shows that they are neighbours:
///   one that is larger.
/// * Five that form a pinwheel: one in the middle, and four around it, each of which touches one side of the next.
/// * One that ends and one that starts at a full time, if they alone have their size there, and few others do so there.
/// * Two with the same lifetime, the longest-lived first.
/// * One that ends and one that starts at a full time and are the only ones of their size there.
///
/// Joined buffers may be joined again, so a schedule that was cut out of one block by straight cuts, or into pinwheels,
/// becomes one block. If few are left, these are taken apart again and joined in another order. Only the first of these
/// rules is exact, so a plan of the joined problem above the bound says nothing about the original problem. Buffers
/// with gaps, fixed offsets or conflicts are left alone. Cost: about O(n log n) time, O(n) memory.
class JoinedBuffers {
 public:
  JoinedBuffers(const Problem& problem, std::int64_t bound) : problem_{problem} {
    if (!problem.conflicts.empty() || !find_full_times(bound)) return;
    events_.resize(times_.size());
    nodes_.reserve(2 * problem.size());
    // By start, so that joined buffers are close in memory.
    order_.resize(problem.size());
    std::iota(order_.begin(), order_.end(), Index{0});
    std::sort(order_.begin(), order_.end(), [&](Index a, Index b) {
      return std::pair{problem.buffers[a].lower, a} < std::pair{problem.buffers[b].lower, b};
    });
    for (Index n = 0; n < problem.size(); ++n) {
      const Buffer& b = problem.buffers[order_[n]];
      // The others stay as they are, and keep the times at which they start or end from being used.
      add_node(b.lower, b.upper, b.size, b.alignment, b.occupies() && b.gaps.empty() && !b.is_fixed());
      if (b.occupies()) enter(n);
    }
    for (std::uint32_t t = 0; t < times_.size(); ++t) note_change(t);
    join_all(5);
    repair();
    build();
  }

  /// Whether any buffers were joined.
  [[nodiscard]] bool any() const noexcept { return roots_.size() < problem_.size() && !roots_.empty(); }
  [[nodiscard]] const Problem& joined() const noexcept { return joined_; }

  /// The offsets of the given problem for those of the joined one.
  [[nodiscard]] std::vector<std::int64_t> expand(const std::vector<std::int64_t>& offsets) const {
    std::vector<std::int64_t> at(nodes_.size(), 0);
    for (std::size_t k = 0; k < roots_.size(); ++k) at[roots_[k]] = offsets[k];
    for (std::size_t n = nodes_.size(); n-- > 0;) {
      if (nodes_[n].whole != none) at[n] = at[nodes_[n].whole] + nodes_[n].above;
    }
    std::vector<std::int64_t> result(problem_.size(), 0);
    for (std::size_t n = 0; n < problem_.size(); ++n) result[order_[n]] = at[n];
    return result;
  }

 private:
  using Index = std::uint32_t;
  static constexpr Index none = ~Index{0};
  enum Side : std::uint8_t { starts, ends };

  struct Node {
    Index start = 0;  ///< numbers of times
    Index end = 0;
    std::int64_t size = 0;
    std::int64_t alignment = 1;
    std::int64_t above = 0;  ///< its offset in the node that it is a part of
    Index whole = none;      ///< that node
    Index first_part = 0;    ///< its position in parts_
    Index parts = 0;         ///< the number of its parts; none if it is a buffer
    bool joinable = true;
    bool alive = false;  ///< whether it is neither a part of another node nor taken apart
    std::array<Index, 2> next{none, none}, previous{none, none};  ///< nodes with the same start and with the same end
  };
  struct Part {
    Index node;
    std::int64_t above;
  };
  /// The buffers that start and that end at a time.
  struct Event {
    std::array<Index, 2> first{none, none};
    std::array<std::uint32_t, 2> count{};
    bool full = false;
    bool is_noted = false;  ///< whether it is noted for the search for pinwheels
  };
  /// How sure it is that two buffers with the same lifetime are neighbours.
  enum Evidence : std::uint8_t { shown, likely, possible };

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
    events_.assign(times_.size(), {});
    std::int64_t load = 0;
    bool any = false;
    auto change = changes.begin();
    for (std::size_t t = 0; t < times_.size(); ++t) {
      const std::int64_t before = load;
      for (; change != changes.end() && change->first <= times_[t]; ++change) load += change->second;
      events_[t].full = before == bound && load == bound;
      any = any || events_[t].full;
    }
    return any;
  }

  [[nodiscard]] Index time_of(std::int64_t time) const {
    return static_cast<Index>(std::lower_bound(times_.begin(), times_.end(), time) - times_.begin());
  }
  [[nodiscard]] bool is_border(Index t) const { return events_[t].full || t == 0 || t + 1 == times_.size(); }
  [[nodiscard]] Index time(Index n, Side side) const { return side == starts ? nodes_[n].start : nodes_[n].end; }
  [[nodiscard]] Index first(Index t, Side side) const { return events_[t].first[side]; }
  [[nodiscard]] std::uint32_t count(Index t, Side side) const { return events_[t].count[side]; }
  [[nodiscard]] bool has_at_most(std::uint32_t limit, Index t) const {
    return count(t, starts) <= limit && count(t, ends) <= limit;
  }

  void add_node(std::int64_t lower, std::int64_t upper, std::int64_t size, std::int64_t alignment, bool joinable) {
    nodes_.push_back(
        {.start = time_of(lower), .end = time_of(upper), .size = size, .alignment = alignment, .joinable = joinable});
  }
  void enter(Index n) {
    nodes_[n].alive = true;
    ++alive_;
    for (const Side side : {starts, ends}) {
      Event& event = events_[time(n, side)];
      nodes_[n].next[side] = event.first[side];
      nodes_[n].previous[side] = none;
      if (event.first[side] != none) nodes_[event.first[side]].previous[side] = n;
      event.first[side] = n;
      ++event.count[side];
    }
    seek_neighbour(n, shown);
  }
  void leave(Index n) {
    nodes_[n].alive = false;
    --alive_;
    for (const Side side : {starts, ends}) {
      Event& event = events_[time(n, side)];
      const Index next = nodes_[n].next[side];
      const Index previous = nodes_[n].previous[side];
      if (next != none) nodes_[next].previous[side] = previous;
      (previous == none ? event.first[side] : nodes_[previous].next[side]) = next;
      --event.count[side];
    }
  }
  void seek_neighbour(Index n, Evidence evidence) {
    const Node& node = nodes_[n];
    if (!node.joinable || !is_border(node.start) || !is_border(node.end)) return;
    // The longest-lived first: fewer others have the same lifetime by chance.
    seekers_[evidence][31 - std::bit_width(node.end - node.start)].push_back(n);
  }
  void note_change(Index t) {
    Event& event = events_[t];
    if (!event.full) return;
    if (event.count[starts] == 1 && event.count[ends] == 1) return single_.push_back(t);
    for (const Side side : {starts, ends}) {
      if (event.count[1 - side] != 1 || event.count[side] > 8) continue;
      for (Index n = event.first[side]; n != none; n = nodes_[n].next[side]) seek_neighbour(n, shown);
    }
    if (!event.is_noted) noted_.push_back(t);
    event.is_noted = true;
  }

  /// Joins nodes to one that lives from the start of the first part to the end of the last. Returns false if their
  /// alignments do not allow that.
  template <std::size_t count>
  bool join(std::int64_t size, const std::array<Part, count>& parts) {
    Node whole{.start = nodes_[parts.front().node].start, .end = nodes_[parts.back().node].end, .size = size};
    for (const Part& part : parts) {
      const Node& node = nodes_[part.node];
      if (!node.joinable || part.above % node.alignment != 0) return false;
      whole.alignment = std::max(whole.alignment, node.alignment);
    }
    whole.first_part = static_cast<Index>(parts_.size());
    whole.parts = count;
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    nodes_.push_back(whole);
    put_together(static_cast<Index>(nodes_.size() - 1));
    return true;
  }
  [[nodiscard]] std::span<const Part> parts(Index n) const {
    return {parts_.data() + nodes_[n].first_part, nodes_[n].parts};
  }
  void put_together(Index n) {
    for (const Part& part : parts(n)) {
      leave(part.node);
      nodes_[part.node].whole = n;
      nodes_[part.node].above = part.above;
    }
    enter(n);
    note_changes(n);
  }
  void take_apart(Index n) {
    leave(n);
    for (const Part& part : parts(n)) {
      nodes_[part.node].whole = none;
      enter(part.node);
    }
    note_changes(n);
  }
  void note_changes(Index n) {
    for (const Part& part : parts(n)) {
      note_change(nodes_[part.node].start);
      note_change(nodes_[part.node].end);
    }
  }
  bool follow(Index a, Index b) {
    return nodes_[a].size == nodes_[b].size && join(nodes_[a].size, std::array{Part{a, 0}, Part{b, 0}});
  }
  bool stack(Index a, Index b) {
    const std::int64_t size = nodes_[a].size + nodes_[b].size;
    return join(size, std::array{Part{a, 0}, Part{b, nodes_[a].size}}) ||
           join(size, std::array{Part{b, 0}, Part{a, nodes_[b].size}});
  }

  /// Joins all that can be joined. Sizes are compared first at times at which at most `few` start and `few` end.
  void join_all(std::uint32_t few) {
    few_ = few;
    while (join_next()) {
    }
  }

  /// Nodes that were joined by chance block others. So this takes the remaining nodes apart again, place by place,
  /// joins them with other limits, and keeps the result unless it has more nodes: as many may lead to fewer later.
  void repair() {
    constexpr std::array<std::uint32_t, 6> limits{3, 7, 4, 2, 10, 5};
    const std::size_t most = std::min(16 * problem_.size(), problem_.size() / 2 + 1'000'000);
    std::size_t work = 0, turn = 0;
    for (int pass = 0; pass < 60 && work < most && alive_ > 1 && alive_ <= problem_.size() / 8; ++pass) {
      std::vector<Index> left;
      for (Index n = 0; n < nodes_.size(); ++n) {
        if (nodes_[n].alive) left.push_back(n);
      }
      for (const Index n : left) {
        if (!nodes_[n].alive || work > most) continue;
        work += rejoin_around(n, 1 + turn % 12, limits[turn / 12 % limits.size()]);
        ++turn;
      }
    }
  }

  /// Takes apart a node and those that start or end when it does, this many times, and joins the parts. Undoes that if
  /// more nodes are left. Returns the number of nodes that it changed.
  std::size_t rejoin_around(Index node, std::size_t times, std::uint32_t few) {
    const std::size_t before = alive_;
    const std::size_t nodes = nodes_.size();
    const std::size_t all_parts = parts_.size();
    std::vector<Index> whole{node};
    for (const Side side : {starts, ends}) {
      for (const Index t : {nodes_[node].start, nodes_[node].end}) {
        for (Index n = first(t, side); n != none && whole.size() < 24; n = nodes_[n].next[side]) {
          if (std::find(whole.begin(), whole.end(), n) == whole.end()) whole.push_back(n);
        }
      }
    }
    std::vector<Index> apart;
    for (; times > 0 && apart.size() < 4000; --times) {
      std::vector<Index> next;
      for (const Index n : whole) {
        if (nodes_[n].parts == 0) continue;
        take_apart(n);
        apart.push_back(n);
        for (const Part& part : parts(n)) next.push_back(part.node);
      }
      whole.swap(next);
    }
    join_all(few);
    const std::size_t changed = 1 + apart.size() + nodes_.size() - nodes;
    if (alive_ <= before) return changed;
    while (nodes_.size() > nodes) {
      take_apart(static_cast<Index>(nodes_.size() - 1));
      nodes_.pop_back();
    }
    parts_.resize(all_parts);
    for (; !apart.empty(); apart.pop_back()) put_together(apart.back());
    forget_changes();
    return changed;
  }

  void forget_changes() {
    for (const Index t : noted_) events_[t].is_noted = false;
    for (std::vector<Index>* list : {&single_, &noted_, &unsure_, &last_}) list->clear();
    seekers_ = {};
  }

  /// Takes the next step by the first rule that may apply; false if nothing is left to try.
  bool join_next() {
    if (!single_.empty()) {
      const Index t = take(single_);
      if (count(t, starts) == 1 && count(t, ends) == 1) follow(first(t, ends), first(t, starts));
      return true;
    }
    if (join_neighbours(shown)) return true;
    if (!noted_.empty()) {
      const Index t = take(noted_);
      events_[t].is_noted = false;
      if (!join_pinwheel_at(t)) unsure_.push_back(t);
      return true;
    }
    if (!unsure_.empty()) {
      const Index t = take(unsure_);
      if (!has_at_most(few_, t) || !match_sizes(t)) last_.push_back(t);
      return true;
    }
    if (join_neighbours(likely) || join_neighbours(possible)) return true;
    if (last_.empty()) return false;
    std::sort(last_.begin(), last_.end());
    last_.erase(std::unique(last_.begin(), last_.end()), last_.end());
    for (const Index t : std::exchange(last_, {})) match_sizes(t);
    return true;
  }
  static Index take(std::vector<Index>& from) {
    const Index last = from.back();
    from.pop_back();
    return last;
  }

  /// Takes one node that seeks a neighbour, if there is one.
  bool join_neighbours(Evidence evidence) {
    for (std::vector<Index>& seekers : seekers_[evidence]) {
      if (seekers.empty()) continue;
      const Index n = take(seekers);
      if (!nodes_[n].alive) return true;
      const auto [other, found] = neighbour(n);
      if (other == none) return true;
      if (found > evidence) {
        seek_neighbour(n, found);
      } else {
        stack(n, other);
      }
      return true;
    }
    return false;
  }

  /// A node with the same lifetime, and how sure it is that both are neighbours.
  [[nodiscard]] std::pair<Index, Evidence> neighbour(Index n) const {
    const Node& node = nodes_[n];
    const Side side = count(node.start, starts) <= count(node.end, ends) ? starts : ends;
    std::pair<Index, Evidence> best{none, possible};
    int looks = 256;  // lists are rarely that long
    for (Index k = first(time(n, side), side); k != none && --looks > 0; k = nodes_[k].next[side]) {
      const Node& other = nodes_[k];
      if (k == n || !other.joinable || other.start != node.start || other.end != node.end) continue;
      const std::int64_t size = node.size + other.size;
      const int before = signs(node.start, ends, size);
      const int after = signs(node.end, starts, size);
      const Evidence evidence = before == 2 || after == 2 || before + after == 2 ? shown
                                : before + after > 0                             ? likely
                                                                                 : possible;
      if (best.first == none || evidence < best.second) best = {k, evidence};
      if (evidence == shown) break;
    }
    return best;
  }
  /// Returns 2 if a node that ends (or starts) at a time has this size, 1 if it is the only node, or if it is the end
  /// of all, otherwise 0.
  [[nodiscard]] int signs(Index t, Side side, std::int64_t size) const {
    int looks = 32;
    for (Index k = first(t, side); k != none && --looks > 0; k = nodes_[k].next[side]) {
      if (nodes_[k].size == size) return 2;
    }
    return count(t, side) <= 1 ? 1 : 0;
  }

  bool join_pinwheel_at(Index t) {
    if (!has_at_most(many, t)) return false;
    for (const Side side : {starts, ends}) {
      for (Index n = first(t, side); n != none; n = nodes_[n].next[side]) {
        if (join_pinwheel_around(n)) return true;
      }
    }
    return false;
  }

  /// Joins a node and four around it. Before it, `left` ends where it and `top` start; after it, `right` starts where
  /// it and `bottom` end:
  ///
  ///     left    top     top          The mirror image has the same lifetimes and sizes,
  ///     left    node    right        and so is planned in this way, too.
  ///     bottom  bottom  right
  bool join_pinwheel_around(Index n) {
    const Node& node = nodes_[n];
    const Index from = node.start;
    const Index until = node.end;
    if (!events_[from].full || !events_[until].full || !has_at_most(many, from) || !has_at_most(many, until))
      return false;
    for (Index left = first(from, ends); left != none; left = nodes_[left].next[ends]) {
      if (!is_border(nodes_[left].start)) continue;
      for (Index top = first(from, starts); top != none; top = nodes_[top].next[starts]) {
        if (top == n || nodes_[left].size != node.size + nodes_[top].size || !is_border(nodes_[top].end)) continue;
        for (Index bottom = first(until, ends); bottom != none; bottom = nodes_[bottom].next[ends]) {
          if (bottom == n || nodes_[bottom].start != nodes_[left].start) continue;
          for (Index right = first(until, starts); right != none; right = nodes_[right].next[starts]) {
            if (nodes_[right].size != node.size + nodes_[bottom].size || nodes_[right].end != nodes_[top].end) continue;
            const std::int64_t low = nodes_[bottom].size;
            if (join(low + nodes_[left].size, std::array{Part{bottom, 0}, Part{left, low}, Part{n, low},
                                                         Part{top, nodes_[right].size}, Part{right, 0}})) {
              return true;
            }
          }
        }
      }
    }
    return false;
  }

  /// Joins a node that ends with one that starts at a time where only one of each has that size.
  bool match_sizes(Index t) {
    for (const Side side : {starts, ends}) {
      sizes_[side].clear();
      for (Index n = first(t, side); n != none; n = nodes_[n].next[side]) sizes_[side].emplace_back(nodes_[n].size, n);
      std::sort(sizes_[side].begin(), sizes_[side].end());
    }
    const auto run = [](auto begin, auto end) {
      return std::find_if(begin, end, [&](const auto& each) { return each.first != begin->first; });
    };
    bool any = false;
    auto b = sizes_[starts].cbegin();
    for (auto a = sizes_[ends].cbegin(); a != sizes_[ends].cend();) {
      const auto after_a = run(a, sizes_[ends].cend());
      while (b != sizes_[starts].cend() && b->first < a->first) ++b;
      if (b == sizes_[starts].cend()) break;
      if (b->first == a->first && after_a - a == 1 && run(b, sizes_[starts].cend()) - b == 1) {
        any = follow(a->second, b->second) || any;
      }
      a = after_a;
    }
    return any;
  }

  void build() {
    for (Index n = 0; n < nodes_.size(); ++n) {
      if (n < problem_.size() ? nodes_[n].whole == none : nodes_[n].alive) roots_.push_back(n);
    }
    // In the order of the problem, followed by the joined nodes.
    const auto number = [&](Index n) { return n < problem_.size() ? order_[n] : n; };
    std::sort(roots_.begin(), roots_.end(), [&](Index a, Index b) { return number(a) < number(b); });
    for (const Index n : roots_) {
      const Node& node = nodes_[n];
      Buffer b = n < problem_.size() ? problem_.buffers[order_[n]] : Buffer{};
      b.lower = times_[node.start];
      b.upper = times_[node.end];
      b.size = node.size;
      b.alignment = node.alignment;
      joined_.buffers.push_back(std::move(b));
    }
  }

  static constexpr std::uint32_t many = 16;

  const Problem& problem_;
  std::vector<std::int64_t> times_{};
  std::vector<Event> events_{};
  std::vector<Index> order_{};  ///< the buffers, by start; the first nodes are theirs
  std::vector<Node> nodes_{};
  std::vector<Part> parts_{};
  std::size_t alive_ = 0;
  std::uint32_t few_ = 5;
  std::vector<Index> single_{};                                  ///< times at which one ends and one starts
  std::vector<Index> noted_{};                                   ///< times at which there may be a pinwheel
  std::vector<Index> unsure_{};                                  ///< times at which equal sizes are tried next
  std::vector<Index> last_{};                                    ///< times that wait until nothing else is left
  std::array<std::array<std::vector<Index>, 32>, 3> seekers_{};  ///< by evidence and lifetime
  std::array<std::vector<std::pair<std::int64_t, Index>>, 2> sizes_{};
  std::vector<Index> roots_{};
  Problem joined_{};
};

}  // namespace rondo::search::detail
