// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/graph/task_graph.hpp>
#include <rondo/measure/check_close.hpp>
#include <rondo/observe/compare.hpp>
#include <rondo/observe/detail/replay_task.hpp>
#include <rondo/observe/kernel_table.hpp>
#include <rondo/observe/manifest.hpp>
#include <rondo/platform/concept.hpp>
#include <rondo/types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace rondo::observe {

/// The options of replaying and comparing.
struct ReplayOptions {
  /// The tolerance for floating-point elements; all others must be identical.
  measure::Tolerance tolerance{};
  /// Whether each task reads what earlier replayed tasks wrote to the same memory, and otherwise the dump. Elements
  /// that tasks outside the dump changed in between are those of the dump. If false, each task reads only the dump, so
  /// one wrong result does not affect later tasks.
  bool chain = false;
  std::vector<TaskId> tasks{};  ///< the tasks to replay; empty: all
};

/// The result of one task.
struct TaskReplay {
  /// The outcome of the comparison.
  enum class Outcome : std::uint8_t {
    same,       ///< within the tolerance, or the task had nothing to do
    different,  ///< see `differences`
    failed,     ///< could not be run, or the kernel threw; see `text`
    unknown,    ///< ran, but the dump has no results because the kernel threw
  };
  std::uint32_t id = 0;
  std::string kernel;
  Outcome outcome = Outcome::same;
  std::vector<Difference> differences;  ///< one for each tensor that differs
  std::string text;                     ///< the reason why it failed
};

/// The results of all tasks that were run.
struct ReplayReport {
  std::vector<TaskReplay> tasks;

  /// Whether every task gave the results in the dump.
  [[nodiscard]] bool ok() const noexcept { return first_difference() == nullptr; }
  /// The first task with other results, in the order of the dump; null if there is none.
  [[nodiscard]] const TaskReplay* first_difference() const noexcept {
    const auto found = std::find_if(tasks.begin(), tasks.end(),
                                    [](const TaskReplay& t) { return t.outcome != TaskReplay::Outcome::same; });
    return found == tasks.end() ? nullptr : &*found;
  }
  /// A report: the first task that differs, a line for each difference, and a line with the number of tasks that agree.
  [[nodiscard]] std::string text() const {
    std::string lines;
    std::size_t same = 0;
    if (const TaskReplay* const first = first_difference()) {
      lines = fmt::format("the first that differs is task {} ({})\n", first->id, first->kernel);
    }
    for (const TaskReplay& t : tasks) {
      if (t.outcome == TaskReplay::Outcome::same) ++same;
      const std::string who = fmt::format("task {} ({}): ", t.id, t.kernel);
      for (const Difference& d : t.differences) lines += who + d.text() + '\n';
      if (!t.text.empty()) lines += who + t.text + '\n';
    }
    return lines + fmt::format("{} of {} tasks give what the dump has\n", same, tasks.size());
  }
};

namespace detail {

/// Replays one task. @returns whether it ran; `result` says what came of it
template <Platform P>
bool replay_task(const DumpedRound& dump, const DumpedTask& task, const KernelTable& kernels,
                 const typename P::Options& platform, const ReplayOptions& options, CarriedResults& carried,
                 TaskReplay& result) {
  try {
    auto contents = contents_before(dump, task, options.chain ? &carried : nullptr);
    run_task<P>(dump, task, kernels, platform, contents);
    for (const DumpedContents& w : task.written) {
      const DumpedTensor& tensor = dump.tensors[w.tensor];
      const std::vector<std::byte> dumped = contents_of(dump, w);
      if (!is_scratch(dump, w.tensor)) {
        Difference d = compare(tensor.name, tensor.type, tensor.shape, contents[w.tensor], dumped, options.tolerance);
        if (d.wrong != 0) result.differences.push_back(std::move(d));
      }
      if (options.chain) carried.add(dump, w.tensor, dumped, contents[w.tensor]);
    }
    if (!result.differences.empty()) result.outcome = TaskReplay::Outcome::different;
    if (!task.finished) {
      result.outcome = TaskReplay::Outcome::unknown;
      result.text = "its kernel threw when it was dumped, and did not now";
    }
    return true;
  } catch (const std::exception& e) {  // an Error, or a lack of memory
    result.outcome = TaskReplay::Outcome::failed;
    result.text = e.what();
    return false;
  }
}

}  // namespace detail

/// Runs each task of a dump again on P, separately and in the order of the dump, and compares the results.
///
///     const auto report = replay<A5Sim>("dumps/first", kernels<Saxpy, MatMul>());
///     std::fputs(report.text().c_str(), stdout);
///
/// Outputs are filled with a bit pattern first, so that an element that a kernel does not write differs from the dump,
/// unless the dump has the pattern, too. A workspace is not compared if its contents do not matter: no task of the
/// round reads its memory, no output is a view of it, and it is not kept. The report lists tasks that could not be run.
/// @throws Error invalid_argument if there is no such dump or task. Cost: a session for each task.
template <Platform P>
[[nodiscard]] ReplayReport replay(const std::string& folder, const KernelTable& kernels,
                                  const ReplayOptions& options = {}, const typename P::Options& platform = {}) {
  const DumpedRound dump = read_manifest(folder);
  for (const TaskId wanted : options.tasks) {
    const auto is_it = [&](const DumpedTask& t) { return t.id == index(wanted); };
    if (std::none_of(dump.tasks.begin(), dump.tasks.end(), is_it)) {
      throw Error(Errc::invalid_argument, Error::Text{folder, ": the dump has no task ", index(wanted)});
    }
  }
  detail::CarriedResults carried;
  ReplayReport report;
  for (const DumpedTask& task : dump.tasks) {
    bool replayed = false;
    if (options.tasks.empty() ||
        std::find(options.tasks.begin(), options.tasks.end(), TaskId{task.id}) != options.tasks.end()) {
      TaskReplay& result = report.tasks.emplace_back();
      result.id = task.id;
      result.kernel = task.kernel;
      if (!task.idle) replayed = detail::replay_task<P>(dump, task, kernels, platform, options, carried, result);
    }
    if (!options.chain || replayed) continue;
    for (const DumpedContents& w : task.written) carried.forget(dump, w.tensor);
  }
  return report;
}

}  // namespace rondo::observe
