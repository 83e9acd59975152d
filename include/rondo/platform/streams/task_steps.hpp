// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rondo::platform::streams {

/// A task of a round that is launched task by task, on a device that runs nothing else at the same time.
struct TaskStep {
  std::uint32_t position = 0;  ///< in the graph
  std::uint64_t args = 0;      ///< the device address of its argument blocks
  std::uint64_t bytes = 0;     ///< the size of all argument blocks
  void* reader = nullptr;      ///< the first argument of `read`
  /// Copies device memory to the host. @returns whether that succeeded
  bool (*read)(void* reader, void* to, std::uint64_t from, std::uint64_t size) noexcept = nullptr;
};

/// Callbacks around the tasks of rounds that are launched task by task. They run on the thread that launches, in the
/// order in which tasks are launched; the inputs are on the device before the first.
class TaskSteps {
 public:
  virtual void round_begins() noexcept = 0;
  virtual void task_begins(const TaskStep& step) noexcept = 0;
  /// `ns`: how long it took by the device's clock; 0 if the device does not report it.
  virtual void task_ends(const TaskStep& step, double ns) noexcept = 0;
  /// `is_complete`: whether all tasks have run.
  virtual void round_ends(bool is_complete) noexcept = 0;

  TaskSteps(const TaskSteps&) = delete;
  TaskSteps& operator=(const TaskSteps&) = delete;

 protected:
  TaskSteps() = default;
  ~TaskSteps() = default;
};

}  // namespace rondo::platform::streams
