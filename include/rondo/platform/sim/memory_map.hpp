// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/graph/records.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace rondo::platform::sim {

/// The addresses of the tensors that tasks use, as offsets from the lowest of them, read from the arguments. Tensors
/// with disjoint lifetimes may overlap.
class MemoryMap {
 public:
  /// A range of memory that belongs to the same tensors throughout, or to none.
  struct Segment {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint32_t tensor = 0;  ///< the first tensor that covers it; `no_tensor` for a gap
  };
  /// The place of a tensor, as an offset from the lowest of them; `used`: whether a task uses it.
  struct Place {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool used = false;
  };
  static constexpr std::uint32_t no_tensor = 0xFFFF'FFFF;

  /// Reads the addresses from the args table, except those of host inputs, which are in the table itself.
  MemoryMap(const graph::GraphView& graph, const args::ArgsTable& args) : places_(graph.tensors.size()) {
    std::uint64_t lowest = ~std::uint64_t{0};
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
      const auto* block = reinterpret_cast<const std::byte*>(args.block(t, 0));
      for (const graph::ArgRecord& arg : graph.args_of(graph.tasks[t])) {
        if (arg.kind != graph::ArgRecord::Kind::address || arg.width != sizeof(std::uint64_t)) continue;
        if (is_carried_in_args(graph.tensors[arg.tensor].direction)) continue;
        std::uint64_t address = 0;
        std::memcpy(&address, block + arg.offset, sizeof address);
        places_[arg.tensor] = {address, address + graph.tensors[arg.tensor].bytes, true};
        lowest = std::min(lowest, address);
      }
    }
    std::vector<std::uint64_t> cuts;
    for (Place& place : places_) {
      if (!place.used) continue;
      place.begin -= lowest;
      place.end -= lowest;
      cuts.push_back(place.begin);
      cuts.push_back(place.end);
    }
    if (cuts.empty()) return;
    base_ = lowest;
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
      segments_.push_back({cuts[c], cuts[c + 1], covering(cuts[c], cuts[c + 1])});
    }
  }

  [[nodiscard]] std::byte* base() const noexcept {
    return reinterpret_cast<std::byte*>(base_);  // NOLINT: simulated device memory is host memory
  }
  [[nodiscard]] std::size_t size() const noexcept { return segments_.empty() ? 0 : segments_.back().end; }
  [[nodiscard]] const std::vector<Segment>& segments() const noexcept { return segments_; }
  [[nodiscard]] const Place& place(std::size_t tensor) const noexcept { return places_[tensor]; }
  [[nodiscard]] bool covers(std::size_t tensor, const Segment& s) const noexcept {
    return places_[tensor].used && places_[tensor].begin <= s.begin && s.end <= places_[tensor].end;
  }
  /// The last tensor that ends before `offset`, the start of a gap.
  [[nodiscard]] std::uint32_t before(std::uint64_t offset) const noexcept {
    std::uint32_t found = no_tensor;
    for (std::uint32_t t = 0; t < places_.size(); ++t) {
      if (places_[t].used && places_[t].end <= offset && (found == no_tensor || places_[t].end > places_[found].end)) {
        found = t;
      }
    }
    return found;
  }

 private:
  [[nodiscard]] std::uint32_t covering(std::uint64_t begin, std::uint64_t end) const noexcept {
    for (std::uint32_t t = 0; t < places_.size(); ++t) {
      if (covers(t, {begin, end, t})) return t;
    }
    return no_tensor;
  }

  std::vector<Place> places_;
  std::vector<Segment> segments_;
  std::uint64_t base_ = 0;
};

}  // namespace rondo::platform::sim
