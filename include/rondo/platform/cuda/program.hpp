// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/args/args_table.hpp>
#include <rondo/graph/records.hpp>
#include <rondo/platform/cuda/graph_maker.hpp>
#include <rondo/platform/cuda/modules.hpp>
#include <rondo/platform/streams/host_loops.hpp>
#include <rondo/platform/streams/library_calls.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo::platform::cuda {

/// A graph loaded on a device: one CUDA graph with a kernel node for each task and the graph's own edges, instantiated
/// and uploaded once, and never updated. The only parameter of a node is the address of the task's arguments in the
/// args table in device memory, so all changes between rounds are made there. The work of a library call is captured as
/// a child of that graph; if it cannot be captured, tasks are launched one by one.
///
/// Memory that each round needs zeroed is zeroed on the stream before the graph runs. The loops of a graph are
/// conditional nodes. Where the driver has none, a graph with loops is one CUDA graph for each of its sections, and the
/// host decides between them; see streams::HostLoops.
///
/// Lifetime: immovable; device and args table outlive it; release() or the destructor waits and unloads. Thread safety:
/// the session's. Errors: the constructor throws. Cost on the hot path: one call, two with a fill, or one for each task
/// without a CUDA graph.
class Program {
 public:
  /// The number of threads in a block of a kernel that does not state it.
  static constexpr std::uint32_t default_threads = 256;

