// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/keyed.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/memory/uses.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rondo::memory::detail {

/// Merges memories whose uses certainly follow one another: the largest first, each into the smallest one before it
/// that is free at its time. For graphs whose concurrent tasks have so many pairs of memories to keep apart that
/// planning would be slow: two chains of 5,000 tasks have 25 million, and fewer than ten after their memories have been
/// merged. Plans of random graphs become up to 3 % larger. Cost: O(n log n), and at most `most_tried` searches for each
/// memory.
class LargestFirstMerger {
 public:
  static constexpr std::size_t most_tried = 4096;

  constexpr LargestFirstMerger(Tokens& tokens, Certainty order)
      : tokens_{tokens.tokens}, of_tensor_{tokens.of_tensor}, order_{order} {}

  /// `ports_apart`: tensors of which each slot of rounds in flight has its own share memory with no other tensor.
  constexpr void run(const graph::GraphView& graph, bool ports_apart) {
    MergedTokens merged(tokens_.size());
    std::vector<std::uint32_t> kept;  // the largest first
    for (const rondo::detail::Keyed& each : sort(find_apart(graph, ports_apart))) {
      const auto next = static_cast<std::uint32_t>(each.item);
      const auto last = kept.rbegin() + static_cast<std::ptrdiff_t>(std::min(kept.size(), most_tried));
      const auto home =
          std::find_if(kept.rbegin(), last, [&](std::uint32_t k) { return merge(tokens_[k], tokens_[next]); });
      if (home == last) kept.push_back(next);
      if (home != last) merged.merge(next, *home);
    }
    merged.apply(of_tensor_);
  }

 private:
  /// By memory: whether it must not be merged.
  [[nodiscard]] constexpr std::vector<char> find_apart(const graph::GraphView& graph, bool ports_apart) const {
    std::vector<char> is_apart(tokens_.size(), '\0');
    for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
      if (of_tensor_[t] == Tokens::none) continue;
      const graph::TensorRecord& root = graph.tensors[graph::root_of(graph.tensors, t)];
      const bool is_in_block = root.zeroed != Zeroed::never;  // all that are zeroed at once are adjacent
      if (is_in_block || (ports_apart && root.has_memory_per_slot())) is_apart[of_tensor_[t]] = 1;
    }
    return is_apart;
  }
  /// The memories that may be merged: the largest first, those of one size by the start of their first use. Those
  /// without bytes are left alone: their uses may lack users, and would hide the order of the others.
  [[nodiscard]] constexpr std::vector<rondo::detail::Keyed> sort(const std::vector<char>& is_apart) const {
    std::vector<rondo::detail::Keyed> order;
    for (std::uint32_t k = 0; k < tokens_.size(); ++k) {
      if (is_apart[k] != 0 || tokens_[k].bytes == 0 || tokens_[k].uses.empty()) continue;
      order.push_back({tokens_[k].uses.front().first, k});
    }
    sort_keyed(order);
    // The size is the key, and the place in the sorted list breaks ties.
    for (std::size_t i = 0; i < order.size(); ++i) {
      order[i] = {-static_cast<std::int64_t>(tokens_[order[i].item].bytes), std::uint64_t{i} << 32U | order[i].item};
    }
    sort_keyed(order);
    for (rondo::detail::Keyed& each : order) each.item &= 0xFFFF'FFFF;
    return order;
  }
  /// Moves the uses of a token to another one if they certainly come after one of its uses and before the next; then
  /// they do so for all its uses. @returns whether it did
  constexpr bool merge(Token& into, Token& token) const {
    const auto is_before = [&](const Use& use) { return use.last < token.uses.front().first; };
    auto next = std::partition_point(into.uses.begin(), into.uses.end(), is_before);
    if (next != into.uses.end() && next->first <= token.uses.back().last) return false;
    for (const Use& use : token.uses) {
      if (next != into.uses.end() && !order_.all_precede(use.users, next->users)) return false;
      if (next != into.uses.begin() && !order_.all_precede((next - 1)->users, use.users)) return false;
    }
    for (Use& use : token.uses) next = into.uses.insert(next, std::move(use)) + 1;
    token = {};
    return true;
  }

  std::vector<Token>& tokens_;
  std::vector<std::uint32_t>& of_tensor_;
  Certainty order_;
};

}  // namespace rondo::memory::detail
