// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stand_in/over_stand_in.hpp"

#include <rondo/graph/freeze.hpp>
#include <rondo/update/refresher_impl.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// The cases of a benchmark and of a count of instructions: an onboard args table of many slots over 64 bases, some of
/// which move each round.
namespace refresh_cases {

using P = A2A3ThatComputes;
inline constexpr std::uint32_t bases = 64;

/// `slots` addresses in tasks of two, a base and the arena; tasks take the bases in turn.
template <class Choice>
class RefreshCase {
 public:
  explicit RefreshCase(std::uint32_t slots)
      : frozen_{freeze(graph_of(slots))},
        refresher_{platform_, frozen_.view(),
                   rondo::args::Bases{{3, 3 + bases}, sources(), std::vector<std::uint64_t>(3 + bases, 1 << 20)}} {
    rondo_stand_in_reset();
  }

  /// `moved` of the bases, spread evenly, go from one place to another and back.
  [[gnu::always_inline]] bool round(std::uint32_t moved) {
    by_ ^= 1 << 16;
    for (std::uint32_t k = 0; k < moved; ++k) refresher_.set_base(3 + k * bases / moved, (1 << 20) + by_);
    return refresher_.refresh().ok();
  }
  [[nodiscard]] bool wait() { return platform_.wait().ok(); }
  [[nodiscard]] const auto& refresher() const { return refresher_; }

 private:
  static rondo::TaskGraph graph_of(std::uint32_t slots) {
    rondo::TaskGraph graph{rondo::Edges::explicit_};
    std::vector<rondo::Input<float>> inputs;
    for (std::uint32_t b = 0; b < bases; ++b) inputs.push_back(graph.input<float>("x" + std::to_string(b), {16}));
    const auto w = graph.resident<float>("w", {16});
    for (std::uint32_t t = 0; t < slots / 2; ++t) {
      graph.add_raw(
          "task", rondo::CoreType::vector, [](rondo::ArgWord*) {}, rondo::reads(inputs[t % bases]), rondo::reads(w));
    }
    return graph;
  }
  static std::vector<rondo::args::Source> sources() {
    std::vector<rondo::args::Source> all;
    for (std::uint32_t b = 0; b < bases; ++b) all.push_back({3 + b, 0});
    all.push_back({2, 0});
    return all;
  }

  P platform_{{}};
  rondo::FrozenGraph frozen_;
  rondo::update::Refresher<P, rondo::update::Auto, Choice> refresher_;
  std::uint64_t by_ = 0;
};

}  // namespace refresh_cases
