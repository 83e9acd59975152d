// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/onboard/decide_kernel.hpp>
#include <rondo/platform/streams/host_loops.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rondo::platform::onboard {

/// Captures a graph with loops as one instance in which the device decides: the body of each loop is a captured graph
/// of its own, which a conditional task runs. A launch of Rondo's kernel before that task, and one at the end of each
/// repetition, write the word that the task reads.
///
/// Each depth of nesting is captured on a stream of its own, since the streams outside are being captured meanwhile.
/// These streams exist only during the capture.
class LoopCapture {
 public:
  using Loops = streams::HostLoops<Device>;

  LoopCapture(Device& device, const DecideKernel& kernel, const Loops& loops)
      : device_{device}, kernel_{kernel}, loops_{loops} {}
  LoopCapture(const LoopCapture&) = delete;
  LoopCapture& operator=(const LoopCapture&) = delete;

  /// `launch(section, stream)` makes the launches of a section and returns a code. @returns the first failure;
  /// `instance` is then null
  template <class Launch>
  [[nodiscard]] AclError run(RunInstance& instance, Launch launch) {
    open_.reserve(loops_.steps().size() + 1);  // nothing may be thrown while captures are open
    streams_.reserve(loops_.steps().size() + 1);
    streams_.push_back(device_.stream());
    AclError code = calls().capture_begin(device_.stream(), capture_thread_local);
    if (code == code_ok) {
      open_.push_back({.stream = device_.stream()});
      int status = 0;
      code = calls().capture_info(device_.stream(), &status, &open_.back().graph);
    }
    for (std::size_t s = 0; s < loops_.steps().size() && code == code_ok; ++s) {
      const Loops::Step& step = loops_.steps()[s];
      switch (step.kind) {
        case Loops::Step::Kind::section: code = launch(step.of, open_.back().stream); break;
        case Loops::Step::Kind::begin: code = begin(step, DecideKernel::Step::begin); break;
        case Loops::Step::Kind::skip: code = begin(step, DecideKernel::Step::when); break;
        case Loops::Step::Kind::repeat: code = decide(step, DecideKernel::Step::repeat, open_.back().word); break;
      }
      while (code == code_ok && open_.size() > 1 && open_.back().last == s) code = end();
    }
    while (open_.size() > 1) (void)end();
    if (!open_.empty()) {
      const AclError ended = calls().capture_end(device_.stream(), &instance);
      if (code == code_ok) code = ended;
    }
    if (code != code_ok && instance != nullptr) (void)calls().destroy_instance(std::exchange(instance, nullptr));
    for (std::size_t s = 1; s < streams_.size(); ++s) (void)calls().destroy_stream(streams_[s]);
    return code;
  }

 private:
  /// A capture that has not ended.
  struct Open {
    Stream stream = nullptr;
    RunInstance graph = nullptr;
    std::uint64_t word = 0;  ///< the address of the word that decides about this body
    std::size_t last = 0;    ///< the number of the body's last step
  };

  [[nodiscard]] const Calls& calls() const noexcept { return device_.calls(); }

  [[nodiscard]] AclError decide(const Loops::Step& step, DecideKernel::Step what, std::uint64_t word) const noexcept {
    return kernel_.launch(loops_.block_of(step.of), word, what, open_.back().stream);
  }
  /// Captures the first decision of a loop and its conditional task, and begins to capture the body.
  [[nodiscard]] AclError begin(const Loops::Step& step, DecideKernel::Step what) {
    const Open& outer = open_.back();
    ConditionalTask task{.kind = what == DecideKernel::Step::when ? ConditionalTask::when : ConditionalTask::loop};
    AclError code = calls().create_condition(outer.graph, 0, 0, &task.condition);
    std::uint64_t* word = nullptr;
    if (code == code_ok) code = calls().word_of_condition(task.condition, &word);
    const auto address = std::uint64_t{reinterpret_cast<std::uintptr_t>(word)};
    if (code == code_ok) code = decide(step, what, address);
    RunInstance body = nullptr;
    task.body = &body;
    if (code == code_ok) code = calls().add_conditional(task, outer.stream, 0);
    Stream stream = nullptr;
    if (code == code_ok) code = stream_of_depth(open_.size(), stream);
    if (code == code_ok) code = calls().capture_body_begin(stream, body, capture_thread_local);
    if (code == code_ok) open_.push_back({stream, body, address, step.target});
    return code;
  }
  [[nodiscard]] AclError end() noexcept {
    RunInstance body = nullptr;
    const AclError code = calls().capture_end(open_.back().stream, &body);
    open_.pop_back();
    return code;
  }
  [[nodiscard]] AclError stream_of_depth(std::size_t depth, Stream& stream) {
    AclError code = code_ok;
    if (depth == streams_.size()) {
      code = calls().create_stream(&stream, 0, stream_flag_fast_launch | stream_flag_fast_sync);
      if (code == code_ok) streams_.push_back(stream);
    }
    if (code == code_ok) stream = streams_[depth];
    return code;
  }

  Device& device_;
  const DecideKernel& kernel_;
  const Loops& loops_;
  std::vector<Open> open_;
  std::vector<Stream> streams_;  ///< by depth
};

}  // namespace rondo::platform::onboard
