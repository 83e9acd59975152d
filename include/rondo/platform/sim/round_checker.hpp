// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/records.hpp>
#include <rondo/platform/sim/findings.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/memory_map.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::platform::sim {

/// The part of Checked that does not depend on the engine inside: runs a graph's tasks on the calling thread, watches
/// what they write, and compares the memory after one run with that after another.
///
/// Memory: three copies of all that the tasks use. Cost of a watched run: for each task a comparison of all of it.
/// Allocates when made, and never after.
class RoundChecker {
 public:
  /// `graph` and `args` outlive this. The tensors' addresses must not change.
  inline RoundChecker(const graph::GraphView& graph, const args::ArgsTable& args);

  /// Keeps the memory as it is, to start each of the round's runs from.
  void begin_round() noexcept;

  /// Puts the memory back to what it was, all outputs and workspace poisoned.
  void restore(bool other_poison) noexcept;

  /// Runs the tasks in the graph's order and looks at the memory after each. On success it keeps the result, for
  /// compare(). @returns kernel_failed or stopped, if that ended it
  [[nodiscard]] Status run_watched(Halt& halt, Findings& findings) noexcept;

  [[nodiscard]] Status run_in_order(Halt& halt) noexcept;

  /// Runs the tasks, and their blocks, in another order that obeys the edges. Seed 0 takes what was added last first;
  /// others are random.
  [[nodiscard]] Status run_in_other_order(Halt& halt, std::uint64_t seed) noexcept;

  /// Compares the memory with what the watched run left; each tensor that differs is a finding.
  void compare(Finding::Kind kind, Findings& findings) noexcept;

 private:
  using Segment = MemoryMap::Segment;

  [[nodiscard]] std::byte* memory(std::uint64_t offset) const noexcept { return map_.base() + offset; }
  [[nodiscard]] inline Status run_task(std::size_t position, bool backwards, Halt& halt) noexcept;
  void poison(std::uint32_t tensor, bool other) noexcept;
  void poison_outputs_of(const graph::TaskRecord& task, bool other) noexcept;
  [[nodiscard]] const graph::ArgRecord* writable(const graph::TaskRecord& task, const Segment& segment) const noexcept;
  void find_stray_writes(const graph::TaskRecord& task, Findings& findings) noexcept;
  [[nodiscard]] inline Status find_unwritten(std::size_t position, Halt& halt, Findings& findings) noexcept;
  void compare_tensor(Finding::Kind kind, std::uint32_t tensor, Findings& findings) noexcept;
  void append_writers(Error::Text& text, std::uint32_t tensor) const noexcept;
  [[nodiscard]] inline std::uint64_t unwritten(std::uint32_t tensor, const std::byte* first_run,
                                               const std::byte* second_run, std::uint64_t& first) const noexcept;

  graph::GraphView graph_;
  Inline::DynamicProgram calls_;
  std::vector<std::size_t> first_call_;
  MemoryMap map_;
  std::vector<std::byte> initial_;
  std::vector<std::byte> expected_;
  std::vector<std::byte> before_task_;
  std::vector<char> compared_;  ///< by tensor
  struct Ready {
    std::uint64_t key;
    std::uint32_t position;
  };
  std::vector<Ready> ready_;  ///< a heap, the largest key on top
  std::vector<std::uint32_t> waits_for_;
};

}  // namespace rondo::platform::sim

#include <rondo/platform/sim/round_checker_impl.hpp>  // IWYU pragma: export
