// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/loop_calls.hpp>
#include <rondo/graph/outline.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/sim/findings.hpp>
#include <rondo/platform/sim/halt.hpp>
#include <rondo/platform/sim/inline.hpp>
#include <rondo/platform/sim/memory_map.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace rondo::platform::sim {

/// The part of Checked that does not depend on the inner engine: runs a graph's tasks on the calling thread, checks
/// their writes, and compares the memory after one run with the memory after another.
///
/// Memory: three copies of everything that the tasks use. Cost of a watched run: for each task a comparison of all of
/// it. Allocates only when constructed.
class RoundChecker {
 public:
  /// `graph` and `args` must outlive this. Tensors bound to other memory are moved to the arena during the check.
  RoundChecker(const graph::GraphView& graph, const args::ArgsTable& args)
      : graph_{graph},
        calls_{Inline::load_calls(graph, args)},
        first_call_(graph.tasks.size() + 1),
        map_{graph, args},
        initial_(map_.size()),
        expected_(map_.size()),
        before_task_(map_.size()),
        compared_(graph.tensors.size()),
        written_(graph.tensors.size()) {
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) first_call_[t + 1] = first_call_[t] + graph.tasks[t].blocks;
    scopes_.reserve(graph.loops.size() + 1);
    scopes_.emplace_back(graph, none);
    for (std::uint32_t l = 0; l < graph.loops.size(); ++l) scopes_.emplace_back(graph, l);
  }

  /// Saves the memory, for the start of each run of the round.
  void begin_round() noexcept {
    map_.move_back();
    map_.save(initial_);
  }

  /// Called after the last run of the round; `is_good`: whether to keep its outputs.
  void end_round(bool is_good) noexcept { map_.move_again(is_good); }

  void move_arena(std::uint64_t distance) noexcept { map_.move_arena(distance); }

  /// Restores the saved memory, with the pattern in all outputs and workspace.
  void restore(bool other_poison) noexcept {
    map_.restore(initial_);
    for (std::uint32_t t = 0; t < graph_.tensors.size(); ++t) {
      if (!graph_.tensors[t].is_defined_at_start() && graph::home_of(graph_.tensors, t) == t) poison(t, other_poison);
    }
  }

  /// Runs the tasks in the graph's order, checks the memory after each, and saves the result for compare(). Returns
  /// kernel_failed or stopped if the run ended early.
  [[nodiscard]] Status run_watched(Halt& halt, Findings& findings) noexcept {
    std::fill(written_.begin(), written_.end(), false);
    const Status status = run_scope(scopes_[0], graphs_order, [&](std::uint32_t position) {
      const graph::TaskRecord& task = graph_.tasks[position];
      for_each_written(task, [&](std::uint32_t tensor, bool) { written_[root_of(tensor)] = true; });
      poison_outputs_of(task, false);
      map_.save(before_task_);
      if (const Status ran = run_task(position, false, halt); !ran) return ran;
      if (!task.fills) find_stray_writes(task, findings);  // it also zeroes the gaps
      return find_unwritten(position, halt, findings);
    });
    map_.save(expected_);
    return status;
  }

  [[nodiscard]] Status run_in_order(Halt& halt) noexcept {
    return run_scope(scopes_[0], graphs_order, [&](std::uint32_t position) { return run_task(position, false, halt); });
  }

  /// Runs the tasks and their blocks in another order that the edges allow: for seed 0, the task that was added last
  /// first; otherwise random.
  [[nodiscard]] Status run_in_other_order(Halt& halt, std::uint64_t seed) noexcept {
    const auto key = [seed](std::uint32_t position) -> std::uint64_t {
      if (seed == 0) return position;
      std::uint64_t x = seed * 0x9E3779B97F4A7C15U + position;
      x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;  // splitmix64's finaliser
      x = (x ^ x >> 27) * 0x94D049BB133111EBU;
      return x ^ x >> 31;
    };
    return run_scope(scopes_[0], key, [&](std::uint32_t position) { return run_task(position, true, halt); });
  }

  /// Compares the memory with the result of the watched run; each tensor that differs is a finding.
  void compare(Finding::Kind kind, Findings& findings) noexcept {
    std::fill(compared_.begin(), compared_.end(), false);
    // In the order in which tensors were written: later differences may follow from earlier ones.
    for (const graph::TaskRecord& task : graph_.tasks) {
      for_each_written(task, [&](std::uint32_t tensor, bool) { compare_tensor(kind, tensor, findings); });
    }
    for (std::uint32_t t = 0; t < graph_.tensors.size(); ++t) compare_tensor(kind, t, findings);
    for (const Segment& segment : map_.segments()) {
      if (segment.tensor != MemoryMap::no_tensor) continue;
      const auto d = difference(expected_, segment.begin, segment.end);
      if (d.bytes == 0) continue;
      const std::uint32_t before = map_.before(segment.begin);
      findings.add({kind, Finding::none, Finding::none, segment.begin + d.first, d.bytes,
                    Error::Text{d.bytes, " bytes of no tensor, after the end of '",
                                graph_.name(graph_.tensors[before].name), "', differ from run to run"}});
    }
  }

 private:
  using Segment = MemoryMap::Segment;
  static constexpr std::uint32_t none = graph::TaskRecord::no_loop;
  struct Ready {
    std::uint64_t key;
    std::uint32_t position;
  };
  /// The tasks of the graph or of one loop, for another order; each loop within is one task.
  struct Scope {
    Scope(const graph::GraphView& graph, std::uint32_t loop)
        : outline{graph, loop}, ready(outline.items().size()), waits_for(outline.items().size()) {}

    graph::Outline outline;
    std::vector<Ready> ready;  ///< a heap with the largest key on top
    std::vector<std::uint32_t> waits_for;
  };

  static constexpr auto graphs_order = [](std::uint32_t position) { return ~std::uint64_t{position}; };

  /// Runs the tasks of a scope and of its loops by `run(position)`: of those that can run, the one with the highest
  /// `key(position in the scope)`.
  template <class Key, class Run>
  [[nodiscard]] Status run_scope(Scope& scope, const Key& key, const Run& run) noexcept {
    const auto lower = [](const Ready& a, const Ready& b) { return a.key < b.key; };
    const graph::GraphView tasks = scope.outline.view();
    std::size_t count = 0;
    const auto add = [&](std::uint32_t position) {
      scope.ready[count++] = {key(position), position};
      std::push_heap(scope.ready.data(), scope.ready.data() + count, lower);
    };
    for (std::uint32_t t = 0; t < tasks.tasks.size(); ++t) {
      scope.waits_for[t] = tasks.predecessor_count[t];
      if (scope.waits_for[t] == 0) add(t);
    }
    while (count != 0) {
      std::pop_heap(scope.ready.data(), scope.ready.data() + count, lower);
      const std::uint32_t position = scope.ready[--count].position;
      const graph::Outline::Item& item = scope.outline.items()[position];
      const Status status = item.loop == none ? run(item.first) : run_loop(item.loop, key, run);
      if (!status) return status;
      for (const std::uint32_t next : tasks.successors_of(position)) {
        if (--scope.waits_for[next] == 0) add(next);
      }
    }
    return {};
  }
  template <class Key, class Run>
  [[nodiscard]] Status run_loop(std::uint32_t l, const Key& key, const Run& run) noexcept {
    const graph::Decision decision{calls_.decisions[l]};
    const bool decides_first = graph_.loops[l].kind == graph::LoopRecord::Kind::when;
    if (decides_first && !decision.holds()) return {};
    for (std::uint64_t i = 0; i < decision.most(); ++i) {
      if (const Status status = run_scope(scopes_[l + 1], key, run); !status) return status;
      if (decides_first || decision.holds()) break;
    }
    return {};
  }

  /// Calls `visit(tensor, is_out)` for each tensor that a task writes; an Out must be written completely.
  template <class Visit>
  void for_each_written(const graph::TaskRecord& task, const Visit& visit) const noexcept {
    for (const graph::ArgRecord& arg : graph_.args_of(task)) {
      if (arg.is_address() && writes(arg.access)) visit(arg.tensor, arg.access == Access::write);
    }
  }
  [[nodiscard]] std::uint32_t root_of(std::uint32_t tensor) const noexcept {
    return graph::root_of(graph_.tensors, tensor);
  }
  /// The first difference between two ranges of memory, and the number of different bytes.
  struct Difference {
    std::uint64_t first = 0;
    std::uint64_t bytes = 0;
  };
  /// The difference between the memory and a copy of it, in a range.
  [[nodiscard]] Difference difference(const std::vector<std::byte>& copy, std::uint64_t begin,
                                      std::uint64_t end) const noexcept {
    const std::byte* const now = map_.at(begin);
    const std::byte* const then = copy.data() + begin;
    Difference d;
    if (std::memcmp(now, then, end - begin) == 0) return d;
    for (std::uint64_t i = end - begin; i-- > 0;) {
      if (now[i] == then[i]) continue;
      d.first = i;
      ++d.bytes;
    }
    return d;
  }
  [[nodiscard]] Status run_task(std::size_t position, bool backwards, Halt& halt) noexcept {
    if (halt.requested()) return halt.status();
    const std::size_t first = first_call_[position];
    const std::size_t count = first_call_[position + 1] - first;
    try {
      for (std::size_t i = 0; i < count; ++i) {
        const Inline::Call& call = calls_.calls[first + (backwards ? count - 1 - i : i)];
        call.entry(call.args);
      }
    } catch (...) {
      halt.record(graph_.tasks[position].added_as);
      return halt.status();
    }
    return {};
  }
  /// The contents of memory before it is written. As float32, float16 or bfloat16, the first poison is NaN. The other
  /// poison differs from it in every bit: bytes that hold the first after one run and the other after the next were
  /// never written.
  [[nodiscard]] static constexpr std::byte poison_at(std::uint64_t at, bool other) noexcept {
    const std::byte first{at % 2 == 0 ? std::uint8_t{0xFA} : std::uint8_t{0x7F}};
    return other ? ~first : first;
  }
  void poison(std::uint32_t tensor, bool other) noexcept {
    const MemoryMap::Place& place = map_.place(tensor);
    std::byte* const bytes = map_.at(place.begin);
    for (std::uint64_t i = 0; i < place.size(); ++i) bytes[i] = poison_at(i, other);
  }
  void poison_outputs_of(const graph::TaskRecord& task, bool other) noexcept {
    for_each_written(task, [&](std::uint32_t tensor, bool is_out) {
      if (is_out && !reads_home_of(task, tensor)) poison(tensor, other);
    });
  }
  /// Whether the task reads the input that an output reuses.
  [[nodiscard]] bool reads_home_of(const graph::TaskRecord& task, std::uint32_t tensor) const noexcept {
    const auto args = graph_.args_of(task);
    return std::any_of(args.begin(), args.end(), [&](const graph::ArgRecord& arg) {
      return arg.is_address() && arg.tensor != tensor && reads(arg.access) &&
             graph::home_of(graph_.tensors, arg.tensor) == graph::home_of(graph_.tensors, tensor);
    });
  }
  void find_stray_writes(const graph::TaskRecord& task, Findings& findings) noexcept {
    for (const Segment& segment : map_.segments()) {
      bool may_write = false;
      for_each_written(task, [&](std::uint32_t tensor, bool) { may_write |= map_.covers(tensor, segment); });
      if (may_write) continue;
      const auto d = difference(before_task_, segment.begin, segment.end);
      if (d.bytes == 0) continue;
      Finding f{Finding::Kind::wrote_outside, task.added_as, segment.tensor, segment.begin + d.first, d.bytes, {}};
      f.text = Error::Text{"task ", task.added_as, " '", graph_.name(task.name), "' changed ", d.bytes, " bytes of "};
      if (segment.tensor != MemoryMap::no_tensor) {
        f.offset -= map_.place(segment.tensor).begin;
        const auto args = graph_.args_of(task);
        const bool is_input = std::any_of(
            args.begin(), args.end(), [&](const graph::ArgRecord& arg) { return arg.is_address_of(segment.tensor); });
        if (is_input) f.kind = Finding::Kind::wrote_input;
        const Error::Text rest{
            "tensor '",    graph_.name(graph_.tensors[segment.tensor].name), "', the first at byte ", f.offset,
            ", which it ", is_input ? "only reads" : "does not receive"};
        f.text.append(rest);
      } else {
        const std::uint32_t before = map_.before(segment.begin);
        const Error::Text rest{"no tensor, the first ", f.offset - map_.place(before).end, " bytes after the end of '",
                               graph_.name(graph_.tensors[before].name), "'"};
        f.text.append(rest);
      }
      findings.add(f);
    }
  }
  [[nodiscard]] Status find_unwritten(std::size_t position, Halt& halt, Findings& findings) noexcept {
    const graph::TaskRecord& task = graph_.tasks[position];
    bool suspicious = false;
    std::uint64_t first = 0;
    for_each_written(
        task, [&](std::uint32_t t, bool is_out) { suspicious |= is_out && unwritten(t, now(t), nullptr, first) != 0; });
    if (!suspicious) return {};

    // A kernel may write values equal to one poison, but not to both.
    map_.save(expected_);
    map_.restore(before_task_);
    poison_outputs_of(task, true);
    if (const Status status = run_task(position, false, halt); !status) return status;
    for_each_written(task, [&](std::uint32_t t, bool is_out) {
      const std::uint64_t elements = is_out ? unwritten(t, expected_.data() + map_.place(t).begin, now(t), first) : 0;
      if (elements == 0) return;
      const graph::TensorRecord& tensor = graph_.tensors[t];
      const std::uint64_t size = tensor.bytes / tensor.count;
      findings.add({Finding::Kind::left_unwritten, task.added_as, t, first * size, elements * size,
                    Error::Text{"task ", task.added_as, " '", graph_.name(task.name), "' left ", elements, " of ",
                                tensor.count, " elements of its Out '", graph_.name(tensor.name),
                                "' unwritten, the first at index ", first, "; write each, or take it as InOut"}});
    });
    map_.restore(expected_);
    return {};
  }
  void compare_tensor(Finding::Kind kind, std::uint32_t tensor, Findings& findings) noexcept {
    const MemoryMap::Place& place = map_.place(tensor);
    if (compared_[tensor] || place.size() == 0) return;
    const std::uint32_t root = root_of(tensor);
    if (!written_[root] && !graph_.tensors[root].is_defined_at_start()) return;  // its tasks were skipped
    compared_[tensor] = true;
    const auto d = difference(expected_, place.begin, place.end);
    if (d.bytes == 0) return;
    const graph::TensorRecord& record = graph_.tensors[tensor];
    const char* what =
        kind == Finding::Kind::not_repeatable
            ? "differs when the same tasks run again in the same order: a kernel keeps state, or reads "
              "memory that nobody wrote; tensor '"
        : kind == Finding::Kind::depends_on_order
            ? "differs when tasks run in another order that the edges allow: an edge is missing; tensor '"
            : "differs when the engine runs the tasks: they race; tensor '";
    Finding f{kind, Finding::none, tensor, d.first, d.bytes, {}};
    f.text = Error::Text{
        what,    graph_.name(record.name), "', first at index ", d.first / (record.bytes / record.count), ", ", d.bytes,
        " bytes"};
    append_writers(f.text, tensor);
    findings.add(f);
  }
  void append_writers(Error::Text& text, std::uint32_t tensor) const noexcept {
    text.append("; written by");
    bool any = false;
    for (const graph::TaskRecord& task : graph_.tasks) {
      for_each_written(task, [&](std::uint32_t written, bool) {
        if (written != tensor) return;
        text.append(Error::Text{any ? ", " : " ", "task ", task.added_as, " '", graph_.name(task.name), "'"});
        any = true;
      });
    }
    if (!any) text.append(" no task");
  }
  /// The bytes of a tensor.
  [[nodiscard]] const std::byte* now(std::uint32_t tensor) const noexcept { return map_.at(map_.place(tensor).begin); }
  /// The number of elements of a tensor that hold the poison in both runs; the second may be null.
  [[nodiscard]] std::uint64_t unwritten(std::uint32_t tensor, const std::byte* first_run, const std::byte* second_run,
                                        std::uint64_t& first) const noexcept {
    const graph::TensorRecord& record = graph_.tensors[tensor];
    if (record.count == 0) return 0;
    const std::uint64_t size = record.bytes / record.count;
    std::uint64_t elements = 0;
    for (std::uint64_t at = record.bytes; at != 0;) {
      at -= size;
      bool is_poison = true;
      for (std::uint64_t i = at; is_poison && i < at + size; ++i) {
        is_poison =
            first_run[i] == poison_at(i, false) && (second_run == nullptr || second_run[i] == poison_at(i, true));
      }
      if (!is_poison) continue;
      first = at / size;
      ++elements;
    }
    return elements;
  }

  graph::GraphView graph_;
  Inline::DynamicProgram calls_;
  std::vector<std::size_t> first_call_;
  MemoryMap map_;
  std::vector<std::byte> initial_;
  std::vector<std::byte> expected_;
  std::vector<std::byte> before_task_;
  std::vector<char> compared_;  ///< by tensor
  std::vector<char> written_;   ///< by tensor: whether a task of the watched run writes it
  std::vector<Scope> scopes_;   ///< the graph, then its loops
};

}  // namespace rondo::platform::sim