  /// Precondition: the device is the calling thread's. Calls `loaded(*this)` at the end.
  /// @throws Error invalid_argument (a kernel is in no module), limit_exceeded (threads, blocks or shared memory beyond
  /// the device's limits), unsupported (a module for another chip), and errors of the driver
  Program(Device& device, const Options& options, const graph::GraphView& view, args::ArgsTable& args,
          streams::LoopHost& host, DecideKernel& decide, const auto& loaded)
      : Program(device, options, view, host) {
    place_launches(args);
    const bool can_capture = library_calls_.empty() || driver().captures();
    const bool is_wanted = options.graph && !options.wait_after_each_task;
    bool makes_graphs = is_wanted && driver().has_graphs() && can_capture && !launches_.empty();
    if (is_unlike_other({.way = makes_graphs ? 1U : 0U})) makes_graphs = false;  // libraries may exchange in a capture
    if (!view.loops.empty()) {
      why_host_decides_ = makes_graphs ? make_graph_with_loops(args, decide) : "tasks are launched one by one";
    }
    if (host_decides()) loops_.cut(view_, args, launches_);
    if (makes_graphs && exec_ == nullptr && refusal_.empty()) make_graphs();
    compare_captures(args);
    loaded(*this);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { (void)release(); }

  /// Submits one round to a stream of the device. @returns the driver's code; after a failure, `call` names the call
  [[nodiscard]] Result launch(const char*& call, Stream stream) noexcept {
    if (fill_.bytes != 0) [[unlikely]] {
      if (const Result code = fill(call, stream); code != success) return code;
    }
    if (exec_ == nullptr) [[unlikely]]
      return loops_.empty() ? launch_each(launches_, call, stream, options_.wait_after_each_task)
                            : launch_sections(call, stream);
    call = "cuGraphLaunch";
    return driver().launch_graph(exec_, stream);
  }

  /// Does the same on the caller's stream. Does not wait, so it may be called only if the host decides about no loop.
  /// `is_captured`: the stream is being captured, so tasks are launched one by one, and the graph must have no loops.
  [[nodiscard]] Result enqueue(const char*& call, Stream stream, bool is_captured) noexcept {
    if (!is_captured) return launch(call, stream);
    if (const Result code = fill(call, stream); code != success) return code;
    return launch_each(launches_, call, stream, false);
  }

  /// Called when the arena has moved by that distance, modulo 2^64.
  void move_arena(std::uint64_t distance) noexcept {
    fill_.address += distance;
    loops_.move_arena(distance);
  }
  /// Whether a round is one launch of a CUDA graph, or one for each section that it runs.
  [[nodiscard]] bool is_graph() const noexcept { return exec_ != nullptr || (!sections_.empty() && refusal_.empty()); }
  /// The reason why tasks are launched one by one, though graphs are wanted; empty if there is none.
  [[nodiscard]] const Error::Text& refusal() const noexcept { return refusal_; }
  /// Whether the host decides about loops.
  [[nodiscard]] bool host_decides() const noexcept { return *why_host_decides_ != '\0'; }
  /// Why it does, as a clause; empty if it does not.
  [[nodiscard]] const char* why_host_decides() const noexcept { return why_host_decides_; }

  /// Names the task that was waited for, if tasks are waited for one by one; else lists the library calls in the text.
  [[nodiscard]] Status blame(Status status) const noexcept {
    const bool is_about_a_task = status.code() == Errc::device_failed || status.code() == Errc::timed_out ||
                                 status.code() == Errc::kernel_failed;
    if (!is_about_a_task) return status;
    if (under_way_ == none) {
      device_.begin_failure(library_calls_.list());
      return status;
    }
    const Status named = Status::of_task(status.code(), view_.tasks[under_way_].added_as);
    return status.poisoned() ? named.poisoning() : named;
  }

  /// Waits, and unloads the loaded modules. @returns the first failure
  Result release() noexcept {
    if (launches_.empty() && modules_.empty() && !is_graph()) return success;
    device_.give_up_if_stuck();
    Result first = device_.wait();
    keep_first(first, device_.enter_to_release());
    keep_first(first, destroy_graphs());
    keep_first(first, loops_.release());
    if (left_ != 0) {
      host_.on_device.value -= left_bytes();
      keep_first(first, released(driver().free(std::exchange(left_, 0))));
    }
    keep_first(first, modules_.release());
    launches_ = {};
    return first;
  }

 private:
  static constexpr std::uint32_t none = 0xFFFF'FFFF;

  struct Fill {
    Pointer address = 0;
    std::uint64_t bytes = 0;  ///< 0: there is none
  };
  Program(Device& device, const Options& options, const graph::GraphView& view, streams::LoopHost& host)
      : device_{device},
        options_{options},
        view_{view},
        host_{host},
        modules_{device, options.kernels},
        loops_{device, host} {}

  [[nodiscard]] const Calls& driver() const noexcept { return device_.driver(); }

  void place_launches(args::ArgsTable& args) {
    for (std::uint32_t t = 0; t < view_.tasks.size(); ++t) {
      const graph::TaskRecord& task = view_.tasks[t];
      const ArgWord* const block = args.block(t, 0);
      if (task.block_bytes == 0) {
        throw Error(Errc::unsupported, Error::Text{device_.platform(), ": kernel '", view_.name(task.name),
                                                   "' takes no argument, so it could do nothing; leave it out"});
      }
      if (task.fills) {
        ArgWord words[2] = {};
        __builtin_memcpy(words, args.bytes() + (block - args.words()) * std::ptrdiff_t{sizeof(ArgWord)}, sizeof(words));
        fill_ = {static_cast<Pointer>(words[0]), static_cast<std::uint64_t>(words[1])};
        continue;
      }
      if (streams::HostLoops<Device>::is_decision(view_, t)) continue;
      if (const std::uint32_t call = library_calls_.add(view_, t, args); call != streams::LibraryCalls::none) {
        launches_.push_back({.position = t, .library_call = call});
        continue;
      }
      const std::string_view name = view_.name(task.name);
      Launch launch{modules_.find(name), reinterpret_cast<std::uintptr_t>(block),
                    task.blocks,         task.threads == 0 ? default_threads : task.threads,
                    task.shared_bytes,   t};
      check_limits(launch, name, task.threads != 0);
      launches_.push_back(launch);
    }
  }

  /// Checks a launch against the device's limits. @throws Error limit_exceeded
  void check_limits(Launch& launch, std::string_view name, bool states_threads) const {
    const auto fail = [&](std::uint64_t count, const char* what, std::uint64_t most) {
      Error::Text text{device_.platform(),    ": kernel '", name, "' asks for ", count, what,
                       ", the most here is ", most,         " ("};
      device_.append_name(text);
      text.append(")");
      throw Error(Errc::limit_exceeded, text);
    };
    const auto of_function = [&](FunctionAttribute which) {
      int value = 0;
      device_.must("cuFuncGetAttribute", driver().function_attribute(&value, which, launch.function));
      return static_cast<std::uint32_t>(value);
    };
    const auto of_device = [&](DeviceAttribute which) { return static_cast<std::uint32_t>(device_.attribute(which)); };
    const std::uint32_t most_threads = std::min(of_function(function_max_threads), of_device(max_threads_per_block));
    if (!states_threads) launch.threads = std::min(launch.threads, most_threads);
    if (launch.threads > most_threads) fail(launch.threads, " threads per block", most_threads);
    if (launch.blocks > of_device(max_grid_x)) fail(launch.blocks, " blocks", of_device(max_grid_x));
    if (launch.shared_bytes == 0) return;
    const std::uint64_t shared = std::uint64_t{launch.shared_bytes} + of_function(function_shared_bytes);
    if (shared <= of_device(max_shared_per_block)) return;
    const std::uint32_t most_shared = std::max(of_device(max_shared_opt_in), of_device(max_shared_per_block));
    if (shared > most_shared) fail(shared, " bytes of shared memory", most_shared);
    std::uint32_t most = launch.shared_bytes;  // of all tasks that run this entry
    for (const Launch& l : launches_) most = l.function == launch.function ? std::max(most, l.shared_bytes) : most;
    device_.must("cuFuncSetAttribute",
                 driver().set_function_attribute(launch.function, function_max_dynamic_shared, static_cast<int>(most)));
  }

  [[nodiscard]] std::span<Launch> section(std::uint32_t number) noexcept {
    const auto [first, last] = loops_.sections()[number];
    return std::span(launches_).subspan(first, last - first);
  }

  /// Makes one graph in which the device decides about loops. @returns the reason why the host has to decide; empty if
  /// the graph was made
  [[nodiscard]] const char* make_graph_with_loops(args::ArgsTable& args, DecideKernel& decide) {
    decide.prepare();
    if (decide.function() == nullptr) return decide.why_not();
    device_.must("cuMemAlloc", driver().malloc(&left_, left_bytes()));
    host_.on_device.value += left_bytes();
    std::vector<GraphMaker::Decision> decisions(view_.loops.size());
    for (std::uint32_t l = 0; l < decisions.size(); ++l) {
      if (!view_.loops[l].has_work()) continue;
      const auto block = reinterpret_cast<std::uintptr_t>(args.block(view_.loops[l].decision, 0));
      decisions[l] = {block, left_ + l * sizeof(ArgWord)};
    }
    GraphMaker maker(device_, view_, launches_, library_calls_, decide.function(), decisions);
    const char* call = nullptr;
    const Result code = make_whole(maker, call);
    refusal_ = maker.refusal();
    if (!refusal_.empty()) return "a library call could not be captured";
    const Errc errc = errc_of(code);
    const bool is_refused = errc == Errc::unsupported || errc == Errc::invalid_argument;
    if (!is_refused) device_.must(call, code);
    if (is_refused && exec_ != nullptr) (void)driver().destroy_exec(std::exchange(exec_, nullptr));
    return is_refused ? "the driver refused conditional nodes" : "";
  }
  [[nodiscard]] std::uint64_t left_bytes() const noexcept { return view_.loops.size() * sizeof(ArgWord); }

  /// Makes one graph, or one for each section of a graph with loops.
  void make_graphs() {
    GraphMaker maker(device_, view_, launches_, library_calls_, nullptr, {});
    const char* call = nullptr;
    Result code = success;
    if (loops_.empty()) {
      code = make_whole(maker, call);
    } else {
      sections_.resize(loops_.sections().size(), nullptr);
      for (std::uint32_t s = 0; s < sections_.size() && code == success && maker.refusal().empty(); ++s) {
        const std::span<const Launch> tasks = section(s);
        const std::uint32_t first = tasks.front().position;
        code = maker.make(sections_[s], view_.tasks[first].loop, first, tasks.back().position + 1, call);
        if (code == success && maker.refusal().empty()) code = upload(sections_[s], call);
      }
    }
    refusal_ = maker.refusal();
    device_.must(call, code);
  }
  /// Notifies the library calls of how the graph is run. @returns whether a call wants nothing to be captured
  [[nodiscard]] bool is_unlike_other(CallCapture capture) {
    graph::tell_of_capture(view_, {device_.platform(), false, device_.number()}, capture);
    if (capture.is_unlike_other && refusal_.empty()) {
      refusal_ = Error::Text("a rank did not capture the graph as the others did");
    }
    return capture.is_unlike_other || (capture.is_shared && capture.way == 0);
  }
  /// Gives the CUDA graphs up if a library call requires that.
  void compare_captures(args::ArgsTable& args) {
    if (!is_unlike_other({.way = !is_graph() ? 0U : view_.loops.empty() || host_decides() ? 1U : 2U})) return;
    if (!view_.loops.empty() && !host_decides()) {
      why_host_decides_ = "another rank does not capture the graph";
      loops_.cut(view_, args, launches_);
    }
    device_.must(Api::synchronize, device_.wait());  // for the upload
    (void)destroy_graphs();
  }
  Result destroy_graphs() noexcept {
    Result first = success;
    const auto destroy = [&](GraphExec& exec) {
      if (exec != nullptr) keep_first(first, released(driver().destroy_exec(std::exchange(exec, nullptr))));
    };
    destroy(exec_);
    for (GraphExec& exec : sections_) destroy(exec);
    sections_ = {};
    return first;
  }
  [[nodiscard]] Result make_whole(GraphMaker& maker, const char*& call) {
    const auto count = static_cast<std::uint32_t>(view_.tasks.size());
    const Result code = maker.make(exec_, graph::TaskRecord::no_loop, 0, count, call);
    return code == success && exec_ != nullptr ? upload(exec_, call) : code;
  }
  [[nodiscard]] Result upload(GraphExec exec, const char*& call) noexcept {
    if (driver().upload_graph == nullptr) return success;
    call = "cuGraphUpload";
    device_.work_begins();
    return driver().upload_graph(exec, device_.stream());
  }

  [[nodiscard, gnu::noinline]] Result launch_sections(const char*& call, Stream stream) noexcept {
    const auto submit = [&](std::uint32_t s) {
      if (sections_.empty() || sections_[s] == nullptr)
        return launch_each(section(s), call, stream, options_.wait_after_each_task);
      call = "cuGraphLaunch";
      return driver().launch_graph(sections_[s], stream);
    };
    return loops_.run(call, stream, submit, [&] { return device_.calls().synchronize(stream, options_.timeout_ms); });
  }
  [[nodiscard]] Result fill(const char*& call, Stream stream) const noexcept {
    call = "cuMemsetD8Async";
    return fill_.bytes == 0 ? success : driver().set(fill_.address, 0, fill_.bytes, stream);
  }
  [[nodiscard, gnu::noinline]] Result launch_each(std::span<Launch> launches, const char*& call, Stream stream,
                                                  bool waits) noexcept {
    for (Launch& l : launches) {
      Result code = success;
      if (l.library_call != streams::LibraryCalls::none) {
        code = library_calls_.run(l.library_call, stream, call);
        if (code != success) under_way_ = l.position;
      } else {
        void* parameters[] = {&l.args};
        call = "cuLaunchKernel";
        code =
            driver().launch(l.function, l.blocks, 1, 1, l.threads, 1, 1, l.shared_bytes, stream, parameters, nullptr);
      }
      if (code != success) return code;
      if (!waits) continue;
      under_way_ = l.position;
      call = Api::synchronize;
      code = device_.calls().synchronize(stream, options_.timeout_ms);
      if (code != success) return code;
      under_way_ = none;
    }
    return success;
  }

  Device& device_;
  const Options& options_;
  graph::GraphView view_;
  streams::LoopHost& host_;
  Modules modules_;
  std::vector<Launch> launches_;
  streams::LibraryCalls library_calls_;
  Error::Text refusal_;
  streams::HostLoops<Device> loops_;  ///< empty if the device decides
  const char* why_host_decides_ = "";
  Pointer left_ = 0;  ///< device memory: for each loop the number of repetitions that are left
  GraphExec exec_ = nullptr;
  std::vector<GraphExec> sections_;  ///< of a graph with loops; null, or empty: tasks are launched one by one
  Fill fill_;
  std::uint32_t under_way_ = none;
};

}  // namespace rondo::platform::cuda
