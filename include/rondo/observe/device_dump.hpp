// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/observe/detail/dump_writer.hpp>
#include <rondo/observe/device_tasks.hpp>
#include <rondo/platform/streams/task_steps.hpp>
#include <rondo/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rondo::observe {

namespace detail {

/// Reads the arguments and tensors of a task from the device.
class DeviceReader {
 public:
  void at(const platform::streams::TaskStep& step) {
    step_ = step;
    args_.resize(step.bytes);
    read(args_, step.args);
  }
  [[nodiscard]] const std::byte* args(std::size_t, std::uint64_t bytes) const {
    if (bytes > args_.size())
      throw Error(Errc::wrong_size, Error::Text("the device has fewer arguments than the graph"));
    return args_.data();
  }
  [[nodiscard]] const std::byte* tensor(std::uint64_t address, std::uint64_t bytes) {
    tensor_.resize(bytes);
    read(tensor_, address);
    return tensor_.data();
  }

 private:
  void read(std::vector<std::byte>& to, std::uint64_t from) const {
    if (to.empty() || step_.read(step_.reader, to.data(), from, to.size())) return;
    throw Error(Errc::device_failed, Error::Text{"the device refused to copy ", to.size(), " bytes to the host"});
  }

  platform::streams::TaskStep step_;
  std::vector<std::byte> args_;
  std::vector<std::byte> tensor_;
};

}  // namespace detail

/// Dumps selected rounds of a session on a device, as Dumping does on simulated chips: such a round is launched task by
/// task, and what each task reads and writes is copied from the device and written to a folder. replay.hpp runs such
/// tasks again, in simulation, and finds the first whose results differ from the chip's.
///
///     observe::DeviceDumping dumping(session);
///     dumping.dump_next("dumps/first");
///     Status status = session.run_round(…);
///
/// If a task fails, the dump ends with that task and contains the tensors that it read.
///
/// Lifetime: within the session's; one at a time, and not together with DeviceTasks. Thread safety: the session's.
/// Errors: a dump that cannot be written has no manifest and does not affect the round; dump_failure() returns the
/// reason. Cost: none for other rounds. For a dumped round: the copies, the files, and a host copy of all tensors.
template <class Session>
class DeviceDumping final : private platform::streams::TaskSteps {
  using P = std::remove_cvref_t<decltype(std::declval<Session&>().platform())>;
  static_assert(StepsThroughTasks<P>,
                "rondo: the platform does not launch its rounds task by task; dump simulated chips with Dumping");

 public:
  /// @throws Error unsupported if the graph has loops, or a task has an address of 4 bytes
  explicit DeviceDumping(Session& session) : session_{session}, writer_(session.graph().view(), {}) {
    const graph::GraphView view = session.graph().view();
    for (const graph::LoopRecord& loop : view.loops) {
      if (!loop.has_work()) continue;
      throw Error(Errc::unsupported,
                  Error::Text{"a dump holds each task once, and loop '", view.name(view.tasks[loop.decision].name),
                              "' may repeat its tasks; unroll it"});
    }
  }
  DeviceDumping(const DeviceDumping&) = delete;
  DeviceDumping& operator=(const DeviceDumping&) = delete;
  ~DeviceDumping() { session_.platform().step_through(nullptr); }

  /// Dumps the next round to `folder`, which is created if it does not exist; files of an earlier dump are overwritten.
  /// `tasks`: the tasks to dump; empty: all. @throws Error invalid_argument if the folder cannot be created,
  /// out_of_resources
  void dump_next(std::string folder, std::vector<TaskId> tasks = {}) {
    detail::make_dump_folder(folder);
    folder_ = std::move(folder);
    tasks_ = std::move(tasks);
    session_.platform().step_through(this);
  }
  /// The number of dumps that were written.
  [[nodiscard]] std::uint64_t dumps() const noexcept { return dumps_; }
  /// The reason why the last dump was not written; empty if it was.
  [[nodiscard]] const Error::Text& dump_failure() const noexcept { return writer_.failure(); }

 private:
  void round_begins() noexcept override {
    std::uint64_t round = session_.rounds();
    if constexpr (requires { session_.in_flight(); }) round += session_.in_flight();
    writer_.begin(folder_, round, std::move(tasks_));
  }
  void task_begins(const platform::streams::TaskStep& step) noexcept override {
    writer_.keep_going([&] { writer_.reader().at(step); });
    writer_.before(step.position);
  }
  void task_ends(const platform::streams::TaskStep& step, double) noexcept override { writer_.after(step.position); }
  void round_ends(bool) noexcept override {
    writer_.end();
    if (writer_.failure().empty()) ++dumps_;
    session_.platform().step_through(nullptr);
  }

  Session& session_;
  detail::DumpWriter<detail::DeviceReader> writer_;
  std::string folder_;
  std::vector<TaskId> tasks_;
  std::uint64_t dumps_ = 0;
};

}  // namespace rondo::observe
