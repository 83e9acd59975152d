// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/owned_array.hpp>
#include <rondo/graph/records.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rondo::args {

/// Words that come before task `position` in the table; with position = number of tasks, the table's size.
/// A task of n blocks has n argument blocks, one behind the other, that differ in their block words only.
[[nodiscard]] constexpr std::size_t words_before(const graph::GraphView& graph, std::size_t position) noexcept {
  std::size_t words = 0;
  for (const graph::TaskRecord& task : graph.tasks.first(position)) words += std::size_t{task.blocks} * task.arg_count;
  return words;
}

/// The image of all tasks' arguments, in the order in which they run. Knows every slot and nothing of devices.
///
/// Lifetime: move-only; the words do not move with it. Thread safety: none while written; kernels read it in parallel.
/// Cost: one allocation when made; write() touches every word once.
class ArgsTable {
 public:
  explicit ArgsTable(const graph::GraphView& graph) : words_(words_before(graph, graph.tasks.size())) {}

  /// Writes every slot: addresses are `base` + the tensor's offset.
  void write(const graph::GraphView& graph, std::span<const std::uint64_t> offsets, std::uint64_t base) noexcept {
    ArgWord* word = words_.data();
    for (const graph::TaskRecord& task : graph.tasks) {
      for (std::uint32_t block = 0; block < task.blocks; ++block) {
        for (const graph::ArgRecord& arg : graph.args_of(task)) {
          switch (arg.kind) {
            case graph::ArgRecord::Kind::address: *word = static_cast<ArgWord>(base + offsets[arg.tensor]); break;
            case graph::ArgRecord::Kind::scalar:
            case graph::ArgRecord::Kind::extent: *word = arg.bits; break;
            case graph::ArgRecord::Kind::block: *word = detail::to_word(Block{block, task.blocks}); break;
          }
          ++word;
        }
      }
    }
  }

  [[nodiscard]] ArgWord* words() noexcept { return words_.data(); }
  [[nodiscard]] std::span<const ArgWord> image() const noexcept { return words_.span(); }

 private:
  detail::OwnedArray<ArgWord> words_;
};

}  // namespace rondo::args
