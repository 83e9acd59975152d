// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/search/detail/search_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace rondo::search::detail {

using memory::SectionRange;

/// The sections of one part of a search, merged where that loses nothing: sections form a group if one of them has all
/// of the group's buffers that are left in the part. The deeper the node, the fewer groups there are. A group has the
/// lowest floor and the highest load of its sections. Thread safety: one thread at a time. Cost: linear in the part's
/// buffers and sections; no allocation after the first uses.
template <class Offset>
class SectionGroups {
 public:
  /// The state of one group at a node.
  struct Group {
    Offset floor = std::numeric_limits<Offset>::max();  ///< lowest possible offset of any of its buffers
    Offset rest = 0;                                    ///< sum of its buffers' sizes
    std::int32_t lowest = 0;                            ///< the number of buffers that can lie on the floor
    std::int32_t ready = 0;                             ///< those of them whose sections all have this floor
    std::int32_t section = 0;                           ///< a section of all of its buffers
  };

  explicit SectionGroups(std::int32_t sections) : edges_(static_cast<std::size_t>(sections)) {}

  /// Groups the sections of the buffers [begin, end), at least one, and resets all groups.
  void join(const SearchModel& model, const std::int32_t* begin, const std::int32_t* end) {
    std::int32_t from = model.sections;
    std::int32_t until = 0;
    for (const std::int32_t* c = begin; c != end; ++c) {
      const SectionRange hull = model.hull(static_cast<std::size_t>(*c));
      from = std::min(from, hull.first);
      until = std::max(until, hull.last);
    }
    std::fill(edges_.begin() + from, edges_.begin() + until, Edge{});
    for (const std::int32_t* c = begin; c != end; ++c) {
      const auto row = static_cast<std::size_t>(*c);
      for (const SectionRange* r = model.ranges.begin(row); r != model.ranges.end(row); ++r) {
        edge(r->first).starts = true;
        edge(r->last - 1).ends = true;
      }
    }
    // A group ends where a buffer ends, if one has started since the last group ended.
    groups_.clear();
    bool open = false;
    std::int32_t count = 0;
    for (std::int32_t s = from; s < until; ++s) {
      edge(s).first = count;
      open = open || edge(s).starts;
      if (open && edge(s).ends) {
        groups_.emplace_back();
        groups_.back().section = s;
        ++count;
        open = false;
      }
      edge(s).last = count;
    }
    ranges_.clear();
    for (const std::int32_t* c = begin; c != end; ++c) {
      const auto row = static_cast<std::size_t>(*c);
      for (const SectionRange* r = model.ranges.begin(row); r != model.ranges.end(row); ++r) {
        ranges_.push_back({edge(r->first).first, edge(r->last - 1).last});
      }
    }
  }

  [[nodiscard]] Group& operator[](std::int32_t g) noexcept { return groups_[static_cast<std::size_t>(g)]; }
  [[nodiscard]] auto begin() const noexcept { return groups_.begin(); }
  [[nodiscard]] auto end() const noexcept { return groups_.end(); }
  /// The ranges of the buffers, in the order of the buffers and of their ranges, as ranges of groups.
  [[nodiscard]] const SectionRange* ranges() const noexcept { return ranges_.data(); }

 private:
  /// The starts and ends at a section, and the number of groups before it and up to its end.
  struct Edge {
    std::int32_t first = 0;
    std::int32_t last = 0;
    bool starts = false;
    bool ends = false;
  };
  [[nodiscard]] Edge& edge(std::int32_t section) noexcept { return edges_[static_cast<std::size_t>(section)]; }

  std::vector<Edge> edges_;
  std::vector<Group> groups_{};
  std::vector<SectionRange> ranges_{};
};

}  // namespace rondo::search::detail
