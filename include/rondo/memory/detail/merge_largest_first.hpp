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
/// merged. Plans of random graphs become up to 3 % larger. `ports_apart`: tensors of which each slot of rounds in
/// flight has its own share memory with no other tensor. Cost: O(n log n), and at most `most_tried` searches for each
/// memory.
constexpr void merge_largest_first(const graph::GraphView& graph, Tokens& all, Certainty order, bool ports_apart) {
  constexpr std::size_t most_tried = 4096;
  std::vector<Token>& tokens = all.tokens;
  std::vector<char> is_apart(tokens.size(), '\0');  // by memory: whether it must not be merged
  for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
    if (all.of_tensor[t] == Tokens::none) continue;
    const graph::TensorRecord& root = graph.tensors[graph::root_of(graph.tensors, t)];
    const bool is_in_block = root.zeroed != Zeroed::never;  // all that are zeroed at once are adjacent
    if (is_in_block || (ports_apart && root.has_memory_per_slot())) is_apart[all.of_tensor[t]] = 1;
  }
  // The largest first, those of one size by the start of their first use. Those without bytes are left alone: their
  // uses may lack users, and would hide the order of the others.
  std::vector<rondo::detail::Keyed> by_size;
  for (std::uint32_t k = 0; k < tokens.size(); ++k) {
    if (is_apart[k] != 0 || tokens[k].bytes == 0 || tokens[k].uses.empty()) continue;
    const auto start = static_cast<std::uint64_t>(tokens[k].uses.front().first);  // fits in 32 bits, as tasks do
    by_size.push_back({-static_cast<std::int64_t>(tokens[k].bytes), start << 32U | k});
  }
  sort_keyed(by_size);
  // Moves the uses of a token to another one if they certainly come after one of its uses and before the next; then
  // they do so for all its uses. Returns whether it did.
  const auto merge = [&](Token& into, Token& token) {
    const auto is_before = [&](const Use& use) { return use.last < token.uses.front().first; };
    auto next = std::partition_point(into.uses.begin(), into.uses.end(), is_before);
    if (next != into.uses.end() && next->first <= token.uses.back().last) return false;
    for (const Use& use : token.uses) {
      if (next != into.uses.end() && !order.all_precede(use.users, next->users)) return false;
      if (next != into.uses.begin() && !order.all_precede((next - 1)->users, use.users)) return false;
    }
    for (Use& use : token.uses) next = into.uses.insert(next, std::move(use)) + 1;
    token = {};
    return true;
  };
  MergedTokens merged(tokens.size());
  std::vector<std::uint32_t> kept;  // the largest first
  for (const rondo::detail::Keyed& each : by_size) {
    const auto next = static_cast<std::uint32_t>(each.item & 0xFFFF'FFFF);
    const auto last = kept.rbegin() + static_cast<std::ptrdiff_t>(std::min(kept.size(), most_tried));
    const auto home =
        std::find_if(kept.rbegin(), last, [&](std::uint32_t k) { return merge(tokens[k], tokens[next]); });
    if (home != last) {
      merged.merge(next, *home);
    } else {
      kept.push_back(next);
    }
  }
  merged.apply(all.of_tensor);
}

}  // namespace rondo::memory::detail
